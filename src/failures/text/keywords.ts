// Finds many literals in bytes at once, in any case (Aho–Corasick with a full table, so one step per byte however many
// literals there are). It is what lets half a gigabyte of log pass in seconds: only lines with a hit are looked at closer.

/** Letters are folded, digits and the signs that occur in literals have a class of their own, all other bytes share one. */
const classCount = 64;

export class Keywords {
  private readonly classOf = new Uint8Array(256);
  private readonly next: Int32Array;
  /** For each state the literals that end there, as indexes; undefined for most. */
  private readonly ends: (readonly number[] | undefined)[];

  /** Literals must be ASCII. */
  constructor(literals: readonly string[]) {
    this.numberClasses(literals);
    const goto: Int32Array[] = [new Int32Array(classCount).fill(-1)];
    const ends: number[][] = [[]];
    for (const [index, literal] of literals.entries()) {
      let state = 0;
      for (const byte of bytesOf(literal)) {
        const row = goto[state] as Int32Array;
        const symbol = this.classOf[byte] as number;
        if (row[symbol] === -1) {
          row[symbol] = goto.length;
          goto.push(new Int32Array(classCount).fill(-1));
          ends.push([]);
        }
        state = row[symbol] as number;
      }
      ends[state]?.push(index);
    }
    this.next = withFailures(goto, ends);
    this.ends = ends.map((list) => (list.length === 0 ? undefined : list));
  }

  /** Calls back for every literal that ends at `position` (exclusive), in order of position. */
  scan(bytes: Uint8Array, from: number, to: number, hit: (literal: number, position: number) => void): void {
    const next = this.next;
    const classOf = this.classOf;
    const ends = this.ends;
    let state = 0;
    for (let at = from; at < to; at += 1) {
      state = next[state * classCount + (classOf[bytes[at] as number] as number)] as number;
      const found = ends[state];
      if (found !== undefined) for (const literal of found) hit(literal, at + 1);
    }
  }

  private numberClasses(literals: readonly string[]): void {
    let used = 0;
    for (const literal of literals) {
      for (const byte of bytesOf(literal)) {
        if (this.classOf[byte] !== 0) continue;
        used += 1;
        if (used >= classCount) throw new Error(`more than ${classCount} different characters in the literals`);
        this.classOf[byte] = used;
        const isLower = byte >= 97 && byte <= 122;
        if (isLower) this.classOf[byte - 32] = used;
      }
    }
  }
}

function* bytesOf(literal: string): Generator<number> {
  for (let at = 0; at < literal.length; at += 1) {
    const code = literal.charCodeAt(at);
    if (code > 127) throw new Error(`the literal ${JSON.stringify(literal)} is not ASCII`);
    yield code >= 65 && code <= 90 ? code + 32 : code;
  }
}

/** Fills every missing step with that of the longest suffix, and hands the suffix's ends on. */
function withFailures(goto: readonly Int32Array[], ends: number[][]): Int32Array {
  const table = new Int32Array(goto.length * classCount);
  const suffix = new Int32Array(goto.length);
  const queue: number[] = [0];
  for (const state of queue) {
    const row = goto[state] as Int32Array;
    for (let symbol = 0; symbol < classCount; symbol += 1) {
      const child = row[symbol] as number;
      const viaSuffix = state === 0 ? 0 : (table[(suffix[state] as number) * classCount + symbol] as number);
      if (child === -1) {
        table[state * classCount + symbol] = viaSuffix;
        continue;
      }
      table[state * classCount + symbol] = child;
      suffix[child] = viaSuffix;
      ends[child]?.push(...(ends[viaSuffix] ?? []));
      queue.push(child);
    }
  }
  return table;
}
