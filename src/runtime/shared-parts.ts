// Equal parts of many objects, kept once: the containers, labels and tolerations of the pods of one workload.
//
// Promises:
// 1. What is returned is equal to what was given. Objects are never mutated (src/ports/kube.ts), so sharing cannot be
//    noticed.
// 2. A look-up compares with one part at most, whoever chooses the content: the hash reads a few characters of each
//    string, and of two parts that collide the newer one is remembered.
// 3. The table is bounded and forgets: it has two generations, and what was not asked for while one of them filled up is
//    dropped. Parts of workloads that are gone go with it; a part that is still in use is then only no longer offered.
import { isEqual } from '../base/index.ts';

/** Per generation: tens of thousands of workloads with a few parts each, some 10 MiB when full. */
const mostRemembered = 100_000;
/** Names of one workload differ at their end, keys at their beginning. */
const charactersRead = { first: 4, last: 10 };

export class SharedParts {
  private readonly most: number;
  private young = new Map<number, object | string>();
  private old = new Map<number, object | string>();

  constructor(most = mostRemembered) {
    this.most = most;
  }

  /** How many parts are remembered. */
  get size(): number {
    return this.young.size + this.old.size;
  }

  /** `before` is the same part of the object's last state: most often nothing about it changed. */
  one<T extends object | string>(part: T, before?: unknown): T {
    if (before !== undefined && isEqual(before, part)) return before as T;
    const hash = hashOf(part, 17);
    const young = this.young.get(hash);
    if (young !== undefined && isEqual(young, part)) return young as T;
    const old = this.old.get(hash);
    const known = old !== undefined && isEqual(old, part) ? (old as T) : part;
    if (this.young.size >= this.most) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(hash, known);
    return known;
  }
}

function hashOf(value: unknown, seed: number): number {
  switch (typeof value) {
    case 'string':
      return hashOfText(value, seed);
    case 'object': {
      if (value === null) return mixed(seed, 1);
      let hash = seed;
      if (Array.isArray(value)) {
        for (const item of value) hash = hashOf(item, hash);
        return mixed(hash, value.length);
      }
      for (const key in value) hash = hashOf((value as Record<string, unknown>)[key], hashOfText(key, hash));
      return hash;
    }
    case 'number':
      return mixed(seed, value);
    default:
      return mixed(seed, value === true ? 2 : 3);
  }
}

function hashOfText(text: string, seed: number): number {
  const { length } = text;
  let hash = mixed(seed, length);
  const head = Math.min(charactersRead.first, length);
  for (let at = 0; at < head; at++) hash = mixed(hash, text.charCodeAt(at));
  for (let at = Math.max(head, length - charactersRead.last); at < length; at++)
    hash = mixed(hash, text.charCodeAt(at));
  return hash;
}

/** A step of a multiplicative hash; the result fits a small integer, which a Map keeps without another object. */
function mixed(hash: number, value: number): number {
  const product = Math.imul(hash ^ value, 0x9e37_79b1);
  return (product ^ (product >>> 15)) & 0x3fff_ffff;
}
