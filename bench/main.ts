// `npm run bench`: measures, compares with the stored baseline, prints a table or JSON, and fails when time grows faster
// with size than it may.
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import type { MeasureOptions } from './bench.ts';
import { growthOf, missedBars, peerMargin } from './judge.ts';
import { type PeerResult, runPeer, runPeerOn } from './peer.ts';
import { benches, growths } from './registry.ts';
import { type Baseline, growthLines, marginLine, peerTable, resultTable } from './report.ts';
import { type Result, runBench } from './run.ts';

const baselineFile = new URL('./baseline.json', import.meta.url);

const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('write a whole number, for example 5');
  return Number(text);
};

const program = new Command('npm run bench --')
  .description('Measures the planner and the other parts that have to be quick.')
  .option('--only <names...>', 'benchmarks whose name contains one of these')
  .option('--quick', 'a short list, fewer runs')
  .option('--runs <n>', 'timed runs per benchmark', wholeNumber, 5)
  .option('--file <path>', 'workload R: one line per pod, "cpu memory [gpus]"')
  .option('--peer', "run the peer's own benchmark beside ours, and its scheduler on T and W (needs Go)")
  .option('--save-baseline', 'store the best times as the new baseline')
  .option('--list', 'list the benchmarks')
  .option('-o, --output <format>', 'table or json', 'table')
  .parse();

const flags = program.opts<{
  only?: string[];
  quick?: boolean;
  runs: number;
  file?: string;
  peer?: boolean;
  saveBaseline?: boolean;
  list?: boolean;
  output: string;
}>();

const options: MeasureOptions = {
  runs: flags.quick ? Math.min(flags.runs, 3) : flags.runs,
  warmupMs: flags.quick ? 200 : 700,
  ...(flags.file === undefined ? {} : { file: flags.file }),
};
const tell = (line: string): void => void process.stderr.write(`${line}\n`);

const chosen = benches.filter(
  (bench) =>
    (bench.applies?.(options) ?? true) &&
    (flags.only === undefined ? !flags.quick || bench.quick : flags.only.some((part) => bench.name.includes(part))),
);

if (flags.list) {
  for (const { name, summary } of benches) process.stdout.write(`${name.padEnd(20)} ${summary}\n`);
} else if (chosen.length === 0) {
  tell(`no benchmark matches ${flags.only?.join(', ')}; --list shows their names`);
  process.exitCode = 2;
} else {
  await main();
}

async function main(): Promise<void> {
  const results: Result[] = [];
  for (const bench of chosen) {
    tell(`${bench.name}: ${bench.summary}`);
    const result = await runBench(bench, options);
    if (result.error !== undefined) tell(result.error);
    results.push(result);
  }
  const grown = growths.flatMap((growth) => growthOf(growth, results) ?? []);
  const baseline = readBaseline();
  // Ours first: whatever happens to the peer, they are not lost.
  if (flags.output !== 'json') {
    process.stdout.write(resultTable(chosen, results, baseline));
    for (const { name, remark } of results) if (remark !== undefined) process.stdout.write(`${name}: ${remark}\n`);
    process.stdout.write(growthLines(grown));
  }
  const peer = flags.peer ? await peerResults() : [];
  const margins = chosen.flatMap((bench) => {
    const result = results.find(({ name }) => name === bench.name);
    return (result && peerMargin(bench, result, peer)) ?? [];
  });
  if (flags.output === 'json') {
    const document = results.map((result) => {
      const bench = chosen.find((candidate) => candidate.name === result.name);
      return {
        ...result,
        missedBars: bench === undefined ? [] : missedBars(bench, result),
        baselineMs: baseline[result.name]?.bestMs ?? null,
      };
    });
    const machine = { cores: availableParallelism(), node: process.version };
    process.stdout.write(`${JSON.stringify({ machine, results: document, growth: grown, peer, margins }, null, 2)}\n`);
  } else if (peer.length > 0) {
    process.stdout.write(`\n${peerTable(peer, results)}`);
    for (const margin of margins) process.stdout.write(marginLine(margin));
  }
  if (flags.saveBaseline) saveBaseline(baseline, results);
  if (grown.some(({ met }) => !met) || results.some(({ error }) => error !== undefined)) process.exitCode = 1;
}

/** What the peer measured, as far as it came; a peer that fails fails the run. */
async function peerResults(): Promise<PeerResult[]> {
  const everything = flags.only === undefined && !flags.quick;
  const names = everything ? [] : chosen.map((bench) => bench.name);
  const works = chosen.flatMap(({ name, peerSnapshot: snapshot }) =>
    snapshot === undefined ? [] : [{ name, snapshot }],
  );
  // Its own benchmark has none of these names.
  const hasOwn = everything || works.length < names.length;
  const runs = [...(hasOwn ? [await runPeer(names, tell)] : []), await runPeerOn(works, tell)];
  for (const { error } of runs) {
    if (error === undefined) continue;
    tell(`peer: ${error}`);
    process.exitCode = 1;
  }
  return runs.flatMap(({ results }) => results);
}

function readBaseline(): Baseline {
  try {
    return JSON.parse(readFileSync(baselineFile, 'utf8')) as Baseline;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw thrown;
  }
}

function saveBaseline(before: Baseline, results: readonly Result[]): void {
  const measured = results.filter(({ error }) => error === undefined);
  const after = { ...before };
  for (const { name, bestMs } of measured) after[name] = { bestMs: Number(bestMs.toPrecision(4)) };
  writeFileSync(baselineFile, `${JSON.stringify(after, null, 2)}\n`);
}
