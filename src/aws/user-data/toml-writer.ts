// Writes TOML: plain values of a table first, then its tables, keys in order. Strings stand in single quotes wherever
// they can.
import { isTable, TomlLiteral, type TomlTable, type TomlValue } from './toml-reader.ts';

export function writeToml(root: TomlTable): string {
  return [...plainLines(root), ...nestedLines([], root)].join('\n').trimStart().concat('\n');
}

function plainLines(table: TomlTable): string[] {
  return namesOf(table)
    .filter((name) => !isSection(table[name]))
    .map((name) => `${keyText(name)} = ${valueText(table[name] as TomlValue)}`);
}

function nestedLines(path: readonly string[], table: TomlTable): string[] {
  return namesOf(table)
    .filter((name) => isSection(table[name]))
    .flatMap((name) => sectionLines([...path, name], table[name] as TomlTable | TomlTable[]));
}

function sectionLines(path: readonly string[], value: TomlTable | TomlTable[]): string[] {
  const name = path.map(keyText).join('.');
  if (Array.isArray(value)) {
    return value.flatMap((table) => ['', `[[${name}]]`, ...plainLines(table), ...nestedLines(path, table)]);
  }
  const [plain, nested] = [plainLines(value), nestedLines(path, value)];
  // A table that only holds tables needs no line of its own.
  return plain.length === 0 && nested.length > 0 ? nested : ['', `[${name}]`, ...plain, ...nested];
}

const namesOf = (table: TomlTable): string[] => Object.keys(table).sort();

/** A table, or a list of nothing but tables. */
const isSection = (value: TomlValue | undefined): boolean =>
  isTable(value) || (Array.isArray(value) && value.length > 0 && value.every(isTable));

const keyText = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : stringText(key));

function valueText(value: TomlValue): string {
  if (typeof value === 'string') return stringText(value);
  if (value instanceof TomlLiteral) return value.text;
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (typeof value === 'object') {
    const entries = namesOf(value);
    return `{ ${entries.map((key) => `${keyText(key)} = ${valueText(value[key] as TomlValue)}`).join(', ')} }`;
  }
  return String(value);
}

const plainText = /^[^'\u0000-\u0008\u000a-\u001f\u007f]*$/;

/** JSON's escapes are TOML's too, but for DEL, which JSON leaves alone. */
const stringText = (text: string): string =>
  plainText.test(text) ? `'${text}'` : JSON.stringify(text).replaceAll('\u007f', '\\u007f');
