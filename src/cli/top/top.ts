// `kerf top`: the nodes of a cluster, what they cost and what keeps each, in a terminal that follows them.
import { type Command, Option } from 'commander';
import { KerfError } from '../../base/index.ts';
import { RealClock } from '../../runtime/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { type Ending, endOnSignals } from '../end-on-signals.ts';
import { paintFor } from '../output/index.ts';
import { visible } from '../output/visible.ts';
import { Feed } from './feed.ts';
import { frameLines } from './frame.ts';
import { readKeys } from './keys.ts';
import { commandFor, detailsOf, documentOf, otherListing } from './listings.ts';
import { jsonOf, nodeListing, picture, summary } from './picture.ts';
import { openSource, type Source } from './source.ts';
import { firstState, press, type Settings, sorts } from './state.ts';

interface Flags {
  context?: string | true;
  kubeconfig?: string;
  snapshot?: string;
  url?: string;
  once?: true;
  plain?: true;
  sort: Settings['sort'];
  output: 'table' | 'json';
}

/** At most four pictures a second, and none while nothing changed. */
const frameMs = 250;

const help = `
Keys: n w p d c show nodes, waiting pods, pools, decisions, cost; j k g G move, enter or e explains, y copies the command,
/ filters, s sorts, b groups, v shows only nodes that something keeps, space freezes, ? shows all keys, q quits.
In a pipe, with --plain or --once, lines are printed and no keys are read.

Examples:
  kerf top                             the cluster of the kubeconfig
  kerf top --url http://127.0.0.1:6481 a dashboard, such as that of npm start
  kerf top --snapshot cluster.json --once -o json`;

export function configure(command: Command, run: CommandRunner): void {
  command
    .description('Follow the nodes of a cluster: what they cost, what is on them, what keeps them.')
    .option('--context [name]', 'a live cluster: a context of the kubeconfig, the current one by default')
    .option('--kubeconfig <file>', 'kubeconfig to use')
    .option('--snapshot <file>', 'a snapshot (see `kerf snapshot`)')
    .option('--url <address>', 'a dashboard that runs, of `kerf up` or of a controller')
    .option('--once', 'print once and end')
    .option('--plain', 'one line per change, for screen readers and logs')
    .addOption(new Option('--sort <column>', 'order').choices(sorts).default('price'))
    .addOption(new Option('-o, --output <format>', 'format with --once').choices(['table', 'json']).default('table'))
    .addHelpText('after', help)
    .action(run(top));
}

async function top(terminal: Terminal, flags: Flags): Promise<number> {
  const given = [flags.context, flags.snapshot, flags.url].filter((each) => each !== undefined);
  if (given.length > 1) throw new KerfError('FlagsInvalid', 'give one of --context, --snapshot and --url');
  const ending = endOnSignals();
  const source = await Promise.race([openSource(terminal, flags, ending.signal), ending.ended]);
  // Nothing was shown yet, and what was asked may never be answered.
  if (source === undefined) process.exit(exitCode.ok);
  try {
    const isOnce = flags.once === true || flags.output === 'json' || flags.snapshot !== undefined;
    if (isOnce) return await printOnce(terminal, source, flags);
    if (flags.plain === true || !terminal.isTerminal) return await printChanges(terminal, source, ending.signal);
    return await follow(terminal, source, flags, ending);
  } finally {
    ending.abort();
    await source.close();
  }
}

async function printOnce(terminal: Terminal, source: Source, { output, sort }: Flags): Promise<number> {
  const seen = await source.read();
  if (output === 'json') terminal.out(`${JSON.stringify(jsonOf(seen), undefined, 2)}\n`);
  else {
    const settings: Settings = { sort, onlyKept: false, filter: '' };
    const columns = terminal.isTerminal ? terminal.columns : Number.POSITIVE_INFINITY;
    terminal.out(`${picture(seen, settings, { paint: paintFor(terminal), columns, rows: Infinity }).join('\n')}\n`);
  }
  return exitCode.ok;
}

async function printChanges(terminal: Terminal, source: Source, signal: AbortSignal): Promise<number> {
  const clock = new RealClock();
  let last = '';
  while (!signal.aborted) {
    const text = summary(await source.read());
    if (text !== last) terminal.out(`${text}\n`);
    last = text;
    await clock.sleep(frameMs * 4, signal).catch(() => undefined);
  }
  return exitCode.ok;
}

/** How long what was copied, or what went wrong, is said. */
const noteMs = 2_000;

async function follow(terminal: Terminal, source: Source, flags: Flags, stop: Ending): Promise<number> {
  const clock = new RealClock();
  const state = firstState(flags.sort);
  const paint = paintFor(terminal);
  // The other screen: what was there before is there again afterwards.
  const control = (text: string): void => (terminal.control ?? terminal.out)(text);
  let ids: readonly string[] = [];
  let note: { text: string; untilMs: number } | undefined;
  const say = (text: string): void => {
    note = { text, untilMs: clock.now() + noteMs };
  };
  const keys = readKeys((key) => {
    const act = press(state, key, ids);
    if (act?.kind === 'quit') stop.abort();
    if (act?.kind !== 'copy') return;
    const command = commandFor(state);
    if (command === undefined) return say('nothing to copy: move to a node, a pool or a decision first');
    // Terminals take this as a wish to copy, over ssh too; those that do not, drop it.
    control(`\x1b]52;c;${Buffer.from(command).toString('base64')}\x07`);
    return say(`copied: ${command}`);
  });
  let drawn: readonly string[] = [];
  control('\x1b[?1049h\x1b[?25l\x1b[2J');
  try {
    const feed = new Feed(source, await source.read());
    while (!stop.signal.aborted) {
      const verdictPath = `nodes/${encodeURIComponent(state.selected)}`;
      const path = state.view === 'nodes' ? (state.isOpen ? verdictPath : undefined) : documentOf[state.view];
      if (!state.isFrozen || (path !== undefined && !feed.has(path))) feed.ask(path);
      const frame = { paint, columns: terminal.columns - 1, rows: (process.stdout.rows || 30) - 1 };
      const { seen, problem } = feed;
      const document = feed.document(path);
      const listing =
        state.view === 'nodes' ? nodeListing(seen, state, frame) : otherListing(state, document, seen, frame);
      ids = listing.ids.filter((id) => id !== '');
      const details = state.isOpen ? detailsOf(state, document, { nowMs: seen.nowMs, paint }) : '';
      const said = problem ?? (note !== undefined && note.untilMs > clock.now() ? note.text : undefined);
      const lines = frameLines({ seen, state, listing, details, note: said }, frame);
      control(changedLines(drawn, lines));
      drawn = lines;
      await Promise.race([clock.sleep(frameMs, stop.signal).catch(() => undefined), keys.pressed()]);
    }
    return exitCode.ok;
  } finally {
    keys.close();
    control('\x1b[?25h\x1b[?1049l');
  }
}

/** Only the lines that differ from what is on the screen. */
function changedLines(before: readonly string[], after: readonly string[]): string {
  let text = '';
  for (let at = 0; at < Math.max(before.length, after.length); at++) {
    if (before[at] !== after[at]) text += `\x1b[${at + 1};1H${visible(after[at] ?? '')}\x1b[K`;
  }
  return text;
}
