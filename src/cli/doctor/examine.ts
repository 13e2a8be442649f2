// A live cluster examined: what `kerf doctor` prints, for whoever shows it.
import { catalogue, diagnose } from '../../failures/index.ts';
import { type Gathered, Gathering } from './gather.ts';
import type { LiveFile } from './live/cluster.ts';
import { type Look, type LookOptions, lookAtCluster } from './live/look.ts';
import { jsonReport } from './report.ts';

/** Reads the cluster as files of a bundle; `onFile` sees each. */
export async function gatherLive(
  look: Look,
  options: LookOptions,
  gathering: Gathering,
  onFile: (file: LiveFile) => void = () => {},
): Promise<void> {
  for await (const file of lookAtCluster(look, options, () => gathering.soFar())) {
    onFile(file);
    await gathering.add({ kind: 'entry', entry: { path: file.path, chunks: bytesIn(file.text) } }, 'live');
  }
}

/** With what ships about instance types, which only objects need. */
export async function finished(gathering: Gathering): Promise<Gathered> {
  const { builtInMachineSizes } = await import('../../aws/catalogue.ts');
  return gathering.finish({ sizes: await builtInMachineSizes() });
}

/** An examination takes a moment, and several may ask at once. */
const freshMs = 20_000;

/** The JSON of `kerf doctor -o json`; one that is not old is given to all who ask. */
export function examination(open: () => Promise<Look>, options: LookOptions): () => Promise<object> {
  let last: { atMs: number; report: Promise<object> } | undefined;
  return () => {
    const nowMs = performance.now();
    if (last !== undefined && nowMs - last.atMs < freshMs) return last.report;
    const report = examine(open, options);
    const own = { atMs: nowMs, report };
    last = own;
    // What failed is tried again by the next who asks.
    report.catch(() => {
      if (last === own) last = undefined;
    });
    return report;
  };
}

async function examine(open: () => Promise<Look>, options: LookOptions): Promise<object> {
  const look = await open();
  const gathering = new Gathering({ isLive: true });
  try {
    await gatherLive(look, options, gathering);
  } finally {
    await look.close();
  }
  const gathered = await finished(gathering);
  return jsonReport({ ...gathered, ...diagnose(catalogue, gathered.evidence) });
}

async function* bytesIn(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
