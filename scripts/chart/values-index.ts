// The names of the chart's values as data for `kerf preflight`, which says what becomes of each line of a values file.
import { chartValues, withoutEffect } from './own-values.ts';
import { awsGateNames, gateNames, settingValues, settingVariables } from './setting-values.ts';

export function valuesIndex(): string {
  const variables = new Map(settingVariables.map(({ key, env }) => [`settings.${key}`, env]));
  const gates = new Map(gateNames.map(({ key, gate }) => [`settings.featureGates.${key}`, gate]));
  const awsGates = new Map(awsGateNames.map(({ key, gate }) => [`settings.awsFeatureGates.${key}`, gate]));
  const entries = [...chartValues, ...settingValues].map(({ path }) => {
    const name = path.join('.');
    const [becomes, gate, awsGate] = [variables.get(name), gates.get(name), awsGates.get(name)];
    if (becomes !== undefined) return [name, { becomes }] as const;
    if (awsGate !== undefined) return [name, { becomes: `AWS_FEATURE_GATES, ${awsGate}` }] as const;
    return [name, gate === undefined ? {} : { gate }] as const;
  });
  const ignored = withoutEffect.map(({ path, note }) => [path.join('.'), { withoutEffect: note }] as const);
  return `${JSON.stringify(Object.fromEntries([...entries, ...ignored]), undefined, 2)}\n`;
}
