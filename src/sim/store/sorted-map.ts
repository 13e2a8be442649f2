// A sorted map whose every version lives on: setting a key makes a new map that shares all but one chunk with the old
// one. A list can therefore be streamed for as long as its reader likes while writers go on, and looking at the past is
// keeping a reference.

/** Keys per chunk. A write copies one chunk and the array of chunks; at 100,000 keys both stay a few hundred slots long. */
const chunkSize = 256;

interface Chunk<V> {
  keys: string[];
  values: V[];
}

export class SortedMap<V> {
  readonly size: number;
  private readonly chunks: Chunk<V>[];

  constructor(chunks: Chunk<V>[] = [], size = 0) {
    this.chunks = chunks;
    this.size = size;
  }

  get(key: string): V | undefined {
    const chunk = this.chunks[this.chunkFor(key)];
    if (chunk === undefined) return undefined;
    const index = lowerBound(chunk.keys, key);
    return chunk.keys[index] === key ? chunk.values[index] : undefined;
  }

  set(key: string, value: V): SortedMap<V> {
    if (this.chunks.length === 0) return new SortedMap([{ keys: [key], values: [value] }], 1);
    const at = Math.min(this.chunkFor(key), this.chunks.length - 1);
    const chunk = this.chunks[at] as Chunk<V>;
    const index = lowerBound(chunk.keys, key);
    const chunks = this.chunks.slice();
    if (chunk.keys[index] === key) {
      const values = chunk.values.slice();
      values[index] = value;
      chunks[at] = { keys: chunk.keys, values };
      return new SortedMap(chunks, this.size);
    }
    const keys = chunk.keys.slice();
    const values = chunk.values.slice();
    keys.splice(index, 0, key);
    values.splice(index, 0, value);
    if (keys.length <= chunkSize) chunks[at] = { keys, values };
    else {
      // Appending at the end is the common order of creation (web-1, web-2, …): leave the left chunk full then.
      const middle = index === chunk.keys.length ? chunkSize : chunkSize >>> 1;
      chunks.splice(
        at,
        1,
        { keys: keys.slice(0, middle), values: values.slice(0, middle) },
        { keys: keys.slice(middle), values: values.slice(middle) },
      );
    }
    return new SortedMap(chunks, this.size + 1);
  }

  delete(key: string): SortedMap<V> {
    const at = this.chunkFor(key);
    const chunk = this.chunks[at];
    const index = chunk === undefined ? 0 : lowerBound(chunk.keys, key);
    if (chunk === undefined || chunk.keys[index] !== key) return this;
    const chunks = this.chunks.slice();
    if (chunk.keys.length === 1) chunks.splice(at, 1);
    else chunks[at] = { keys: chunk.keys.toSpliced(index, 1), values: chunk.values.toSpliced(index, 1) };
    return new SortedMap(chunks, this.size - 1);
  }

  /** Values whose key starts with `prefix` and is greater than `after`, in key order. */
  *values(prefix = '', after = ''): Generator<V, undefined> {
    const start = after > prefix ? after : prefix;
    for (let at = this.chunkFor(start); at < this.chunks.length; at += 1) {
      const { keys, values } = this.chunks[at] as Chunk<V>;
      for (let index = lowerBound(keys, start); index < keys.length; index += 1) {
        const key = keys[index] as string;
        if (!key.startsWith(prefix)) return;
        if (key !== after) yield values[index] as V;
      }
    }
  }

  /** The first chunk that may hold `key`. */
  private chunkFor(key: string): number {
    let low = 0;
    let high = this.chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (((this.chunks[middle] as Chunk<V>).keys.at(-1) as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function lowerBound(keys: string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
