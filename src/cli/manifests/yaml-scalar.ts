// Scalars of the quick YAML reader: what stands after a `key:` or a `- ` on one line. Everything resolves as in YAML 1.2
// (core schema); whatever is not plainly one line is refused, and the full parser takes over.

/** The quick reader cannot be sure about this text. */
export const unsure: unique symbol = Symbol('unsure');
export type Unsure = typeof unsure;

const numberLike = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const words: Readonly<Record<string, unknown>> = {
  '': null,
  '~': null,
  null: null,
  Null: null,
  NULL: null,
  true: true,
  True: true,
  TRUE: true,
  false: false,
  False: false,
  FALSE: false,
};

/** One scalar or one-line flow collection, with an optional comment after it. */
export function inlineValue(text: string): unknown | Unsure {
  const first = text.charCodeAt(0);
  if (first === 0x22 || first === 0x27) {
    const end = quotedEnd(text, 0);
    return end > 0 && isBlankOrComment(text, end) ? quotedValue(text, 0, end) : unsure;
  }
  if (first === 0x5b || first === 0x7b) {
    const flow = flowValue(text, 0);
    return flow !== unsure && isBlankOrComment(text, flow.end) ? flow.value : unsure;
  }
  const comment = text.indexOf(' #');
  const plain = (comment < 0 ? text : text.slice(0, comment)).trimEnd();
  if (plain.includes(': ') || plain.endsWith(':')) return unsure;
  return plainValue(plain);
}

/** A plain scalar that is not allowed to hold indicators at its start. */
function plainValue(text: string): unknown | Unsure {
  if (Object.hasOwn(words, text)) return words[text];
  const first = text.charAt(0);
  if ('&*!|>%@`"\'#,[]{}?:'.includes(first)) return unsure;
  if (first === '-' && (text.length === 1 || text.charAt(1) === ' ')) return unsure;
  if (!/[-+.0-9]/.test(first)) return text;
  // Integers that a double cannot hold are for the full parser; decimals are doubles there too.
  if (numberLike.test(text)) return text.length < 16 || /^-?\d+\.\d+$/.test(text) ? Number(text) : unsure;
  // Hexadecimal, octal, infinities and the rest are rare enough for the full parser.
  return /^[-+]?(0[xo]|\.)/.test(text) ? unsure : text;
}

/** Offset after the closing quote, or -1 when it is not on this line. */
export function quotedEnd(text: string, start: number): number {
  const quote = text.charAt(start);
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quote === '"' && character === '\\') at += 1;
    else if (character === quote) {
      if (quote === "'" && text.charAt(at + 1) === "'") at += 1;
      else return at + 1;
    }
  }
  return -1;
}

export function quotedValue(text: string, start: number, end: number): string | Unsure {
  if (text.charAt(start) === "'") return text.slice(start + 1, end - 1).replaceAll("''", "'");
  const inner = text.slice(start + 1, end - 1);
  if (!inner.includes('\\')) return inner;
  try {
    // Escapes that JSON shares with YAML; the others are refused by JSON and go to the full parser.
    return JSON.parse(text.slice(start, end)) as string;
  } catch {
    return unsure;
  }
}

function flowValue(text: string, start: number): { value: unknown; end: number } | Unsure {
  return text.charAt(start) === '[' ? flowList(text, start) : flowMap(text, start);
}

function flowList(text: string, start: number): { value: unknown[]; end: number } | Unsure {
  const value: unknown[] = [];
  let at = skipBlanks(text, start + 1);
  while (text.charAt(at) !== ']') {
    const item = flowItem(text, at, ',]');
    if (item === unsure) return unsure;
    value.push(item.value);
    at = skipBlanks(text, item.end);
    if (text.charAt(at) === ',') at = skipBlanks(text, at + 1);
    else if (text.charAt(at) !== ']') return unsure;
  }
  return { value, end: at + 1 };
}

function flowMap(text: string, start: number): { value: Record<string, unknown>; end: number } | Unsure {
  const value: Record<string, unknown> = {};
  let at = skipBlanks(text, start + 1);
  while (text.charAt(at) !== '}') {
    const key = flowItem(text, at, ':,}');
    if (key === unsure || typeof key.value !== 'string' || key.value === '__proto__') return unsure;
    if (Object.hasOwn(value, key.value)) return unsure;
    at = skipBlanks(text, key.end);
    if (text.charAt(at) !== ':' || text.charAt(at + 1) !== ' ') return unsure;
    const item = flowItem(text, skipBlanks(text, at + 1), ',}');
    if (item === unsure) return unsure;
    value[key.value] = item.value;
    at = skipBlanks(text, item.end);
    if (text.charAt(at) === ',') at = skipBlanks(text, at + 1);
    else if (text.charAt(at) !== '}') return unsure;
  }
  return { value, end: at + 1 };
}

function flowItem(text: string, start: number, stops: string): { value: unknown; end: number } | Unsure {
  const first = text.charAt(start);
  if (first === '[' || first === '{') return flowValue(text, start);
  if (first === '"' || first === "'") {
    const end = quotedEnd(text, start);
    if (end < 0) return unsure;
    const value = quotedValue(text, start, end);
    return value === unsure ? unsure : { value, end };
  }
  let end = start;
  while (end < text.length && !stops.includes(text.charAt(end))) end += 1;
  const plain = text.slice(start, end).trimEnd();
  // A colon inside a plain item (`a:b`, a URL) or an empty item means something this reader does not do.
  if (end >= text.length || plain === '' || /[:#[\]{}]/.test(plain)) return unsure;
  const value = plainValue(plain);
  return value === unsure ? unsure : { value, end };
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text.charAt(at) === ' ') at += 1;
  return at;
}

export function isBlankOrComment(text: string, from: number): boolean {
  const at = skipBlanks(text, from);
  return at >= text.length || (text.charAt(at) === '#' && at > from);
}
