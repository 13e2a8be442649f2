// `kerf controller`: the autoscaler itself, for a cluster reached through a kubeconfig or from inside a pod.
import type { Command } from 'commander';
import pc from 'picocolors';
import { KerfError, messageOf } from '../../base/index.ts';
import { findAccess } from '../../kube/index.ts';
import { RealClock } from '../../runtime/index.ts';
import {
  awsProvider,
  awsSettingDefinitions,
  defaultLeaseName,
  parseSettings,
  runControllerProcess,
  type SettingDefinition,
  type Settings,
  settingDefinitions,
  shadowLeaseName,
} from '../../server/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { addSettingFlags, settingFlags } from '../setting-flags.ts';
import { version } from '../version.ts';
import { kwokProvider } from './kwok-provider.ts';

const examples = `
Examples:
  $ kerf controller --provider kwok --kubeconfig ./kubeconfig
  $ kerf controller --cluster-name prod --interruption-queue prod
  $ FEATURE_GATES=NodeRepair=true CLUSTER_NAME=prod kerf controller --provider aws

Every flag can be given as an environment variable: --batch-max-duration is BATCH_MAX_DURATION. A flag wins over the
environment, which wins over the default.`;

const definitions: readonly SettingDefinition[] = [
  ...Object.values(settingDefinitions),
  ...Object.values(awsSettingDefinitions),
];

interface Flags {
  provider?: string;
  kubeconfig?: string;
  context?: string;
  instanceTypesFilePath?: string;
  fakeKubelets?: true;
  shadow?: true;
  shadowEvents?: true;
  /** A boolean flag without a value is `true`. */
  [setting: string]: string | true | undefined;
}

export function configure(command: Command, run: CommandRunner): void {
  command
    .option('--provider <name>', 'cloud to launch nodes in: aws or kwok (env KERF_PROVIDER, default aws)')
    .option(
      '--kubeconfig <file>',
      "cluster to work for; without it KUBECONFIG, the pod's own account or ~/.kube/config",
    )
    .option('--context <name>', 'context of the kubeconfig')
    .option('--shadow', 'run beside another autoscaler: look, plan, change nothing (docs/guide/switch.md)')
    .option('--shadow-events', 'with --shadow: events on NodePools that say what it would do')
    .option('--fake-kubelets', 'play kubelet for the nodes of the kwok provider, where no KWOK controller runs')
    .option('--instance-types-file-path <file>', 'catalogue of the kwok provider (env INSTANCE_TYPES_FILE_PATH)');
  addSettingFlags(command, definitions);
  command.addHelpText('after', examples).action(run((terminal: Terminal, flags: Flags) => control(terminal, flags)));
}

/** For what is left to be written after the end: log lines, answers of probes. */
const lastWordsMs = 2_000;
/** Another process may lead already. */
const lostWordsMs = 200;

async function control(terminal: Terminal, flags: Flags): Promise<number> {
  const { env } = terminal;
  const provider = flags.provider ?? (env['KERF_PROVIDER'] || 'aws');
  if (provider !== 'aws' && provider !== 'kwok')
    throw new KerfError('ProviderUnknown', `cannot start: there is no provider ${provider}; use aws or kwok`);
  const {
    settings: given,
    aws,
    warnings,
    notes,
  } = parseSettings(settingFlags(flags, definitions), env, provider === 'aws' ? provider : undefined);
  const settings = flags.shadow === true ? asShadow(given) : given;
  // Whoever read the log is gone: a controller works on without.
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error');
    stream.on('error', () => {});
  }
  const clock = new RealClock();
  const access = await findAccess({
    clock,
    env,
    ...(flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig }),
    ...(flags.context === undefined ? {} : { context: flags.context }),
  });
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => stop.abort(new Error(`received ${signal}`)));
  const instanceTypesFile = flags.instanceTypesFilePath ?? env['INSTANCE_TYPES_FILE_PATH'];
  const makeProvider =
    aws === undefined
      ? kwokProvider({ instanceTypesFile, fakeKubelets: flags.fakeKubelets ?? false })
      : awsProvider({ settings, aws, env, version, ownAuthority: access.tls.ca });
  const commit = env['KERF_COMMIT'] ?? 'unknown';
  const about =
    aws === undefined
      ? instanceTypesFile
        ? { catalogue: instanceTypesFile }
        : {}
      : { reservedEnis: aws.reservedEnis, vmMemoryOverheadPercent: aws.vmMemoryOverheadPercent };
  // Loaded only when someone asks: the rules of manifests are a large part of the command.
  const validate = async (text: string) => (await import('../validate/findings-in.ts')).findingsIn(text);
  const shadow = flags.shadow === true ? { events: flags.shadowEvents === true } : undefined;
  const options = {
    settings,
    warnings,
    notes,
    access,
    clock,
    env,
    version,
    commit,
    about,
    makeProvider,
    validate,
    ...(shadow === undefined ? {} : { shadow }),
  };
  const outcome = await runControllerProcess(options, stop.signal).catch((error: unknown) => {
    if (aws === undefined) throw error;
    // What a chart's users know: 1 when AWS or the cluster cannot be worked with.
    const code = error instanceof KerfError ? ` (${error.code})` : '';
    terminal.err(`${pc.red('error')}: ${messageOf(error)}${code}\n`);
    return 'lost' as const;
  });
  // Whatever still waits for something must not hold up the end of a pod. A timer like this one holds up nothing.
  setTimeout(() => process.exit(), outcome === 'stopped' ? lastWordsMs : lostWordsMs).unref();
  return outcome === 'stopped' ? exitCode.ok : exitCode.findings;
}

/** Never the lease that the other autoscaler holds. */
const asShadow = (settings: Settings): Settings =>
  settings.leaderElectionName === defaultLeaseName ? { ...settings, leaderElectionName: shadowLeaseName } : settings;
