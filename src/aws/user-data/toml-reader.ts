// Reads TOML 1.0. Strings become strings; numbers, booleans and times keep the very text they were written with, so that
// what is passed through comes out unchanged whatever its precision.
//
// Errors tell the line and what was expected, never the text: user data may hold secrets.
import { KerfError } from '../../base/index.ts';

/** A number, boolean or time in its own words. */
export class TomlLiteral {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type TomlValue = string | number | boolean | TomlLiteral | TomlValue[] | TomlTable;
export type TomlTable = { [key: string]: TomlValue };

const bareKey = /[A-Za-z0-9_-]+/y;
const blanks = /[ \t]*/y;
/** Blanks, comments and line ends, as between the elements of an array. */
const gap = /(?:[ \t]|\r?\n|#[\t\P{Cc}\u0080-\u009F]*)*/uy;
const lineEnd = /[ \t]*(?:#[\t\P{Cc}\u0080-\u009F]*)?(?:\r?\n|$)/uy;
/** What neither a comment nor a string may hold as it stands; a long string may have line ends. */
const control = /[^\t\P{Cc}\u0080-\u009F]/u;
const literal =
  /(?:true|false|[+-]?(?:inf|nan)|\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})?)?|\d{2}:\d{2}:\d{2}(?:\.\d+)?|0x[\da-fA-F](?:_?[\da-fA-F])*|0o[0-7](?:_?[0-7])*|0b[01](?:_?[01])*|[+-]?(?:0|[1-9](?:_?\d)*)(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d(?:_?\d)*)?)(?=[ \t\r\n,\]}#]|$)/y;

const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  '"': '"',
  '\\': '\\',
};

export function readToml(text: string): TomlTable {
  return new Reader(text).document();
}

/** Tables by how they came to be: what a header or an inline table defined may not be defined again. */
type Origin = 'header' | 'implied' | 'dotted' | 'inline';

/** Deeper than any settings: text that nests without end is refused with its line, not by an overflow. */
const mostDepth = 100;

class Reader {
  private readonly text: string;
  private at = 0;
  private depth = 0;
  private readonly origins = new WeakMap<object, Origin>();

  constructor(text: string) {
    this.text = text;
  }

  document(): TomlTable {
    const root: TomlTable = Object.create(null) as TomlTable;
    let table = root;
    for (this.skip(gap); this.at < this.text.length; this.skip(gap)) {
      if (this.text.startsWith('[[', this.at)) table = this.arrayHeader(root);
      else if (this.text[this.at] === '[') table = this.header(root);
      else this.entry(table, 'dotted');
      if (this.match(lineEnd) === undefined) throw this.expected('the end of the line');
    }
    return root;
  }

  private header(root: TomlTable): TomlTable {
    this.take('[');
    const path = this.path();
    this.take(']');
    const parent = this.descend(root, path.slice(0, -1), 'implied');
    const name = path.at(-1) ?? '';
    const there = parent[name];
    if (there === undefined) return this.newTable(parent, name, 'header');
    if (!isTable(there) || this.origins.get(there) !== 'implied')
      throw this.expected('a table that is not defined yet');
    this.origins.set(there, 'header');
    return there;
  }

  private arrayHeader(root: TomlTable): TomlTable {
    this.take('[[');
    const path = this.path();
    this.take(']]');
    const parent = this.descend(root, path.slice(0, -1), 'implied');
    const name = path.at(-1) ?? '';
    const list = (parent[name] ??= []);
    if (!Array.isArray(list) || this.origins.get(list) === 'inline') throw this.expected('an array of tables');
    const table: TomlTable = Object.create(null) as TomlTable;
    this.origins.set(table, 'header');
    list.push(table);
    return table;
  }

  private entry(table: TomlTable, origin: 'dotted' | 'inline'): void {
    const path = this.path();
    this.take('=');
    const parent = this.descend(table, path.slice(0, -1), origin);
    const name = path.at(-1) ?? '';
    if (parent[name] !== undefined) throw this.expected('a key that is not set yet');
    parent[name] = this.value();
  }

  private descend(from: TomlTable, path: readonly string[], origin: Origin): TomlTable {
    let table = from;
    for (const name of path) {
      const there = table[name];
      const next = Array.isArray(there) && this.origins.get(there) !== 'inline' ? there.at(-1) : there;
      if (next === undefined) table = this.newTable(table, name, origin);
      else if (!isTable(next)) throw this.expected('a table');
      else if (this.origins.get(next) === 'inline' || (origin === 'dotted' && this.origins.get(next) !== 'dotted'))
        throw this.expected('a table that is not defined elsewhere');
      else table = next;
    }
    return table;
  }

  private newTable(parent: TomlTable, name: string, origin: Origin): TomlTable {
    const table: TomlTable = Object.create(null) as TomlTable;
    this.origins.set(table, origin);
    parent[name] = table;
    return table;
  }

  private path(): string[] {
    const path: string[] = [];
    do {
      this.skip(blanks);
      const quote = this.text[this.at];
      const key = quote === '"' || quote === "'" ? this.shortString(quote) : this.match(bareKey);
      if (key === undefined) throw this.expected('a key');
      path.push(key);
      this.skip(blanks);
    } while (this.accept('.'));
    return path;
  }

  private value(): TomlValue {
    this.skip(blanks);
    for (const quotes of ['"""', "'''"]) if (this.text.startsWith(quotes, this.at)) return this.longString(quotes);
    const first = this.text[this.at];
    if (first === '"' || first === "'") return this.shortString(first);
    if (first === '[') return this.nested(() => this.array());
    if (first === '{') return this.nested(() => this.inlineTable());
    const text = this.match(literal);
    if (text === undefined) throw this.expected('a value');
    const problem = literalProblem(text);
    if (problem !== undefined) throw this.expected(problem);
    return new TomlLiteral(text);
  }

  private nested<T>(read: () => T): T {
    this.depth += 1;
    if (this.depth > mostDepth) throw this.expected(`a value that is nested at most ${mostDepth} levels deep`);
    const found = read();
    this.depth -= 1;
    return found;
  }

  private array(): TomlValue[] {
    const list: TomlValue[] = [];
    this.origins.set(list, 'inline');
    this.take('[');
    for (this.skip(gap); !this.accept(']'); this.skip(gap)) {
      list.push(this.value());
      this.skip(gap);
      if (!this.accept(',') && this.text[this.at] !== ']') throw this.expected('a comma or the end of the array');
    }
    return list;
  }

  private inlineTable(): TomlTable {
    const table: TomlTable = Object.create(null) as TomlTable;
    this.take('{');
    for (this.skip(blanks); !this.accept('}'); this.skip(blanks)) {
      this.entry(table, 'dotted');
      this.skip(blanks);
      if (!this.accept(',') && this.text[this.at] !== '}') throw this.expected('a comma or the end of the table');
    }
    this.origins.set(table, 'inline');
    return table;
  }

  private shortString(quote: string): string {
    this.take(quote);
    const end = this.endOf(quote);
    const raw = this.text.slice(this.at, end);
    if (raw.includes('\n')) throw this.expected(`a closing ${quote} on the same line`);
    if (control.test(raw)) throw this.expected('an escape in place of a control character');
    this.at = end + 1;
    return quote === '"' ? this.unescape(raw) : raw;
  }

  private longString(quotes: string): string {
    this.take(quotes);
    if (this.text.startsWith('\r\n', this.at)) this.at += 2;
    else this.accept('\n');
    let end = this.endOf(quotes);
    // Up to two quotes may stand right before the closing three.
    while (this.text[end + 3] === quotes[0] && end + 3 - this.at < this.text.length) end += 1;
    const raw = this.text.slice(this.at, end);
    if (control.test(raw.replaceAll(/\r?\n/g, ''))) throw this.expected('an escape in place of a control character');
    this.at = end + 3;
    return quotes === '"""' ? this.unescape(raw.replaceAll(/(?<!\\)((?:\\\\)*)\\[ \t]*\r?\n\s*/g, '$1')) : raw;
  }

  /** Where the closing quotes start; in basic strings a backslash hides what follows it. */
  private endOf(quotes: string): number {
    for (let at = this.at; at < this.text.length; at += 1) {
      if (quotes[0] === '"' && this.text[at] === '\\') at += 1;
      else if (this.text.startsWith(quotes, at)) return at;
    }
    throw this.expected(`a closing ${quotes}`);
  }

  private unescape(raw: string): string {
    return raw.replaceAll(
      /\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|([\s\S]))/g,
      (_, short?: string, long?: string, letter?: string) => {
        const code = short ?? long;
        if (code !== undefined) return this.character(Number.parseInt(code, 16));
        const character = escapes[letter ?? ''];
        if (character === undefined) throw this.expected('an escape that TOML has');
        return character;
      },
    );
  }

  /** Halves of a surrogate pair are not characters, in an escape as little as beyond Unicode. */
  private character(code: number): string {
    const isCharacter = code <= 0x10_ff_ff && (code < 0xd8_00 || code > 0xdf_ff);
    if (!isCharacter) throw this.expected('an escape that stands for a character');
    return String.fromCodePoint(code);
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  private skip(pattern: RegExp): void {
    this.match(pattern);
  }

  private accept(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  private take(text: string): void {
    this.skip(blanks);
    if (!this.accept(text)) throw this.expected(text);
  }

  private expected(what: string): KerfError {
    const line = this.text.slice(0, this.at).split('\n').length;
    return new KerfError('UserDataUnreadable', `cannot read spec.userData as TOML: line ${line}: expected ${what}`, {
      retryable: true,
    });
  }
}

const int64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };
const wholeNumber = /^([+-]?)(0x[\da-fA-F_]+|0o[0-7_]+|0b[01_]+|[\d_]+)$/;
const date = /^(\d{4})-(\d{2})-(\d{2})/;
const clockTime = /(?:^|[Tt ])(\d{2}):(\d{2}):(\d{2})/;

/** What is wrong with the value of a number or time; its form is right. */
function literalProblem(text: string): string | undefined {
  const whole = wholeNumber.exec(text);
  if (whole !== null) {
    const size = BigInt((whole[2] ?? '0').replaceAll('_', ''));
    const value = whole[1] === '-' ? -size : size;
    return value < int64.least || value > int64.most ? 'a number of at most 64 bits' : undefined;
  }
  const [, year, month, day] = (date.exec(text) ?? []).map(Number);
  if (year !== undefined && month !== undefined && day !== undefined) {
    const last = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
    if (month < 1 || month > 12 || day < 1 || day > last) return 'a day that exists';
  }
  const [, hour, minute, second] = (clockTime.exec(text) ?? []).map(Number);
  const isTime = hour === undefined || (hour < 24 && (minute ?? 0) < 60 && (second ?? 0) <= 60);
  return isTime ? undefined : 'a time that exists';
}

export const isTable = (value: TomlValue | undefined): value is TomlTable =>
  typeof value === 'object' && !Array.isArray(value) && !(value instanceof TomlLiteral);
