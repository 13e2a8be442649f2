// Patterns in the RE2 dialect, matched in time linear in the text: the text comes from others, and an expression that
// backtracks could hold the process up for minutes. All ways through the pattern are followed at once, one character
// at a time. Look-around, back-references and word boundaries do not exist here, as in RE2 the first two do not.

type Test = (code: number) => boolean;

type Part =
  | { readonly kind: 'character'; readonly test: Test }
  | { readonly kind: 'start' | 'end' }
  | { readonly kind: 'sequence' | 'either'; readonly parts: readonly Part[] }
  | { readonly kind: 'repeat'; readonly part: Part; readonly least: number; readonly most: number };

type Step =
  | { readonly op: 'character'; readonly test: Test }
  | { readonly op: 'start' | 'end' | 'match' }
  | { readonly op: 'go'; to: number[] };

const mostCharacters = 1_000;
const mostRepeats = 1_000;
const mostSteps = 10_000;

class Unreadable extends Error {}

/** A test whether the pattern occurs in a text; undefined if the pattern cannot be read. */
export function linearPattern(pattern: string): ((text: string) => boolean) | undefined {
  try {
    if (pattern.length > mostCharacters) throw new Unreadable('too long');
    const steps: Step[] = [];
    emit(new Reader(pattern).read(), steps);
    steps.push({ op: 'match' });
    return (text) => occurs(steps, text);
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

const digits: Test = (code) => code >= 48 && code <= 57;
const words: Test = (code) => digits(code) || code === 95 || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
const blanks: Test = (code) => code === 32 || (code >= 9 && code <= 13 && code !== 11);
const not =
  (test: Test): Test =>
  (code) =>
    !test(code);

const classes: Readonly<Record<string, Test>> = {
  d: digits,
  D: not(digits),
  w: words,
  W: not(words),
  s: blanks,
  S: not(blanks),
};
const controls: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11 };

class Reader {
  private readonly characters: readonly string[];
  private readonly ignoresCase: boolean;
  private at = 0;

  constructor(pattern: string) {
    this.ignoresCase = pattern.startsWith('(?i)');
    this.characters = Array.from(this.ignoresCase ? pattern.slice(4) : pattern);
  }

  read(): Part {
    const part = this.either();
    if (this.at < this.characters.length) throw new Unreadable('unexpected )');
    return part;
  }

  private either(): Part {
    const parts = [this.sequence()];
    while (this.take('|')) parts.push(this.sequence());
    return parts.length === 1 ? (parts[0] as Part) : { kind: 'either', parts };
  }

  private sequence(): Part {
    const parts: Part[] = [];
    for (let next = this.peek(); next !== undefined && next !== '|' && next !== ')'; next = this.peek()) {
      parts.push(this.repeated(this.atom()));
    }
    return { kind: 'sequence', parts };
  }

  private atom(): Part {
    const next = this.next();
    if (next === '(') {
      if (this.take('?') && !this.take(':')) this.skipName();
      const part = this.either();
      if (!this.take(')')) throw new Unreadable('missing )');
      return part;
    }
    if (next === '^') return { kind: 'start' };
    if (next === '$') return { kind: 'end' };
    if (next === '.') return { kind: 'character', test: (code) => code !== 10 };
    if (next === '[') return { kind: 'character', test: this.inClass() };
    if (next === '\\') return { kind: 'character', test: this.escape() };
    if ('*+?'.includes(next)) throw new Unreadable('nothing to repeat');
    return { kind: 'character', test: this.only(next) };
  }

  private skipName(): void {
    this.take('P');
    if (!this.take('<')) throw new Unreadable('unknown group');
    while (!this.take('>')) if (!words(this.next().codePointAt(0) ?? 0)) throw new Unreadable('unknown group');
  }

  private repeated(part: Part): Part {
    let result = part;
    for (;;) {
      const bounds = this.bounds();
      if (bounds === undefined) return result;
      // Lazy or greedy, the same texts match.
      this.take('?');
      result = { kind: 'repeat', part: result, ...bounds };
    }
  }

  private bounds(): { least: number; most: number } | undefined {
    if (this.take('*')) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.take('+')) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.take('?')) return { least: 0, most: 1 };
    const rest = this.characters.slice(this.at, this.at + 12).join('');
    const found = /^\{(\d+)(,?)(\d*)\}/.exec(rest);
    if (found === null) return undefined;
    this.at += found[0].length;
    const least = Number(found[1]);
    const most = found[3] === '' ? (found[2] === '' ? least : Number.POSITIVE_INFINITY) : Number(found[3]);
    if (least > mostRepeats || (Number.isFinite(most) && (most > mostRepeats || most < least))) {
      throw new Unreadable('repeats too often');
    }
    return { least, most };
  }

  private inClass(): Test {
    const isNegated = this.take('^');
    const tests: Test[] = [];
    let isFirst = true;
    for (;;) {
      const next = this.next();
      if (next === ']' && !isFirst) break;
      isFirst = false;
      if (next === '[' && this.peek() === ':') throw new Unreadable('named classes');
      const test = next === '\\' ? this.escape() : this.only(next);
      if (this.peek() !== '-' || this.characters[this.at + 1] === ']') {
        tests.push(test);
        continue;
      }
      this.at += 1;
      const last = this.next();
      if (next === '\\' || last === '\\') throw new Unreadable('ranges of escapes');
      const [from, to] = [next.codePointAt(0) ?? 0, last.codePointAt(0) ?? 0];
      if (from > to) throw new Unreadable('range out of order');
      tests.push(this.caseless((code) => code >= from && code <= to));
    }
    const any: Test = (code) => tests.some((test) => test(code));
    return isNegated ? not(any) : any;
  }

  private escape(): Test {
    const next = this.next();
    const known = classes[next];
    if (known !== undefined) return known;
    const control = controls[next];
    if (control !== undefined) return (code) => code === control;
    if (words(next.codePointAt(0) ?? 0)) throw new Unreadable(`unknown escape ${next}`);
    return this.only(next);
  }

  private only(character: string): Test {
    const wanted = character.codePointAt(0);
    return this.caseless((code) => code === wanted);
  }

  private caseless(test: Test): Test {
    if (!this.ignoresCase) return test;
    return (code) => {
      const text = String.fromCodePoint(code);
      return [text, text.toLowerCase(), text.toUpperCase()].some((each) => test(each.codePointAt(0) ?? 0));
    };
  }

  private peek(): string | undefined {
    return this.characters[this.at];
  }

  private take(wanted: string): boolean {
    if (this.peek() !== wanted) return false;
    this.at += 1;
    return true;
  }

  private next(): string {
    const next = this.characters[this.at];
    if (next === undefined) throw new Unreadable('ends too early');
    this.at += 1;
    return next;
  }
}

function emit(part: Part, steps: Step[]): void {
  if (steps.length > mostSteps) throw new Unreadable('too large');
  if (part.kind === 'character') steps.push({ op: 'character', test: part.test });
  else if (part.kind === 'sequence') for (const each of part.parts) emit(each, steps);
  else if (part.kind === 'either') emitEither(part.parts, steps);
  else if (part.kind === 'repeat') emitRepeat(part, steps);
  else steps.push({ op: part.kind });
}

function emitEither(parts: readonly Part[], steps: Step[]): void {
  const fork: Step & { op: 'go' } = { op: 'go', to: [] };
  const ends: (Step & { op: 'go' })[] = [];
  steps.push(fork);
  for (const part of parts) {
    fork.to.push(steps.length);
    emit(part, steps);
    const end: Step & { op: 'go' } = { op: 'go', to: [] };
    ends.push(end);
    steps.push(end);
  }
  for (const end of ends) end.to.push(steps.length);
}

function emitRepeat({ part, least, most }: Part & { kind: 'repeat' }, steps: Step[]): void {
  for (let count = 0; count < least; count += 1) emit(part, steps);
  if (!Number.isFinite(most)) {
    const fork: Step & { op: 'go' } = { op: 'go', to: [] };
    const at = steps.push(fork) - 1;
    emit(part, steps);
    steps.push({ op: 'go', to: [at] });
    fork.to.push(at + 1, steps.length);
    return;
  }
  const forks: (Step & { op: 'go' })[] = [];
  for (let count = least; count < most; count += 1) {
    const fork: Step & { op: 'go' } = { op: 'go', to: [] };
    forks.push(fork);
    fork.to.push(steps.push(fork));
    emit(part, steps);
  }
  for (const fork of forks) fork.to.push(steps.length);
}

/** Follows every way through the steps at once; a match may begin anywhere. */
function occurs(steps: readonly Step[], text: string): boolean {
  const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  let current: number[] = [];
  for (let at = 0; at <= codes.length; at += 1) {
    const reached = new Uint8Array(steps.length);
    const here: number[] = [];
    const waiting = [0, ...current];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (reached[next] === 1) continue;
      reached[next] = 1;
      const step = steps[next] as Step;
      if (step.op === 'match') return true;
      if (step.op === 'character') here.push(next);
      else if (step.op === 'go') waiting.push(...step.to);
      else if (step.op === 'start' ? at === 0 : at === codes.length) waiting.push(next + 1);
    }
    const code = codes[at];
    if (code === undefined) return false;
    current = here.filter((each) => (steps[each] as Step & { op: 'character' }).test(code)).map((each) => each + 1);
  }
  return false;
}
