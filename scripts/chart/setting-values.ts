// The settings of the controller as values of the chart, made from the settings table: a setting that is added there is a
// value, an environment variable of the pod, a line of the schema and of the reference page without further ado.
import {
  awsSettingDefinitions,
  defaultAwsGates,
  defaultGates,
  type SettingDefinition,
  settingDefinitions,
} from '../../src/server/index.ts';
import type { ChartValue, JsonSchema } from './value.ts';

/** Settings that have a place of their own in the chart, or that the chart itself decides. */
const elsewhere: readonly string[] = [
  'karpenterService',
  'metricsPort',
  'healthProbePort',
  'memoryLimit',
  'cpuRequests',
  'logLevel',
  'logOutputPaths',
  'logErrorOutputPaths',
  'featureGates',
  'awsFeatureGates',
];

/** Names that Karpenter's chart writes otherwise than the flag suggests. */
const written: Readonly<Record<string, string>> = {
  clusterCaBundle: 'clusterCABundle',
  isolatedVpc: 'isolatedVPC',
  reservedEnis: 'reservedENIs',
  ignoreDraRequests: 'ignoreDRARequests',
  DRANVIDIAGPU: 'draNVIDIAGPU',
  DRAEFA: 'draEFA',
};

const definitions: readonly [string, SettingDefinition][] = [
  ...Object.entries(settingDefinitions),
  ...Object.entries(awsSettingDefinitions),
].filter(([name]) => !elsewhere.includes(name));

/** Value under `settings` and the variable it becomes. */
export const settingVariables: readonly { key: string; env: string }[] = definitions.map(([name, { env }]) => ({
  key: written[name] ?? name,
  env,
}));

/** A value may also be text with a template in it. */
const template = '\\{\\{';

function schemaOf({ kind, choices }: SettingDefinition): JsonSchema {
  switch (kind) {
    case 'integer':
      return { type: ['integer', 'string', 'null'], pattern: `^[+-]?[0-9]+$|^$|${template}` };
    case 'number':
      return { type: ['number', 'string', 'null'], pattern: `^[+-]?[0-9]*[.]?[0-9]+$|^$|${template}` };
    case 'boolean':
      return { type: ['boolean', 'string', 'null'], pattern: `^(true|false|)$|${template}` };
    case 'duration':
      return { type: ['string', 'null'], pattern: `^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0?$|${template}` };
    case 'choice':
      return { type: ['string', 'null'], pattern: `^(${(choices ?? []).join('|')})$|${template}` };
    case 'text':
    case 'gates':
      return { type: ['string', 'null'] };
  }
}

/** The process reads it as text; in a values file it is written as what it is. */
const structured: readonly string[] = ['schedulerConfig'];

/** As Karpenter's chart writes it: numbers of interfaces as text. */
function fallbackOf(name: string, { kind, fallback }: SettingDefinition): unknown {
  if (name === 'reservedEnis') return fallback;
  if (kind === 'boolean') return fallback === 'true';
  return kind === 'integer' || kind === 'number' ? Number(fallback) : fallback;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

const keyOf = (gate: string): string => written[gate] ?? lowerFirst(gate);
const namesOf = (gates: Readonly<Record<string, boolean>>): { key: string; gate: string }[] =>
  Object.keys(gates).map((gate) => ({ key: keyOf(gate), gate }));

/** Value under `settings.featureGates` and the name of the gate; under `settings.awsFeatureGates` those of the provider. */
export const gateNames = namesOf(defaultGates);
export const awsGateNames = namesOf(defaultAwsGates);

const gateValues = (parent: string, gates: Readonly<Record<string, boolean>>): ChartValue[] =>
  Object.entries(gates).map(([gate, on]) => ({
    path: ['settings', parent, keyOf(gate)],
    fallback: on,
    schema: { type: ['boolean', 'string', 'null'], pattern: `^(true|false)$|${template}` },
    meaning: `feature gate ${gate}`,
  }));

export const settingValues: readonly ChartValue[] = [
  ...definitions.map(
    ([name, definition]): ChartValue => ({
      path: ['settings', written[name] ?? name],
      fallback: fallbackOf(name, definition),
      schema: structured.includes(name) ? { type: ['object', 'string', 'null'] } : schemaOf(definition),
      meaning: `${definition.meaning} (${definition.env})`,
    }),
  ),
  ...gateValues('featureGates', defaultGates),
  ...gateValues('awsFeatureGates', defaultAwsGates),
];
