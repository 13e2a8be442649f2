// `kerf controller`: the autoscaler itself, for a cluster reached through a kubeconfig or from inside a pod.
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { type Clock, KerfError, messageOf } from '../../base/index.ts';
import { nodeClaims } from '../../controllers/index.ts';
import { findAccess } from '../../kube/index.ts';
import type { Kube, Log } from '../../ports/index.ts';
import { type Part, RealClock } from '../../runtime/index.ts';
import { type Provider, parseSettings, runControllerProcess, settingDefinitions } from '../../server/index.ts';
import {
  genericCatalogue,
  KwokCloud,
  kwokProviderFacts,
  readCatalogueFile,
  startFakeKubelets,
} from '../../sim/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { version } from '../version.ts';

const examples = `
Examples:
  $ kerf controller --provider kwok --kubeconfig ./kubeconfig
  $ FEATURE_GATES=NodeRepair=true kerf controller --provider aws

Every flag can be given as an environment variable: --batch-max-duration is BATCH_MAX_DURATION. A flag wins over the
environment, which wins over the default.`;

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
    .option('--provider <name>', 'cloud to launch nodes in: aws or kwok (env KERF_PROVIDER)')
    .option(
      '--kubeconfig <file>',
      "cluster to work for; without it KUBECONFIG, the pod's own account or ~/.kube/config",
    )
    .option('--context <name>', 'context of the kubeconfig')
    .option('--fake-kubelets', 'play kubelet for the nodes of the kwok provider, where no KWOK controller runs')
    .option('--instance-types-file-path <file>', 'catalogue of the kwok provider (env INSTANCE_TYPES_FILE_PATH)');
  for (const { flag, kind, meaning, fallback, env } of Object.values(settingDefinitions)) {
    const value = kind === 'boolean' ? '[value]' : '<value>';
    command.addOption(
      new Option(`--${flag} ${value}`, `${meaning} (env ${env}, default ${fallback === '' ? 'empty' : fallback})`),
    );
  }
  command.addHelpText('after', examples).action(run((terminal: Terminal, flags: Flags) => control(terminal, flags)));
}

async function control(terminal: Terminal, flags: Flags): Promise<number> {
  const { env } = terminal;
  const { settings, warnings } = parseSettings(settingFlags(flags), env);
  const providerName = flags.provider ?? env['KERF_PROVIDER'] ?? 'aws';
  if (providerName !== 'kwok') {
    const why =
      providerName === 'aws'
        ? 'the aws provider is not part of this version yet'
        : `there is no provider ${providerName}`;
    throw new KerfError('ProviderUnavailable', `cannot start: ${why}; use --provider kwok`);
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
  const catalogue = catalogueOf(flags.instanceTypesFilePath ?? env['INSTANCE_TYPES_FILE_PATH']);
  const outcome = await runControllerProcess(
    {
      settings,
      warnings,
      access,
      clock,
      env,
      version,
      commit: env['KERF_COMMIT'] ?? 'unknown',
      makeProvider: ({ kube, log, random }): Promise<Provider> => {
        const cloud = new KwokCloud({ kube, clock, log, random, ...catalogue });
        const prepare = async (): Promise<void> => cloud.recover((await kube.list(nodeClaims)).items);
        const parts = flags.fakeKubelets ? [fakeKubelets(kube, clock, log)] : [];
        return Promise.resolve({ cloud, prepare, parts });
      },
    },
    stop.signal,
  );
  return outcome === 'stopped' ? exitCode.ok : exitCode.findings;
}

function fakeKubelets(kube: Kube, clock: Clock, log: Log): Part {
  return {
    name: 'fake kubelets',
    async run(signal) {
      const kubelets = startFakeKubelets(kube, clock, {
        onFailure: (error) => log.debug('fake kubelet', { error: messageOf(error) }),
      });
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      await kubelets.stop();
    },
  };
}

/** Only the flags that were given, by their own names. */
function settingFlags(flags: Flags): Record<string, string> {
  const given: Record<string, string> = {};
  for (const { flag } of Object.values(settingDefinitions)) {
    const value = flags[flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    if (value !== undefined) given[flag] = String(value);
  }
  return given;
}

function catalogueOf(file: string | undefined) {
  if (file === undefined || file === '') return { catalogue: genericCatalogue(), facts: kwokProviderFacts() };
  try {
    const { instanceTypes, offeringKeys } = readCatalogueFile(JSON.parse(readFileSync(file, 'utf8')), file);
    return { catalogue: instanceTypes, facts: kwokProviderFacts(offeringKeys) };
  } catch (error) {
    if (error instanceof KerfError) throw error;
    throw new KerfError('CatalogueUnreadable', `cannot read the instance types of ${file}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
