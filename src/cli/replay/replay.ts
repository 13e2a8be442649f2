// `kerf replay FILE`: makes every recorded decision again from what it looked at, and compares the answers byte for byte.
import type { Command } from 'commander';
import { KerfError } from '../../base/index.ts';
import type { Decision } from '../../ports/index.ts';
import { RealClock } from '../../runtime/index.ts';
import { answerTo, type PassLine, readRecording, SnapshotsAgain } from '../../server/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { counted, progressLine } from '../output/index.ts';
import { version } from '../version.ts';
import { decisionPage } from './decision-page.ts';
import { firstDifference } from './first-difference.ts';

interface Flags {
  at?: string;
}

const help = `
Exit code: 0 every answer is the same, 1 one differs (the first difference is printed), 2 the file cannot be read.
A recording that was cut off, because its process was killed, is replayed up to the cut.

Examples:
  kerf up --demo --record day.jsonl.gz
  kerf replay day.jsonl.gz
  kerf replay day.jsonl.gz --at d-0042        one decision, with its alternatives`;

export function configure(command: Command, run: CommandRunner): void {
  command
    .description('Make recorded decisions again from what they looked at, and compare them with what was decided.')
    .argument('<file>', 'a recording, made with --record')
    .option('--at <id>', 'print this decision with its alternatives, and make only it again')
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
  const asked = flags.at === undefined ? undefined : await findDecision(file, flags.at);
  if (asked !== undefined) {
    terminal.out(decisionPage(asked));
    if (asked.snapshot === undefined) {
      terminal.out('It was not made from a snapshot: there is nothing to make again.\n');
      return exitCode.ok;
    }
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
