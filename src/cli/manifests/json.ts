// JSON with places. `JSON.parse` tells neither where a field stands nor that a key occurs twice, so manifests in JSON
// are read by this reader: strict JSON, line and column of every field on request, duplicate keys reported.
import type { PlaceRecorder } from './quick-yaml.ts';

export interface JsonProblem {
  offset: number;
  message: string;
}

export interface JsonResult {
  /** Undefined when the text is not JSON. */
  value: unknown;
  problems: JsonProblem[];
  /** Offset after the value, where another document may follow. */
  end: number;
}

/** Deep enough for any manifest, shallow enough for any stack. */
const maxDepth = 200;

class JsonError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Reads one JSON value that starts at or after `from`. */
export function readJson(text: string, from = 0, record?: PlaceRecorder): JsonResult {
  const reader = new JsonReader(text, from, record);
  try {
    const value = reader.value(0);
    return { value, problems: reader.problems, end: reader.skipBlanks() };
  } catch (thrown) {
    if (!(thrown instanceof JsonError)) throw thrown;
    const problem = { offset: thrown.offset, message: thrown.message };
    return { value: undefined, problems: [...reader.problems, problem], end: text.length };
  }
}

class JsonReader {
  readonly problems: JsonProblem[] = [];
  private readonly text: string;
  private readonly record: PlaceRecorder | undefined;
  private at: number;

  constructor(text: string, from: number, record: PlaceRecorder | undefined) {
    this.text = text;
    this.at = from;
    this.record = record;
  }

  skipBlanks(): number {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return this.at;
      this.at += 1;
    }
  }

  value(depth: number): unknown {
    if (depth > maxDepth) throw new JsonError(`nested more than ${maxDepth} levels deep`, this.at);
    this.skipBlanks();
    const character = this.text.charAt(this.at);
    if (character === '{') return this.object(depth);
    if (character === '[') return this.array(depth);
    if (character === '"') return this.string();
    return this.literal();
  }

  private object(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.at += 1;
    if (this.closes('}')) return object;
    for (;;) {
      this.skipBlanks();
      const offset = this.at;
      if (this.text.charAt(offset) !== '"') throw this.expected('a key in double quotes');
      const key = this.string();
      if (Object.hasOwn(object, key)) this.problems.push({ offset, message: `key "${key}" is written twice` });
      this.record?.(object, key, offset);
      this.expect(':', `":" after the key "${key}"`);
      const value = this.value(depth + 1);
      // Assigning to __proto__ would change the object instead of adding a field.
      Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      if (this.closes('}')) return object;
      this.expect(',', '"," or "}"');
    }
  }

  private array(depth: number): unknown[] {
    const array: unknown[] = [];
    this.at += 1;
    if (this.closes(']')) return array;
    for (;;) {
      this.record?.(array, array.length, this.skipBlanks());
      array.push(this.value(depth + 1));
      if (this.closes(']')) return array;
      this.expect(',', '"," or "]"');
    }
  }

  private string(): string {
    const start = this.at;
    let end = start + 1;
    for (;;) {
      const code = this.text.charCodeAt(end);
      if (code === 0x22) break;
      if (Number.isNaN(code) || code === 0x0a) throw new JsonError('this text has no closing quote', start);
      end += code === 0x5c ? 2 : 1;
    }
    this.at = end + 1;
    const inner = this.text.slice(start + 1, end);
    if (!inner.includes('\\') && !/[\u0000-\u001f]/.test(inner)) return inner;
    try {
      return JSON.parse(this.text.slice(start, end + 1)) as string;
    } catch {
      throw new JsonError('this text holds an escape or control character that JSON does not allow', start);
    }
  }

  private literal(): unknown {
    const match = /[^\s,:[\]{}"]*/y;
    match.lastIndex = this.at;
    const word = match.exec(this.text)?.[0] ?? '';
    if (word === '') throw this.expected('a value');
    if (
      word === 'true' ||
      word === 'false' ||
      word === 'null' ||
      /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(word)
    ) {
      this.at += word.length;
      return JSON.parse(word);
    }
    throw new JsonError(`\`${word.slice(0, 40)}\` is not JSON; texts stand in double quotes`, this.at);
  }

  private closes(bracket: string): boolean {
    if (this.text.charAt(this.skipBlanks()) !== bracket) return false;
    this.at += 1;
    return true;
  }

  private expect(character: string, what: string): void {
    if (this.text.charAt(this.skipBlanks()) !== character) throw this.expected(what);
    this.at += 1;
  }

  private expected(what: string): JsonError {
    const found = this.at >= this.text.length ? 'the text ends' : `found \`${this.text.charAt(this.at)}\``;
    return new JsonError(`expected ${what}, but ${found}`, this.at);
  }
}
