// Sets of small integers as words of 32 bits. Plain functions over Uint32Array, because they run in the planner's
// innermost loops; sizes are given once, at creation, and sets used together have the same size.

export type Bitset = Uint32Array;

export function bitset(size: number): Bitset {
  return new Uint32Array((size + 31) >>> 5);
}

/** All of 0 … size-1. */
export function fullBitset(size: number): Bitset {
  const bits = bitset(size).fill(0xffffffff);
  const rest = size & 31;
  if (rest !== 0) bits[bits.length - 1] = (1 << rest) - 1;
  return bits;
}

export function addBit(bits: Bitset, index: number): void {
  const word = index >>> 5;
  bits[word] = (bits[word] as number) | (1 << (index & 31));
}

export function hasBit(bits: Bitset, index: number): boolean {
  return ((bits[index >>> 5] as number) & (1 << (index & 31))) !== 0;
}

/** Keeps in `bits` only what is also in `other`. */
export function keepCommon(bits: Bitset, other: Bitset): void {
  for (let word = 0; word < bits.length; word++) bits[word] = (bits[word] as number) & (other[word] as number);
}

export function isEmptyBitset(bits: Bitset): boolean {
  for (let word = 0; word < bits.length; word++) if (bits[word] !== 0) return false;
  return true;
}

/** Whether something is in both. */
export function sharesBit(bits: Bitset, other: Bitset): boolean {
  for (let word = 0; word < bits.length; word++) {
    if (((bits[word] as number) & (other[word] as number)) !== 0) return true;
  }
  return false;
}

/** The members in ascending order. */
export function membersOf(bits: Bitset): number[] {
  const members: number[] = [];
  for (let word = 0; word < bits.length; word++) {
    let rest = bits[word] as number;
    while (rest !== 0) {
      const bit = 31 - Math.clz32(rest & -rest);
      members.push((word << 5) + bit);
      rest &= rest - 1;
    }
  }
  return members;
}
