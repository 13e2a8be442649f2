// `kerf up`: a whole simulated cluster in this process, with our controllers at work, for kubectl and the eye.
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { KwokFaults } from '../../api/index.ts';
import { type Clock, parseGoDuration, seededRandom } from '../../base/index.ts';
import { verdictCode } from '../../core/index.ts';
import type { Log } from '../../ports/index.ts';
import { RealClock } from '../../runtime/index.ts';
import { growSlowly, parseSettings, type SettingDefinition, settingDefinitions } from '../../server/index.ts';
import { type Behaviour, createCluster, KwokCloud, SimKube, serveApi, startBehaviour } from '../../sim/index.ts';
import { jsonLog, silentLog } from '../../telemetry/index.ts';
import { decisionText } from '../../view/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { endOnSignals } from '../end-on-signals.ts';
import { paintFor } from '../output/index.ts';
import { addSettingFlags, settingFlags } from '../setting-flags.ts';
import { type SimulatedCatalogue, simulatedCatalogue, simulatedCatalogues } from '../simulated-catalogue.ts';
import { type Controllers, makeControllers } from './controllers.ts';
import { serveUpDashboard } from './dashboard.ts';
import { installDefaults, installDefinitions } from './default-objects.ts';
import { startDemo } from './demo/demo.ts';
import { faultsIn } from './faults-flag.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { isInForeground, listenForKeys, openInBrowser } from './open-in-browser.ts';
import { overview } from './overview.ts';
import { clockFrom, ScaledClock } from './scaled-clock.ts';
import { type Screen, screenFor } from './screen.ts';
import { somethingToTry } from './something-to-try.ts';

interface Flags {
  port: number;
  listen: string;
  kubeconfig?: string;
  state?: string;
  seed: number;
  speed: number;
  demo?: true;
  day: number;
  catalogue: SimulatedCatalogue;
  controllers: boolean;
  faults?: KwokFaults;
  log?: string;
  record?: string;
  dashboardPort?: number;
}

/** Settings of the controller that mean something here; the others are about a process of its own. */
const ownSettings: readonly SettingDefinition[] = [
  settingDefinitions.batchMaxDuration,
  settingDefinitions.batchIdleDuration,
  settingDefinitions.preferencePolicy,
  settingDefinitions.minValuesPolicy,
  settingDefinitions.ignoreDraRequests,
  settingDefinitions.budgetTimeZone,
  settingDefinitions.consolidationPayback,
  settingDefinitions.expirationGrace,
  settingDefinitions.keepDaemonSetRoom,
  settingDefinitions.legacyNodeRepair,
  settingDefinitions.schedulerConfig,
  settingDefinitions.featureGates,
];

/** Of the environment only these: a port or a lease meant for another process must not change this one. */
function settingVariables(env: Terminal['env']): Terminal['env'] {
  return Object.fromEntries(ownSettings.map((each) => [each.env, env[each.env]]));
}

const defaultPort = 6480;
const frameMs = 1_000;
/** Of the last decisions, below the tables. */
const shownDecisions = 3;

const help = `
The cluster is simulated: nodes and pods are objects, nothing runs. It listens on loopback only, without passwords.

Examples:
  kerf up --demo
  kerf up --demo --day 5m                     a day of the company in five minutes
  kerf up --feature-gates SpotToSpotConsolidation=true
  kerf up --state ./cluster.json              go on where it was stopped
  kerf up --speed 60 --no-controllers         a minute per second; nodes are yours to make
  kerf up --demo --faults '{"interruption":[{"after":"5m","percent":20}]}'

Ctrl-C ends it; twice ends it at once.`;

export function configure(command: Command, run: CommandRunner): void {
  command
    .description('Start a simulated cluster with the autoscaler at work, in one process.')
    .option('--port <number>', 'port of the API; 0 for any free one', wholeNumber(0, 65_535), defaultPort)
    .option('--listen <address>', 'address to listen on; anyone who reaches it has full control', '127.0.0.1')
    .option('--kubeconfig <file>', 'where to write the kubeconfig')
    .option('--state <file>', 'keep the cluster in this file, and start from it if it exists')
    .option('--seed <number>', 'makes names and choices the same in every run', wholeNumber(0, 2 ** 31), 1)
    .option('--speed <factor>', "how much faster than yours the cluster's time passes", factor, 1)
    .option('--demo', 'run a small company whose load follows the day')
    .addOption(
      new Option('--day <duration>', 'how long a day of the demo takes').argParser(duration).default(1_200_000, '20m'),
    )
    .addOption(new Option('--catalogue <name>', 'instance types').choices(simulatedCatalogues).default('ec2'))
    .option('--no-controllers', 'leave our controllers out')
    .option('--faults <json>', 'what goes wrong, as in spec.faults of a KWOKNodeClass', faultsIn)
    .option(
      '--dashboard-port <number>',
      'port of the dashboard; by default the one after --port, 0 for any free one',
      wholeNumber(0, 65_535),
    )
    .option('--record <file>', 'record decisions to this file, with what they looked at, for kerf replay')
    .option('--log <file>', "write the controllers' log to this file");
  addSettingFlags(command, ownSettings);
  command.addHelpText('after', help).action(run(up));
}

async function up(terminal: Terminal, flags: Flags): Promise<number> {
  const { settings, warnings } = parseSettings(settingFlags(flags, ownSettings), settingVariables(terminal.env));
  for (const warning of warnings) terminal.err(`note: ${warning}\n`);
  const random = seededRandom(flags.seed);
  let clock = new ScaledClock(new RealClock(), flags.speed);
  const cluster = await createCluster({
    clock: (latestMs) => (clock = clockFrom(new RealClock(), flags.speed, latestMs)),
    seed: flags.seed,
    ...(flags.state === undefined ? {} : { stateFile: resolve(flags.state) }),
  });
  const log = logTo(flags.log, clock);
  const onFailure = (error: unknown): void => log.error('simulated cluster', error);
  // What was started is ended in the opposite order, whatever happens in between.
  const memory = growSlowly({ clock: new RealClock() });
  const enders: (() => unknown)[] = [() => memory.dispose(), () => cluster.stop()];
  try {
    const kube = new SimKube(cluster.machinery);
    await installDefinitions(kube);
    // The controllers, whose metrics they are, are put together after the API they talk to.
    const later: { metrics?: Controllers['metrics'] } = {};
    const metrics = () => later.metrics;
    const wallClock = Date.now;
    const server = await serveApi(cluster.machinery, { port: flags.port, host: flags.listen, metrics, wallClock });
    enders.push(() => server.close());
    // A folder of its own, which no one else could have prepared.
    const folder = flags.kubeconfig === undefined ? mkdtempSync(join(tmpdir(), 'kerf-up-')) : undefined;
    if (folder !== undefined) enders.push(() => rmSync(folder, { recursive: true, force: true }));
    const kubeconfig = resolve(flags.kubeconfig ?? join(folder ?? '', `kerf-up-${server.port}.kubeconfig`));
    await writeKubeconfig(kubeconfig, server.url);
    const ending = endOnSignals();
    const { catalogue, facts } = await simulatedCatalogue(flags.catalogue);
    const cloud = new KwokCloud({ kube, clock, log, random, catalogue, facts });
    enders.push(() => cloud.dispose());
    const pace = { speed: () => (clock.paused ? 0 : clock.speed), real: new RealClock() };
    const record = flags.record === undefined ? {} : { record: resolve(flags.record) };
    const about = { settings, catalogue: flags.catalogue, pace, act: flags.controllers, ...record };
    const parts = makeControllers({ kube, clock, cloud, log, random, ...about });
    later.metrics = parts.metrics;
    const port = flags.dashboardPort ?? (flags.port === 0 ? 0 : flags.port + 1);
    const dashboard = await serveUpDashboard({ ...parts, kube, clock, cloud, host: flags.listen, port, kubeconfig });
    enders.push(() => dashboard.close());
    const hasKeys = terminal.isTerminal && process.stdin.isTTY && isInForeground();
    const heading = welcome(terminal, { api: server.url, dashboard: dashboard.url, kubeconfig, hasKeys });
    const screen = screenFor(terminal, () => process.stdout.rows, heading);
    await installDefaults(kube, { catalogue: flags.catalogue, faults: flags.faults });
    const behaviour = startBehaviour(kube, clock, { random, onFailure });
    enders.push(() => behaviour.stop());
    const controllers = parts.run(ending.signal);
    enders.push(() => {
      ending.abort();
      return controllers.catch(() => undefined);
    });
    if (flags.demo) {
      const demo = await startDemo({ kube, clock, dayMs: flags.day, onFailure });
      enders.push(() => demo.dispose());
    }
    enders.push(showCluster(terminal, screen, behaviour, clock, parts));
    if (hasKeys) {
      const open = (): void => openInBrowser(dashboard.url);
      enders.push(listenForKeys(process.stdin, { open, signal: (name) => process.kill(0, name) }));
    }
    // A controller that fails is as much an end as Ctrl-C; where there are none, nothing of them can end.
    await Promise.race([ending.ended, controllers.then(() => ending.ended)]);
    return exitCode.ok;
  } finally {
    for (const end of enders.reverse()) await end();
  }
}

/** Draws until the result is called. */
function showCluster(
  terminal: Terminal,
  screen: Screen,
  behaviour: Behaviour,
  clock: Clock,
  { live, decisions }: Pick<Controllers, 'live' | 'decisions'>,
): () => void {
  const frames = setInterval(() => {
    const time = new Date(clock.now()).toISOString().slice(11, 19);
    const verdicts = new Map(live.allVerdicts().map((each) => [each.node, verdictCode(each)]));
    const seen = overview(behaviour.nodes(), behaviour.pods(), clock.now(), (node) => verdicts.get(node) ?? '');
    const all = [...decisions.all()];
    const last = all.slice(-shownDecisions).map((each) => `${each.time.slice(11, 19)}  ${decisionText(each)}`);
    screen.show(seen, time, last, somethingToTry(seen, all));
  }, frameMs);
  return () => {
    clearInterval(frames);
    screen.end();
    terminal.out('stopping\n');
  };
}

function welcome(
  terminal: Terminal,
  { api, dashboard, kubeconfig, hasKeys }: { api: string; dashboard: string; kubeconfig: string; hasKeys: boolean },
): string {
  const paint = paintFor(terminal);
  return [
    `Dashboard ${paint.bold(dashboard)}${hasKeys ? paint.dim('   o opens it') : ''}`,
    '',
    `A simulated Kubernetes listens on ${paint.bold(api)}. In another terminal:`,
    '',
    `  ${paint.cyan(`export KUBECONFIG=${kubeconfig}`)}`,
    `  ${paint.cyan('kubectl get nodepools,nodeclaims,nodes')}`,
    '',
    '',
  ].join('\n');
}

function logTo(file: string | undefined, clock: Clock): Log {
  if (file === undefined) return silentLog;
  const stream = createWriteStream(file, { flags: 'a' });
  stream.on('error', (error) => {
    process.stderr.write(`cannot write the log to ${file}: ${error.message}; change --log\n`);
    process.exit(exitCode.failure);
  });
  const write = (line: string): void => void stream.write(line);
  return jsonLog({ level: 'info', commit: 'up', now: () => clock.now(), write });
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`write a whole number from ${least} to ${most}.`);
  };
}

function factor(text: string): number {
  const value = Number(text);
  if (value > 0 && value <= 10_000) return value;
  throw new InvalidArgumentError('write a number above 0 and up to 10000: 60 makes a minute of a second.');
}

function duration(text: string): number {
  const value = parseGoDuration(text);
  if (value !== undefined && value >= 1_000) return value;
  throw new InvalidArgumentError('write a duration of at least a second: 90s, 20m, 24h.');
}
