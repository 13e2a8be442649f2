// Turns flags and environment into settings. All problems are gathered before anything fails, so that a chart is fixed
// in one go. A malformed number, boolean or duration in the environment keeps the default and is reported as a warning
// (charts in the field rely on it); a malformed flag, choice or gate list is a problem.
import { KerfError, parseGoDuration } from '../../base/index.ts';
import { defaultGates, type SettingDefinition, type SettingName, settingDefinitions } from './definitions.ts';

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
  featureGates: Record<string, boolean>;
}

export interface ParsedSettings {
  settings: Settings;
  /** Values of the environment that were ignored, in words. */
  warnings: string[];
}

type Value = string | number | boolean | Record<string, boolean>;

/** `flags` holds the flags that were given, by name without the dashes. Throws one error that lists every problem. */
export function parseSettings(flags: Record<string, string>, env: Record<string, string | undefined>): ParsedSettings {
  const problems: string[] = [];
  const warnings: string[] = [];
  const read = <T extends Value>(name: SettingName): T => {
    const definition: SettingDefinition = settingDefinitions[name];
    const flag = flags[definition.flag];
    if (flag !== undefined) {
      const parsed = parseValue(definition, flag);
      if ('problem' in parsed) problems.push(`--${definition.flag}: ${parsed.problem}`);
      else return parsed.value as T;
    }
    const variable = env[definition.env];
    if (variable !== undefined && (variable !== '' || definition.kind === 'text')) {
      const parsed = parseValue(definition, variable);
      if (!('problem' in parsed)) return parsed.value as T;
      if (definition.kind === 'choice' || definition.kind === 'gates')
        problems.push(choiceProblem(definition, variable, parsed.problem));
      else warnings.push(`${definition.env}: ${parsed.problem}; using the default ${definition.fallback}`);
    }
    const fallback = parseValue(definition, definition.fallback);
    if ('problem' in fallback)
      throw new KerfError('SettingDefaultInvalid', `default of ${definition.flag}: ${fallback.problem}`);
    return fallback.value as T;
  };
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
    featureGates: read('featureGates'),
  };
  if (problems.length > 0) {
    const count = problems.length === 1 ? 'a setting is' : `${problems.length} settings are`;
    throw new KerfError(
      'SettingsInvalid',
      `cannot start, ${count} malformed:\n${problems.map((each) => `  ${each}`).join('\n')}`,
    );
  }
  return { settings, warnings };
}

function choiceProblem(definition: SettingDefinition, value: string, problem: string): string {
  return `invalid ${definition.env} "${value}": ${problem}`;
}

function parseValue(definition: SettingDefinition, text: string): { value: Value } | { problem: string } {
  switch (definition.kind) {
    case 'text':
      return { value: text };
    case 'integer':
      return /^[+-]?\d+$/.test(text) ? { value: Number(text) } : { problem: `"${text}" is not a whole number` };
    case 'boolean':
      return text === 'true' || text === 'false'
        ? { value: text === 'true' }
        : { problem: `"${text}" is neither true nor false` };
    case 'duration': {
      const ms = parseGoDuration(text);
      return ms === undefined ? { problem: `"${text}" is not a duration such as 10s or 1m30s` } : { value: ms };
    }
    case 'choice': {
      const choices = definition.choices ?? [];
      return choices.includes(text)
        ? { value: text }
        : { problem: `write one of ${choices.filter((each) => each !== '').join(', ')}` };
    }
    case 'gates':
      return parseGates(text);
  }
}

/** Unknown gates are ignored, missing ones keep their default; only a syntax error is a problem. */
function parseGates(text: string): { value: Record<string, boolean> } | { problem: string } {
  const gates: Record<string, boolean> = { ...defaultGates };
  for (const part of text.split(',').map((each) => each.trim())) {
    if (part === '') continue;
    const match = /^([^=]+)=(true|false)$/.exec(part);
    if (match?.[1] === undefined) return { problem: `"${part}" is not of the form Name=true or Name=false` };
    if (match[1] in gates) gates[match[1]] = match[2] === 'true';
  }
  return { value: gates };
}
