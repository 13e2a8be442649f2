// The hash behind the drift annotations: 64-bit FNV-1 over values, maps, lists and named structures. It must be bit-exact
// (a different value means the whole fleet has drifted), so every step of its definition is a function here. Order of map
// keys and list elements does not matter.
//
// A 64-bit number is two 32-bit halves: about ten times as fast as BigInt, and the hash is taken on every NodePool event.
import { utf8Bytes } from '../../base/index.ts';

export interface Hash {
  readonly hi: number;
  readonly lo: number;
}

const offset: Hash = { hi: 0xcbf29ce4, lo: 0x84222325 };
/** The prime is 2^40 + 0x1b3. */
const primeLow = 0x1b3;

/** FNV-1: multiply, then mix in the byte. */
function hashBytes(bytes: ArrayLike<number>): Hash {
  let { hi, lo } = offset;
  for (let i = 0; i < bytes.length; i += 1) {
    const low = lo * primeLow;
    const carry = Math.floor(low / 0x1_0000_0000);
    hi = (hi * primeLow + carry + (lo << 8)) >>> 0;
    lo = ((low >>> 0) ^ (bytes[i] ?? 0)) >>> 0;
  }
  return { hi, lo };
}

function pushWord(bytes: number[], word: number): void {
  bytes.push(word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, (word >>> 24) & 0xff);
}

function littleEndian(...hashes: Hash[]): number[] {
  const bytes: number[] = [];
  for (const { hi, lo } of hashes) {
    pushWord(bytes, lo);
    pushWord(bytes, hi);
  }
  return bytes;
}

export const hashString = (text: string): Hash => hashBytes(utf8Bytes(text));

export const hashBool = (value: boolean): Hash => hashBytes([value ? 1 : 0]);

export const hashInt32 = (value: number): Hash => {
  const bytes: number[] = [];
  pushWord(bytes, value >>> 0);
  return hashBytes(bytes);
};

export const hashInt64 = (value: bigint): Hash => {
  const unsigned = BigInt.asUintN(64, value);
  return hashBytes(littleEndian({ hi: Number(unsigned >> 32n), lo: Number(unsigned & 0xffff_ffffn) }));
};

/** An instant in Go's binary form: a version, seconds since year 1, nanoseconds, and a zone of no offset. */
export const hashTime = (milliseconds: number): Hash => {
  const seconds = BigInt(Math.floor(milliseconds / 1000)) + 62_135_596_800n;
  const nanoseconds = Math.round((milliseconds - Math.floor(milliseconds / 1000) * 1000) * 1e6);
  const bytes = [1];
  for (let shift = 56n; shift >= 0n; shift -= 8n) bytes.push(Number((seconds >> shift) & 0xffn));
  for (let shift = 24; shift >= 0; shift -= 8) bytes.push((nanoseconds >>> shift) & 0xff);
  return hashBytes([...bytes, 0, 0]);
};

const xor = (a: Hash, b: Hash): Hash => ({ hi: (a.hi ^ b.hi) >>> 0, lo: (a.lo ^ b.lo) >>> 0 });

const zero: Hash = { hi: 0, lo: 0 };

const pair = (a: Hash, b: Hash): Hash => hashBytes(littleEndian(a, b));

const finish = (a: Hash): Hash => hashBytes(littleEndian(a));

/** A list counts as a set: two equal elements cancel out. */
export const hashList = (elements: readonly Hash[]): Hash => elements.reduce(xor, zero);

export const hashMap = (entries: Iterable<readonly [string, Hash]>): Hash => {
  let hash = zero;
  for (const [key, value] of entries) hash = xor(hash, pair(hashString(key), value));
  return finish(hash);
};

/** Fields in the order of their declaration; one without a value leaves no trace. */
export const hashStruct = (typeName: string, fields: readonly (readonly [string, Hash | undefined])[]): Hash => {
  let hash = hashString(typeName);
  for (const [name, value] of fields) {
    if (value !== undefined) hash = finish(xor(hash, pair(hashString(name), value)));
  }
  return hash;
};

/** The number as it stands in annotations. */
export const hashText = ({ hi, lo }: Hash): string => String((BigInt(hi) << 32n) | BigInt(lo));

/** Hashes a value unless it is absent. */
export const ifSet = <T>(value: T | undefined | null, hash: (value: T) => Hash): Hash | undefined =>
  value === undefined || value === null ? undefined : hash(value);

/** Hashes text unless it is absent or empty: where upstream's field is not a pointer, the two are the same. */
export const ifText = (value: string | undefined | null): Hash | undefined =>
  value === undefined || value === null || value === '' ? undefined : hashString(value);

/** A map of texts, hashed if it is present, be it empty. */
export const ifTextMap = (map: Readonly<Record<string, string>> | undefined | null): Hash | undefined =>
  ifSet(map, (present) => hashMap(Object.entries(present).map(([key, value]) => [key, hashString(value)] as const)));

/** A duration is a structure around its nanoseconds; a plain one of zero has, by the rule for zero, no field at all. */
export const hashDuration = (nanoseconds: bigint): Hash =>
  hashStruct('Duration', [['Duration', nanoseconds === 0n ? undefined : hashInt64(nanoseconds)]]);

/** Of one text, as it stands in names of things that older versions made. */
export const textHash = (text: string): string => hashText(hashString(text));
