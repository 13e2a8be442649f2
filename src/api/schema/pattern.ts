// Patterns in schemas and rules are written for RE2, the API server's dialect. Here they are compiled to JavaScript
// expressions that match the same text: `\s` and `.` mean less there, and some spellings differ.

const named: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

const blanks = '\\t\\n\\f\\r ';

/** Outside a class; inside one, `\s` only adds its members. */
const escapes: Readonly<Record<string, string>> = {
  '\\s': `[${blanks}]`,
  '\\S': `[^${blanks}]`,
  '\\A': '^',
  '\\z': '$',
};

const token = /\\(?:[pP]\{\^?\w+\}|x\{[0-9A-Fa-f]+\}|[^])|\[:(\^?)(\w+):\]|\(\?P<|[^]/gu;

function translate(source: string): string {
  let inClass = false;
  return source.replace(token, (part, negated: string | undefined, name: string | undefined) => {
    if (part.startsWith('\\x{')) return `\\u{${part.slice(3)}`;
    if (inClass) {
      if (name !== undefined) return negated === '' ? (named[name] ?? part) : part;
      if (part === ']') inClass = false;
      return part === '\\s' ? blanks : part;
    }
    if (part === '[') inClass = true;
    if (part === '.') return '[^\\n]';
    if (part === '(?P<') return '(?<';
    return escapes[part] ?? part;
  });
}

const cache = new Map<string, RegExp | undefined>();

/** Compiled once per text; undefined if JavaScript cannot read it, and then nothing can be said about a match. */
export function compilePattern(pattern: string): RegExp | undefined {
  if (cache.has(pattern)) return cache.get(pattern);
  const leading = /^\(\?([ims]+)\)/.exec(pattern);
  const source = translate(leading === null ? pattern : pattern.slice(leading[0].length));
  const flags = leading?.[1] ?? '';
  let compiled: RegExp | undefined;
  for (const mode of ['u', '']) {
    try {
      compiled ??= new RegExp(source, flags + mode);
    } catch {
      // Unicode mode refuses needless escapes (`\-`), which RE2 allows: the plain mode takes them.
    }
  }
  // Schemas come and go with CRDs; the bound keeps forgotten ones from piling up.
  if (cache.size >= 10_000) cache.clear();
  cache.set(pattern, compiled);
  return compiled;
}
