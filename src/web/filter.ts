// The filter of the map: words that must all fit. `pool=gpu`, `verdict=keep`, `code=Pod*`, `$>1`, or any part of a name.
import type { NodeRow } from '../view/wire.ts';
import { wordingFor } from './words.ts';

type Test = (row: NodeRow) => boolean;

const named: Readonly<Record<string, (row: NodeRow) => string>> = {
  pool: (row) => row.pool,
  type: (row) => row.type,
  zone: (row) => row.zone,
  capacity: (row) => row.capacityType,
  state: (row) => row.state,
  verdict: (row) => row.verdict,
  code: (row) => row.code,
  class: (row) => wordingFor(row).class,
  word: (row) => wordingFor(row).word.replaceAll(' ', '-'),
  node: (row) => row.name,
};

const matches = (pattern: string, text: string): boolean =>
  new RegExp(`^${pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 'i').test(text);

export function filterOf(text: string): Test {
  const tests = text
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '')
    .map(testOf);
  return (row) => tests.every((test) => test(row));
}

function testOf(word: string): Test {
  const price = /^\$([<>])(\d+(?:\.\d+)?)$/.exec(word);
  if (price !== null) {
    const amount = Number(price[2]);
    return (row) => (price[1] === '>' ? row.pricePerHour > amount : row.pricePerHour < amount);
  }
  const [name = '', value] = word.split('=', 2);
  const read = named[name];
  if (value !== undefined && read !== undefined) return (row) => matches(value, read(row));
  const part = word.toLowerCase();
  return (row) => [row.name, row.pool, row.type, row.zone, row.code].some((each) => each.toLowerCase().includes(part));
}
