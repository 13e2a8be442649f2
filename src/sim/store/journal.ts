// The cluster in a file: one line per change, appended before the change is seen by anyone. When most of the file is
// history, the present is written to a new file that then takes the old one's place.
//
// 1. A change that was acknowledged is in the file: the write has reached the operating system, so only the machine's
//    death can lose it, not the process's.
// 2. The file is whole at every instant: compaction replaces it by one rename. A half-written last line is dropped on load.
import {
  appendFileSync,
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { KerfError, messageOf } from '../../base/index.ts';
import type { JournalEntry, Store } from './store.ts';
import { keyOf } from './stored-object.ts';

/** Below this a file is not worth compacting. */
const smallestCompactionBytes = 8 * 1024 * 1024;
/** Objects written per turn while compacting, so that requests go on being served. */
const objectsPerTurn = 200;

export interface Journal {
  close(): Promise<void>;
}

const header = { kerfState: 1 };

export async function openJournal(path: string, store: Store): Promise<Journal> {
  const next = `${path}.next`;
  rmSync(next, { force: true });
  const loaded = existsSync(path) ? await load(path, store) : 0;
  let file = openForAppend(path);
  let bytes = loaded;
  let compactedBytes = Math.max(loaded, smallestCompactionBytes / 2);
  /** Lines that must follow the snapshot being written. */
  let tail: string[] | undefined;
  let compaction: Promise<void> | undefined;
  if (loaded === 0) bytes += append(file, `${JSON.stringify(header)}\n`, 0);

  /** `latest` is on its way into the store, which does not have it yet. */
  const compact = async (latest: string): Promise<void> => {
    const { revision } = store;
    const snapshot = [...store.collections()].map(([id, collection]) => ({ id, objects: collection.objects }));
    const drawn = store.identity.drawn;
    tail = [latest];
    const out = openSync(next, 'a');
    let written = 0;
    const write = (text: string): void => void (written += append(out, text, written));
    write(`${JSON.stringify(header)}\n`);
    for (const { id, objects } of snapshot) {
      let lines = '';
      let count = 0;
      for (const object of objects.values()) {
        lines += line({
          collection: id,
          key: keyOf(object.metadata.namespace, object.metadata.name),
          revision,
          drawn,
          object,
        });
        count += 1;
        if (count % objectsPerTurn !== 0) continue;
        write(lines);
        lines = '';
        await nextTurn();
      }
      write(lines);
    }
    for (const late of tail) write(late);
    tail = undefined;
    fsyncSync(out);
    renameSync(next, path);
    closeSync(file);
    file = out;
    bytes = written;
    compactedBytes = Math.max(written, smallestCompactionBytes / 2);
  };

  store.journal = (entry) => {
    const text = line(entry);
    bytes += append(file, text, bytes);
    tail?.push(text);
    if (compaction === undefined && bytes > compactedBytes * 2) {
      compaction = compact(text)
        .catch(() => {
          // The old file is still whole and still written to; there will be another try when it has doubled again.
          tail = undefined;
          compactedBytes = bytes;
          rmSync(next, { force: true });
        })
        .finally(() => {
          compaction = undefined;
        });
    }
  };
  return {
    async close() {
      await compaction;
      store.journal = undefined;
      closeSync(file);
    },
  };
}

const line = ({ collection, key, revision, drawn, object }: JournalEntry): string =>
  `${JSON.stringify({ c: collection, k: key, r: revision, d: drawn, ...(object !== undefined && { o: object }) })}\n`;

/** Writes all of it or, if the disk is full, nothing: half a line would spoil the ones after it. */
function append(file: number, text: string, length: number): number {
  const bytes = Buffer.from(text);
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
  } catch (thrown) {
    ftruncateSync(file, length);
    throw thrown;
  }
  return bytes.length;
}

function openForAppend(path: string): number {
  try {
    return openSync(path, 'a');
  } catch (thrown) {
    throw new KerfError(
      'StateUnwritable',
      `cannot keep the cluster's state in ${path}: ${messageOf(thrown)}; name a file in a folder you can write to`,
      { subject: path, cause: thrown },
    );
  }
}

/** Reads the file back; returns its length in bytes. */
async function load(path: string, store: Store): Promise<number> {
  let bytes = 0;
  let count = 0;
  const broken = (why: string): KerfError =>
    new KerfError(
      'StateUnreadable',
      `cannot read the state file ${path}, line ${count}: ${why}; move it away to start with an empty cluster`,
      { subject: path },
    );
  let pending: string | undefined;
  const apply = (text: string): void => {
    count += 1;
    const entry = JSON.parse(text) as {
      kerfState?: number;
      c: string;
      k: string;
      r: number;
      d: number;
      o?: JournalEntry['object'];
    };
    if (count === 1) {
      if (entry.kerfState !== header.kerfState) throw broken('it is not a state file of this version');
      return;
    }
    store.restore({ collection: entry.c, key: entry.k, revision: entry.r, drawn: entry.d, object: entry.o });
  };
  for await (const text of createInterface({
    input: createReadStream(path, { encoding: 'utf8' }),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    if (pending !== undefined) {
      try {
        apply(pending);
      } catch (thrown) {
        throw thrown instanceof KerfError ? thrown : broken(messageOf(thrown));
      }
      bytes += Buffer.byteLength(pending) + 1;
    }
    pending = text;
  }
  if (pending !== undefined) {
    try {
      apply(pending);
      bytes += Buffer.byteLength(pending) + 1;
    } catch (thrown) {
      if (thrown instanceof KerfError) throw thrown;
      // The process died while writing this line, so its writer never heard that it was stored.
      truncateSync(path, bytes);
    }
  }
  // All of the last line is there but its end.
  if (bytes > statSync(path).size) appendFileSync(path, '\n');
  store.compact();
  return bytes;
}
