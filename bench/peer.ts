// The peer beside us: Karpenter's core, fetched as a Go module into the cache folder (never into the repository), running
// its own scheduling benchmark, and its scheduler on our snapshots.
import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../src/base/index.ts';
import { cacheFolder, makeOnce } from '../test/setup/cache-folder.ts';

const peerModule = 'sigs.k8s.io/karpenter';
const peerVersion = 'v1.14.1';

export interface PeerResult {
  /** Name of our bench with the same work. */
  name: string;
  ms: number;
  nodes?: number;
  megabytes?: number;
  pricePerHour?: number;
  unplaced?: number;
}

const ours: Record<string, string> = {
  RespectPreferences: 'P(4000) respected',
  IgnorePreferences: 'P(4000) ignored',
};

export interface PeerRun {
  results: PeerResult[];
  error?: string;
}

/** `only` narrows to benches with the given names; those the peer does not have are left out. */
export async function runPeer(only: readonly string[], tell: (line: string) => void): Promise<PeerRun> {
  const names = only.flatMap((name) => theirName(name) ?? []);
  if (only.length > 0 && names.length === 0) return { results: [], error: 'it has no benchmark of these names' };
  const pattern = only.length === 0 ? '.' : `^Benchmark(${names.join('|')})$`;
  try {
    const folder = await fetchPeer(tell);
    tell(`peer: running its benchmark (${pattern}); the first time it has to be compiled`);
    const { out, error } = await runBenchmark(folder, pattern, tell);
    return { results: parseBenchmark(out), ...(error === undefined ? {} : { error }) };
  } catch (thrown) {
    return { results: [], error: messageOf(thrown) };
  }
}

/** Work that both plan from the same snapshot: what the peer's scheduler comes to, each time in one run. */
export async function runPeerOn(
  works: readonly { readonly name: string; readonly snapshot: () => Promise<object> }[],
  tell: (line: string) => void,
): Promise<PeerRun> {
  const results: PeerResult[] = [];
  if (works.length === 0) return { results };
  const folder = mkdtempSync(join(tmpdir(), 'kerf-peer-'));
  try {
    const program = await snapshotProgram(tell);
    for (const { name, snapshot } of works) {
      tell(`peer: ${name}`);
      const file = join(folder, 'snapshot.json');
      writeFileSync(file, JSON.stringify(await snapshot()));
      const { out, error } = await run(program, [file], folder, tell);
      if (error !== undefined) return { results, error };
      results.push({ name, ...(JSON.parse(out) as Omit<PeerResult, 'name'>) });
    }
    return { results };
  } catch (thrown) {
    return { results, error: messageOf(thrown) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Our small program around its scheduler, compiled inside the copy of its module. */
async function snapshotProgram(tell: (line: string) => void): Promise<string> {
  const folder = await fetchPeer(tell);
  mkdirSync(join(folder, 'kerf-snapshot'), { recursive: true });
  const source = fileURLToPath(new URL('./peer-snapshot/main.go', import.meta.url));
  copyFileSync(source, join(folder, 'kerf-snapshot', 'main.go'));
  tell('peer: compiling its scheduler; the first time takes some minutes');
  const program = join(folder, 'kerf-snapshot', 'program');
  await go(folder, ['build', '-o', program, './kerf-snapshot'], tell);
  return program;
}

function runBenchmark(folder: string, pattern: string, tell: (line: string) => void): Promise<GoRun> {
  return run(
    'go',
    [
      'test',
      '-tags=test_performance',
      '-run=XXX',
      `-bench=${pattern}`,
      '-benchtime=1x',
      '-benchmem',
      '-timeout=2h',
      './pkg/controllers/provisioning/scheduling',
    ],
    folder,
    tell,
  );
}

function theirName(name: string): string | undefined {
  const diverse = /^D\((\d+)\)$/.exec(name)?.[1];
  if (diverse !== undefined) return `Scheduling${diverse}`;
  return Object.entries(ours).find(([, own]) => own === name)?.[0];
}

/** Reads `go test -bench`; what a benchmark logs can stand between its name and its figures. */
function parseBenchmark(text: string): PeerResult[] {
  return text.split(/^Benchmark/m).flatMap((part) => {
    const title = /^\w+/.exec(part)?.[0] ?? '';
    const figures = part.split('\n').find((line) => line.includes(' ns/op')) ?? '';
    const value = (unit: string): number | undefined => {
      const found = new RegExp(`([\\d.e+]+) ${unit}(?:\\s|$)`).exec(figures)?.[1];
      return found === undefined ? undefined : Number(found);
    };
    const size = /^Scheduling(\d+)$/.exec(title)?.[1];
    const name = size === undefined ? ours[title] : `D(${size})`;
    const ns = value('ns/op');
    if (name === undefined || ns === undefined) return [];
    const nodes = value('nodes');
    const bytes = value('B/op');
    return [
      {
        name,
        ms: ns / 1e6,
        ...(nodes === undefined ? {} : { nodes }),
        ...(bytes === undefined ? {} : { megabytes: bytes / 1e6 }),
      },
    ];
  });
}

/** A writable copy of the module, because its own go.sum knows the dependencies of its tests. */
async function fetchPeer(tell: (line: string) => void): Promise<string> {
  const folder = join(cacheFolder(), 'peer', `karpenter-${peerVersion}`);
  return makeOnce({
    folder,
    progress: tell,
    make: async (work) => {
      tell(`peer: fetching ${peerModule} ${peerVersion}`);
      const { Dir } = JSON.parse(await go(work, ['mod', 'download', '-json', `${peerModule}@${peerVersion}`], tell));
      cpSync(Dir, work, { recursive: true });
      makeWritable(work);
    },
  });
}

function makeWritable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeWritable(path);
    else chmodSync(path, 0o644);
  }
}

interface GoRun {
  out: string;
  error?: string;
}

async function go(folder: string, args: string[], tell: (line: string) => void): Promise<string> {
  const { out, error } = await run('go', args, folder, tell);
  if (error !== undefined) throw new Error(error);
  return out;
}

function run(program: string, args: string[], folder: string, tell: (line: string) => void): Promise<GoRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      for (const line of chunk.toString().split('\n')) if (line.startsWith('Benchmark')) tell(`peer: ${line}`);
    });
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.on('error', (cause) =>
      reject(new Error('cannot run the peer: the go command is missing; install Go or leave out --peer', { cause })),
    );
    child.on('close', (code) =>
      resolve(
        code === 0 ? { out } : { out, error: `${program} ${args[0]} failed (${code}) in ${folder}:\n${err || out}` },
      ),
    );
  });
}
