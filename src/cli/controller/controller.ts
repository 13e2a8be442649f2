// `kerf controller`: the autoscaler itself, for a cluster reached through a kubeconfig or from inside a pod.
import { type Command, Option } from 'commander';
import pc from 'picocolors';
import { KerfError, messageOf } from '../../base/index.ts';
import { findAccess } from '../../kube/index.ts';
import { RealClock } from '../../runtime/index.ts';
import {
  awsProvider,
  awsSettingDefinitions,
  parseSettings,
  runControllerProcess,
  type SettingDefinition,
  settingDefinitions,
} from '../../server/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
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
    .option('--fake-kubelets', 'play kubelet for the nodes of the kwok provider, where no KWOK controller runs')
    .option('--instance-types-file-path <file>', 'catalogue of the kwok provider (env INSTANCE_TYPES_FILE_PATH)');
  for (const { flag, kind, meaning, fallback, env } of definitions) {
    const value = kind === 'boolean' ? '[value]' : '<value>';
    command.addOption(
      new Option(`--${flag} ${value}`, `${meaning} (env ${env}, default ${fallback === '' ? 'empty' : fallback})`),
    );
  }
  command.addHelpText('after', examples).action(run((terminal: Terminal, flags: Flags) => control(terminal, flags)));
}

/** For what is left to be written after the end: log lines, answers of probes. */
const lastWordsMs = 2_000;

async function control(terminal: Terminal, flags: Flags): Promise<number> {
  const { env } = terminal;
  const provider = flags.provider ?? (env['KERF_PROVIDER'] || 'aws');
  if (provider !== 'aws' && provider !== 'kwok')
    throw new KerfError('ProviderUnknown', `cannot start: there is no provider ${provider}; use aws or kwok`);
  const { settings, aws, warnings } = parseSettings(
    settingFlags(flags),
    env,
    provider === 'aws' ? provider : undefined,
  );
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
  const makeProvider =
    aws === undefined
      ? kwokProvider({
          instanceTypesFile: flags.instanceTypesFilePath ?? env['INSTANCE_TYPES_FILE_PATH'],
          fakeKubelets: flags.fakeKubelets ?? false,
        })
      : awsProvider({ settings, aws, env, version, ownAuthority: access.tls.ca });
  const commit = env['KERF_COMMIT'] ?? 'unknown';
  const options = { settings, warnings, access, clock, env, version, commit, makeProvider };
  const outcome = await runControllerProcess(options, stop.signal).catch((error: unknown) => {
    if (aws === undefined) throw error;
    // What a chart's users know: 1 when AWS or the cluster cannot be worked with.
    const code = error instanceof KerfError ? ` (${error.code})` : '';
    terminal.err(`${pc.red('error')}: ${messageOf(error)}${code}\n`);
    return 'lost' as const;
  });
  // Whatever still waits for something must not hold up the end of a pod. A timer like this one holds up nothing.
  setTimeout(() => process.exit(), lastWordsMs).unref();
  return outcome === 'stopped' ? exitCode.ok : exitCode.findings;
}

/** Only the flags that were given, by their own names. */
function settingFlags(flags: Flags): Record<string, string> {
  const given: Record<string, string> = {};
  for (const { flag } of definitions) {
    const value = flags[flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    if (value !== undefined) given[flag] = String(value);
  }
  return given;
}
