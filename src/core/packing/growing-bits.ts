// A set of small integers that grows as members come; numbers beyond its end are simply not in it. For "this node has
// refused these pods for good", kept per kind of pod.

export class GrowingBits {
  words: Uint32Array = new Uint32Array(0);

  add(index: number): void {
    const word = index >>> 5;
    if (word >= this.words.length) {
      const larger = new Uint32Array(Math.max(word + 1, this.words.length * 2, 4));
      larger.set(this.words);
      this.words = larger;
    }
    this.words[word] = (this.words[word] as number) | (1 << (index & 31));
  }

  has(index: number): boolean {
    const word = index >>> 5;
    return word < this.words.length && ((this.words[word] as number) & (1 << (index & 31))) !== 0;
  }
}

/** Those of an id, made when they are first asked for. */
export function bitsOf(list: (GrowingBits | undefined)[], id: number): GrowingBits {
  let bits = list[id];
  if (bits === undefined) {
    bits = new GrowingBits();
    list[id] = bits;
  }
  return bits;
}
