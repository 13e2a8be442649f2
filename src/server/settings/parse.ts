// Turns flags and environment into settings. All problems are gathered before anything fails, so that a chart is fixed
// in one go. A malformed number, boolean or duration in the environment keeps the default and is reported as a warning
// (charts in the field rely on it); a malformed flag, choice or gate list is a problem.
import { KerfError } from '../../base/index.ts';
import { isTimeZone } from '../../core/index.ts';
import { type AwsSettings, readAwsSettings } from './aws.ts';
import { type SettingName, settingDefinitions } from './definitions.ts';
import { SettingReader, type Value } from './reader.ts';

export interface Settings {
  karpenterService: string;
  metricsPort: number;
  healthProbePort: number;
  kubeClientQps: number;
  kubeClientBurst: number;
  enableProfiling: boolean;
  disableControllerWarmup: boolean;
  disableLeaderElection: boolean;
  disableClusterStateObservability: boolean;
  leaderElectionName: string;
  leaderElectionNamespace: string;
  memoryLimit: number;
  cpuRequests: number;
  logLevel: 'debug' | 'info' | 'error';
  logOutputPaths: string[];
  logErrorOutputPaths: string[];
  batchMaxDurationMs: number;
  batchIdleDurationMs: number;
  preferencePolicy: 'Respect' | 'Ignore';
  minValuesPolicy: 'Strict' | 'BestEffort';
  ignoreDraRequests: boolean;
  budgetTimeZone: string;
  consolidationPaybackMs: number;
  expirationGraceMs: number;
  featureGates: Record<string, boolean>;
}

export interface ParsedSettings {
  settings: Settings;
  /** Of the aws provider; only when that is asked for, because one of them has no default. */
  aws?: AwsSettings;
  /** Values of the environment that were ignored, in words. */
  warnings: string[];
}

/** `flags` holds the flags that were given, by name without the dashes. Throws one error that lists every problem. */
export function parseSettings(
  flags: Record<string, string>,
  env: Record<string, string | undefined>,
  provider?: 'aws',
): ParsedSettings {
  const reader = new SettingReader(flags, env);
  const read = <T extends Value>(name: SettingName): T => reader.read(settingDefinitions[name]);
  const list = (text: string): string[] =>
    text
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '');
  const cpuRequests = read<number>('cpuRequests');
  const settings: Settings = {
    karpenterService: read('karpenterService'),
    metricsPort: read('metricsPort'),
    healthProbePort: read('healthProbePort'),
    kubeClientQps: read('kubeClientQps'),
    kubeClientBurst: read('kubeClientBurst'),
    enableProfiling: read('enableProfiling'),
    disableControllerWarmup: read('disableControllerWarmup'),
    disableLeaderElection: read('disableLeaderElection'),
    disableClusterStateObservability: read('disableClusterStateObservability'),
    leaderElectionName: read('leaderElectionName'),
    leaderElectionNamespace: read('leaderElectionNamespace'),
    memoryLimit: read('memoryLimit'),
    cpuRequests: cpuRequests <= 0 ? 1000 : cpuRequests,
    logLevel: (read<string>('logLevel') || 'info') as Settings['logLevel'],
    logOutputPaths: list(read('logOutputPaths')),
    logErrorOutputPaths: list(read('logErrorOutputPaths')),
    batchMaxDurationMs: read('batchMaxDuration'),
    batchIdleDurationMs: read('batchIdleDuration'),
    preferencePolicy: read('preferencePolicy'),
    minValuesPolicy: read('minValuesPolicy'),
    ignoreDraRequests: read('ignoreDraRequests'),
    budgetTimeZone: read('budgetTimeZone'),
    consolidationPaybackMs: read('consolidationPayback'),
    expirationGraceMs: read('expirationGrace'),
    featureGates: read('featureGates'),
  };
  if (!isTimeZone(settings.budgetTimeZone)) {
    reader.problems.push(
      `budget-time-zone: there is no time zone "${settings.budgetTimeZone}"; write UTC or a name like Europe/Berlin`,
    );
  }
  const aws = provider === 'aws' ? readAwsSettings(reader) : undefined;
  const { problems, warnings } = reader;
  if (problems.length > 0) {
    // What would only be a warning is listed too: whoever mends one mends all.
    const all = [...problems, ...warnings];
    const count = all.length === 1 ? 'a setting is' : `${all.length} settings are`;
    throw new KerfError(
      'SettingsInvalid',
      `cannot start, ${count} malformed:\n${all.map((each) => `  ${each}`).join('\n')}`,
    );
  }
  return { settings, ...(aws === undefined ? {} : { aws }), warnings };
}
