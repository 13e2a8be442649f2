// Turns flags and environment into settings. All problems are gathered before anything fails, so that a chart is fixed
// in one go. A malformed number, boolean or duration in the environment keeps the default and is reported as a warning
// (charts in the field rely on it); a malformed flag, choice or gate list is a problem.
import { KerfError, nearestName } from '../../base/index.ts';
import { type DefaultSpreadConstraint, isTimeZone } from '../../core/index.ts';
import { type AwsSettings, awsSettingDefinitions, readAwsSettings } from './aws.ts';
import { deviceGates, otherVariables, type SettingName, settingDefinitions } from './definitions.ts';
import { SettingReader, type Value } from './reader.ts';
import { parseSchedulerConfig } from './scheduler-config.ts';

export interface Settings {
  karpenterService: string;
  metricsPort: number;
  healthProbePort: number;
  /** 0: no dashboard. */
  /** Empty for none. */
  record: string;
  dashboardPort: number;
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
  nodeCostPerHour: number;
  expirationGraceMs: number;
  keepDaemonSetRoom: boolean;
  legacyNodeRepair: boolean;
  /** Of pods that declare no spread, as kube-scheduler is configured. */
  defaultSpread: DefaultSpreadConstraint[];
  featureGates: Record<string, boolean>;
}

export interface ParsedSettings {
  settings: Settings;
  /** Of the aws provider; only when that is asked for, because one of them has no default. */
  aws?: AwsSettings;
  /** Values of the environment that were ignored, in words. */
  warnings: string[];
  /** Choices that are accepted and change nothing, in words. */
  notes: string[];
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
    record: read('record'),
    dashboardPort: read('dashboardPort'),
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
    nodeCostPerHour: read('nodeCostPerHour'),
    expirationGraceMs: read('expirationGrace'),
    keepDaemonSetRoom: read('keepDaemonSetRoom'),
    legacyNodeRepair: read('legacyNodeRepair'),
    defaultSpread: readSpread(reader),
    featureGates: read('featureGates'),
  };
  if (!isTimeZone(settings.budgetTimeZone)) {
    reader.problems.push(
      `budget-time-zone: there is no time zone "${settings.budgetTimeZone}"; write UTC or a name like Europe/Berlin`,
    );
  }
  if (settings.nodeCostPerHour < 0) {
    reader.problems.push(
      `node-cost-per-hour: ${settings.nodeCostPerHour} is negative; write USD per hour, for example 0.005`,
    );
  }
  const aws = provider === 'aws' ? readAwsSettings(reader) : undefined;
  for (const gate of deviceGates) {
    if (settings.ignoreDraRequests && aws?.awsFeatureGates[gate] === true)
      reader.notes.push(`${gate} changes nothing while ignore-dra-requests is true: set it to false`);
  }
  reader.notes.push(...withoutRepair(settings, aws));
  reader.warnings.push(...unknownVariables(env));
  const { problems, warnings, notes } = reader;
  if (problems.length > 0) {
    // What would only be a warning is listed too: whoever fixes one fixes all.
    const all = [...problems, ...warnings];
    const count = all.length === 1 ? 'a setting is' : `${all.length} settings are`;
    throw new KerfError(
      'SettingsInvalid',
      `cannot start, ${count} malformed:\n${all.map((each) => `  ${each}`).join('\n')}`,
    );
  }
  return { settings, ...(aws === undefined ? {} : { aws }), warnings, notes };
}

/** Choices about repair that need it to be on, as a disruption method. */
function withoutRepair(
  { featureGates, legacyNodeRepair }: Settings,
  aws: Pick<AwsSettings, 'awsFeatureGates'> | undefined,
): string[] {
  const isOn = featureGates['NodeRepair'] === true;
  const chosen = [
    ...(featureGates['TerminateFirstRepair'] === true ? ['TerminateFirstRepair'] : []),
    ...(aws?.awsFeatureGates['RebootForRepair'] === true ? ['RebootForRepair'] : []),
  ];
  if (isOn) {
    if (!legacyNodeRepair) return [];
    return chosen.map((gate) => `${gate} changes nothing while legacy-node-repair is true: set it to false`);
  }
  if (legacyNodeRepair) chosen.push(settingDefinitions.legacyNodeRepair.flag);
  return chosen.map((each) => `${each} changes nothing while the gate NodeRepair is off: add NodeRepair=true`);
}

function readSpread(reader: SettingReader): DefaultSpreadConstraint[] {
  const { flag, env } = settingDefinitions.schedulerConfig;
  const parsed = parseSchedulerConfig(reader.read(settingDefinitions.schedulerConfig));
  if (!('problem' in parsed)) return parsed.constraints;
  reader.problems.push(`--${flag} (${env}): ${parsed.problem}`);
  return [];
}

/** What Kubernetes tells every pod about a Service called kerf. */
const serviceLink = /_SERVICE_(HOST|PORT)(_|$)|_PORT(_\d+_(TCP|UDP|SCTP)(_|$)|$)/;

/** Variables that begin like ours and are read by nothing: a typing error that would otherwise go unseen. */
function unknownVariables(env: Record<string, string | undefined>): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('KERF_') && !otherVariables.includes(name) && !serviceLink.test(name))
    .map((name) => {
      const settings = Object.values({ ...settingDefinitions, ...awsSettingDefinitions }).map((each) => each.env);
      const near = nearestName(name, otherVariables) ?? nearestName(name.slice('KERF_'.length), settings);
      return `${name}: there is no such variable${near === undefined ? '' : `; did you mean ${near}?`}`;
    });
}
