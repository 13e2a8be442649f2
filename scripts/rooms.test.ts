// The table of ARCHITECTURE.md says what scripts/rooms.mjs enforces.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { rooms } from './rooms.mjs';

/** `core` and `web` may import single files of other rooms; the table names them in words. */
const inWords: Readonly<Record<string, string>> = {
  core: 'base, names of api',
  web: 'wire of view, types of core, ports, view',
};

function permission({ room, imports, typesOf = [] }: (typeof rooms)[number]): string {
  const words = inWords[room];
  if (words !== undefined) return words;
  const others = rooms.map((each) => each.room).filter((each) => each !== room && each !== 'web');
  if (others.every((each) => imports.includes(each))) return 'all';
  if (others.every((each) => imports.includes(each) || each === 'cli')) return 'all but cli';
  return [...imports, ...(typesOf.length > 0 ? [`types of ${typesOf.join(' and ')}`] : [])].join(', ') || 'nothing';
}

test('the table of rooms in ARCHITECTURE.md is the list that the import rules are made from', () => {
  const text = readFileSync(new URL('../ARCHITECTURE.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `([a-z-]+)`\s*\|[^|]*\|\s*([^|]*?)\s*\|$/gm)].map(([, room, may]) => [room, may]);
  expect(rows).toEqual(rooms.map((each) => [each.room, permission(each)]));
});
