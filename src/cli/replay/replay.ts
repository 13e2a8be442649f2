// `kerf replay FILE`: makes every recorded decision again from what it looked at, and compares the answers byte for byte.
import { basename, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { KerfError } from '../../base/index.ts';
import type { Decision } from '../../ports/index.ts';
import { RealClock } from '../../runtime/index.ts';
import { answerTo, type PassLine, RecordedDay, readRecording, SnapshotsAgain } from '../../server/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { counted, paintFor, progressLine, writeWhole } from '../output/index.ts';
import { portNumber } from '../port-number.ts';
import { version } from '../version.ts';
import { decisionPage } from './decision-page.ts';
import { firstDifference } from './first-difference.ts';
import { leftOut } from './other-day.ts';
import { otherDayPage } from './other-day-page.ts';

interface Flags {
  at?: string;
  with?: string[];
  without?: (typeof leftOut)[number][];
  redact?: string;
  snapshot?: string;
  dashboard?: number | true;
  output: 'table' | 'json';
}

const help = `
Exit code: 0 every answer is the same, 1 one differs (the first difference is printed), 2 the file cannot be read.
A recording that was cut off, because its process was killed, is replayed up to the cut.
With --with or --without, the recorded pods are planned for twice from the beginning, as it was and with the change, and what
the nodes cost and how many pods had to move is compared; exit code 0.

Examples:
  kerf up --demo --record day.jsonl.gz
  kerf replay day.jsonl.gz
  kerf replay day.jsonl.gz --at d-0042        one decision, with its alternatives
  kerf replay day.jsonl.gz --at d-0042 --snapshot s.json   then: kerf plan --snapshot s.json
  kerf replay day.jsonl.gz --dashboard        play it, with pause, speed and seek
  kerf replay day.jsonl.gz --with pool.yaml   what the same day would have cost with this NodePool
  kerf replay day.jsonl.gz --without consolidation
  kerf replay day.jsonl.gz --redact out.jsonl.gz`;

export function configure(command: Command, run: CommandRunner): void {
  command
    .description('Make recorded decisions again from what they looked at, and compare them with what was decided.')
    .argument('<file>', 'a recording, made with --record')
    .option('--at <id>', 'print this decision with its alternatives, and make only it again')
    .option(
      '--with <files...>',
      'what the day would have cost with these NodePools, written over those of the recording',
    )
    .addOption(new Option('--without <what...>', 'what the day would have cost without it').choices(leftOut))
    .option('--redact <file>', 'write the recording there without names and texts of yours, still replayable')
    .option('--snapshot <file>', 'with --at: write what the decision looked at there, for kerf plan and kerf explain')
    .option(
      '--dashboard [port]',
      'play it in the browser, from this port of loopback (any free one by default)',
      portNumber,
    )
    .addOption(
      new Option('-o, --output <format>', 'format of --with and --without').choices(['table', 'json']).default('table'),
    )
    .addHelpText('after', help)
    .action(run(replay));
}

interface Replayed {
  passes: number;
  decisions: Map<string, Decision>;
  missed: number;
  wasCut: boolean;
  writer: string;
  difference?: string;
}

async function replay(terminal: Terminal, file: string, flags: Flags): Promise<number> {
  const changes = flags.with !== undefined || flags.without !== undefined;
  const given = [flags.at !== undefined, flags.redact !== undefined, flags.dashboard !== undefined, changes];
  if (given.filter(Boolean).length > 1)
    throw new KerfError('FlagsInvalid', 'give one of --at, --redact, --dashboard, and --with or --without');
  if (flags.snapshot !== undefined && flags.at === undefined)
    throw new KerfError('FlagsInvalid', '--snapshot needs --at ID: it is about one decision');
  if (flags.dashboard !== undefined) {
    const { replayDashboard } = await import('./replay-dashboard.ts');
    return replayDashboard(terminal, file, flags.dashboard === true ? 0 : flags.dashboard);
  }
  if (flags.redact !== undefined) return redact(terminal, file, flags.redact);
  if (changes) return otherDay(terminal, file, flags);
  const asked = flags.at === undefined ? undefined : await findDecision(file, flags.at);
  if (asked !== undefined) {
    terminal.out(decisionPage(asked));
    if (asked.snapshot === undefined) {
      terminal.out('It was not made from a snapshot: there is nothing to make again.\n');
      return exitCode.ok;
    }
  }
  if (asked?.snapshot !== undefined && flags.snapshot !== undefined) {
    return writeSnapshot(terminal, file, asked.snapshot, flags.snapshot);
  }
  const done = await replayed(terminal, file, asked?.snapshot);
  if (done.writer !== version) terminal.err(`recorded by version ${done.writer}, replayed by ${version}\n`);
  if (done.wasCut) terminal.err('the recording was cut off: replayed up to the cut\n');
  if (done.missed > 0)
    terminal.err(`${counted(done.missed, 'line')} missing: they came faster than they were written\n`);
  if (done.difference !== undefined) {
    terminal.out(`${done.difference}\n`);
    return exitCode.findings;
  }
  if (asked !== undefined && done.passes === 0) {
    terminal.out('What it looked at is not in this part of the recording.\n');
    return exitCode.findings;
  }
  const what =
    asked === undefined
      ? `${counted(done.passes, 'answer')}, ${counted(done.decisions.size, 'decision')}`
      : 'made again';
  terminal.out(`${what}: equal, byte for byte\n`);
  return exitCode.ok;
}

async function writeSnapshot(terminal: Terminal, file: string, id: string, to: string): Promise<number> {
  const found = await new RecordedDay(file, new RealClock()).snapshotOf(id);
  if (found === undefined) {
    terminal.out('What it looked at is not in this part of the recording.\n');
    return exitCode.findings;
  }
  await writeWhole(to, `${JSON.stringify(found.snapshot)}\n`, 0o600);
  terminal.out(`${to}: ${id}, what it looked at\n`);
  return exitCode.ok;
}

async function redact(terminal: Terminal, file: string, to: string): Promise<number> {
  if (resolve(file) === resolve(to))
    throw new KerfError('FlagsInvalid', `--redact ${to} is the recording itself; name another file`);
  const { redactRecording } = await import('./redact-recording.ts');
  const { passes, decisions } = await redactRecording(new RealClock(), file, to);
  terminal.out(`${to}: ${counted(passes, 'answer')}, ${counted(decisions, 'decision')}, without names and texts\n`);
  return exitCode.ok;
}

async function otherDay(terminal: Terminal, file: string, flags: Flags): Promise<number> {
  const { playOtherDay, poolsIn } = await import('./play-other-day.ts');
  const { with: files = [], without = [], output } = flags;
  const progress = progressLine(terminal);
  const change = { pools: await poolsIn(files), without: new Set(without) };
  const name = [...files.map((each) => `with ${basename(each)}`), ...without.map((each) => `without ${each}`)].join(
    ', ',
  );
  const report = await playOtherDay(file, change, name, (text) => progress.show(() => text));
  progress.clear();
  if (output === 'json') terminal.out(`${JSON.stringify(report, undefined, 2)}\n`);
  else terminal.out(otherDayPage(report, paintFor(terminal)));
  return exitCode.ok;
}

async function findDecision(file: string, id: string): Promise<Decision> {
  let found: Decision | undefined;
  let last = '';
  for await (const line of readRecording(file, () => {})) {
    if (line.kind !== 'Decision') continue;
    last = line.id;
    // The last record of it, which has its outcome.
    if (line.id === id) found = line;
  }
  if (found !== undefined) return found;
  const hint = last === '' ? 'it holds no decisions' : `the last one is ${last}`;
  throw new KerfError('NotFound', `there is no decision ${id} in ${file}: ${hint}`, { subject: id });
}

async function replayed(terminal: Terminal, file: string, snapshot: string | undefined): Promise<Replayed> {
  const done: Replayed = { passes: 0, decisions: new Map(), missed: 0, wasCut: false, writer: '' };
  const clock = new RealClock();
  const again = new SnapshotsAgain();
  const progress = progressLine(terminal);
  const onCut = (): void => {
    done.wasCut = true;
  };
  for await (const line of readRecording(file, onCut)) {
    if (line.kind === 'Recording') done.writer = line.version;
    else if (line.kind === 'Missed') done.missed += line.passes;
    else if (line.kind === 'Decision') done.decisions.set(line.id, line);
    else if (line.kind === 'Look') again.snapshotOf(line);
    else if (line.kind !== 'Pass') again.take(line);
    else {
      const looked = again.snapshotOf(line);
      if (snapshot !== undefined && line.snapshot !== snapshot) continue;
      done.passes += 1;
      progress.show(() => `answer ${done.passes}, ${line.time}`);
      const now = JSON.stringify(await answerTo(clock, line.question, looked));
      const then = JSON.stringify(line.result);
      if (now === then) continue;
      done.difference = differenceText(line, done.passes, then, now);
      break;
    }
  }
  progress.clear();
  return done;
}

function differenceText({ time, snapshot, question }: PassLine, pass: number, then: string, now: string): string {
  const { path, before, after } = firstDifference(JSON.parse(then), JSON.parse(now));
  return [
    `differs: ${question.what} of ${time}, answer ${pass}, snapshot ${snapshot}`,
    `  first difference at ${path === '' ? 'the whole answer' : path}`,
    `  decided:  ${before}`,
    `  replayed: ${after}`,
  ].join('\n');
}
