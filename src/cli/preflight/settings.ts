// What becomes of the settings of today: variables and flags of the running Deployment, and a values file of its chart.

import { KerfError, messageOf, nearestName } from '../../base/index.ts';
import {
  awsSettingDefinitions,
  defaultGates,
  parseSettings,
  type Settings,
  settingDefinitions,
} from '../../server/index.ts';
import { asList, asMap, asText, isMap } from '../manifests/index.ts';
import type { Finding, SettingLine } from './report.ts';
import { misfit, type ValueSchema } from './value-misfit.ts';

export interface SettingsFound {
  settings: SettingLine[];
  gates: string[];
  findings: Finding[];
  /** Settings that are given, by the name of their variable. */
  variables: Record<string, string>;
}

/** Undefined where the controller would not start with them. */
export function readSettings(variables: Record<string, string>): Settings | undefined {
  try {
    return parseSettings({}, variables).settings;
  } catch (error) {
    if (error instanceof KerfError) return undefined;
    throw error;
  }
}

/** Variables that the chart and the SDK use, which are not settings. */
const otherVariables =
  /^(AWS_|KERF_|KUBERNETES_|GOMEMLIMIT|GOGC|HTTPS?_PROXY|NO_PROXY|SYSTEM_NAMESPACE|CONFIG_|POD_|HOSTNAME|LOG_)/;

/** Flags of `kerf controller` that are not settings. */
const ownFlags: readonly string[] = [
  'provider',
  'shadow',
  'shadow-events',
  'fake-kubelets',
  'instance-types-file-path',
];

/** Of a container: `env` with plain values, and `args`. */
export function settingsOfContainer(container: Record<string, unknown>, isAws: boolean): SettingsFound {
  const found: SettingsFound = { settings: [], gates: [], findings: [], variables: {} };
  const flags: Record<string, string> = {};
  for (const arg of asList(container['args']).map(String)) {
    const [, flag, value = 'true'] = /^--([\w-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (flag !== undefined) flags[flag] = value;
  }
  const env: Record<string, string> = {};
  for (const entry of asList(container['env']).map(asMap)) {
    const [name, value] = [asText(entry['name']) ?? '', asText(entry['value'])];
    if (value !== undefined) env[name] = value;
    else if (definitionOf(name) !== undefined)
      found.settings.push({ name, value: '(from elsewhere)', becomes: `--${definitionOf(name)?.flag}` });
  }
  if (asList(container['envFrom']).length > 0)
    found.findings.push({
      level: 'look',
      about: 'envFrom',
      text: 'variables from ConfigMaps or Secrets were not read',
    });
  describe(found, env, flags);
  judge(found, env, flags, isAws);
  return found;
}

const definitions = [...Object.values(settingDefinitions), ...Object.values(awsSettingDefinitions)];
const definitionOf = (env: string) => definitions.find((each) => each.env === env);

function describe(found: SettingsFound, env: Record<string, string>, flags: Record<string, string>): void {
  for (const [name, value] of Object.entries(env)) {
    const definition = definitionOf(name);
    if (definition !== undefined) {
      found.settings.push({ name, value, becomes: `--${definition.flag}, the same` });
      found.variables[name] = value;
    }
    if (definition === undefined && !otherVariables.test(name))
      found.findings.push({
        level: 'look',
        about: name,
        text: 'this variable is not a setting of Kerf and has no effect',
        ...near(
          name,
          definitions.map((each) => each.env),
        ),
      });
  }
  for (const [flag, value] of Object.entries(flags)) {
    const definition = definitions.find((each) => each.flag === flag);
    if (definition !== undefined) {
      found.settings.push({ name: `--${flag}`, value, becomes: 'the same' });
      found.variables[definition.env] = value;
    } else if (!ownFlags.includes(flag))
      found.findings.push({
        level: 'stop',
        about: `--${flag}`,
        text: 'Kerf does not have this flag and would not start',
        ...near(
          flag,
          definitions.map((each) => each.flag),
        ),
      });
  }
}

const near = (name: string, names: string[]): { fix?: string } => {
  const meant = nearestName(name, names);
  return meant === undefined ? {} : { fix: `${meant}, if that is what is meant` };
};

/** The settings are read as the controller reads them at its start. */
function judge(found: SettingsFound, env: Record<string, string>, given: Record<string, string>, isAws: boolean): void {
  const flags = Object.fromEntries(
    Object.entries(given).filter(([flag]) => definitions.some((each) => each.flag === flag)),
  );
  try {
    const { settings, warnings, notes } = parseSettings(flags, env, isAws ? 'aws' : undefined);
    found.gates.push(...Object.entries(settings.featureGates).flatMap(([gate, isOn]) => (isOn ? [gate] : [])));
    for (const text of [...warnings, ...(notes ?? [])]) found.findings.push({ level: 'look', about: 'settings', text });
  } catch (error) {
    if (!(error instanceof KerfError)) throw error;
    found.findings.push({ level: 'stop', about: 'settings', text: `Kerf would not start: ${messageOf(error)}` });
  }
}

interface ValueEntry {
  schema?: ValueSchema;
  becomes?: string;
  gate?: string;
  withoutEffect?: string;
}

/** What charts share, what a chart above this one reads, and what anchors repeat: accepted and not looked at. */
const besideTheChart = /^(global$|enabled$|x-|[._])/;

/** A values file of Karpenter's chart, line by line. */
export async function settingsOfValues(values: unknown): Promise<SettingsFound> {
  const { default: index } = await import('./chart-values.json', { with: { type: 'json' } });
  const known = new Map<string, ValueEntry>(Object.entries(index as Record<string, ValueEntry>));
  const found: SettingsFound = { settings: [], gates: [], findings: [], variables: {} };
  const gates: Record<string, boolean> = { ...defaultGates };
  const walk = (value: unknown, path: readonly string[]): void => {
    const name = path.join('.');
    const entry = known.get(name);
    if (entry === undefined) {
      const isAbove = path.length === 0 || [...known.keys()].some((each) => each.startsWith(`${name}.`));
      if (isAbove && isMap(value)) for (const [key, below] of Object.entries(value)) walk(below, [...path, key]);
      else if (!besideTheChart.test(name)) {
        // Under the name of a dependency stand the values of the chart.
        const isDependency =
          isMap(value) && Object.keys(value).some((key) => key === 'settings' || key === 'controller');
        found.findings.push(
          isDependency
            ? {
                ...unknownValue(name, []),
                fix: `a file with what stands under ${name}, if these are values of an umbrella chart`,
              }
            : unknownValue(name, [...known.keys()]),
        );
      }
      return;
    }
    const wanted = entry.schema === undefined ? undefined : misfit(value, entry.schema);
    if (wanted !== undefined)
      found.findings.push({ level: 'stop', about: name, text: `the chart refuses this value: ${wanted}` });
    else if (entry.withoutEffect !== undefined)
      found.findings.push({ level: 'look', about: name, text: `has no effect: ${entry.withoutEffect}` });
    else if (entry.gate !== undefined) gates[entry.gate] = String(value) === 'true';
    if (entry.becomes === undefined) return;
    found.settings.push({ name, value: text(value), becomes: `${entry.becomes}, the same` });
    if (definitionOf(entry.becomes) !== undefined) found.variables[entry.becomes] = text(value);
  };
  walk(values, []);
  found.findings.push(...pinnedImage(values));
  found.variables['FEATURE_GATES'] = Object.entries(gates)
    .map(([gate, isOn]) => `${gate}=${isOn}`)
    .join(',');
  found.gates.push(...Object.entries(gates).flatMap(([gate, isOn]) => (isOn ? [gate] : [])));
  return found;
}

/** Tag and digest of Karpenter's image stay in force when only the repository is changed. */
function pinnedImage(values: unknown): Finding[] {
  const { repository, tag, digest } = asMap(asMap(asMap(values)['controller'])['image']);
  if (/kerf/.test(asText(repository) ?? '') || (!tag && !digest)) return [];
  return [
    {
      level: 'look',
      about: 'controller.image',
      text: "its tag or digest is that of Karpenter's image",
      fix: 'with controller.image.repository of Kerf, set controller.image.tag and controller.image.digest to empty text',
    },
  ];
}

function unknownValue(name: string, names: string[]): Finding {
  return {
    level: 'stop',
    about: name,
    text: 'the chart does not have this value and refuses it',
    ...near(name, names),
  };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
