// The chart's values as data for `kerf preflight`, which says what becomes of each line of a values file, and what the chart
// would refuse.
import { chartValues, withoutEffect } from './own-values.ts';
import { awsGateNames, gateNames, settingVariables } from './setting-values.ts';

export function valuesIndex(): string {
  const variables = new Map(settingVariables.map(({ key, env }) => [`settings.${key}`, env]));
  const gates = new Map(gateNames.map(({ key, gate }) => [`settings.featureGates.${key}`, gate]));
  const awsGates = new Map(awsGateNames.map(({ key, gate }) => [`settings.awsFeatureGates.${key}`, gate]));
  const entries = chartValues.map(({ path, schema }) => {
    const name = path.join('.');
    const [becomes, gate, awsGate] = [variables.get(name), gates.get(name), awsGates.get(name)];
    if (becomes !== undefined) return [name, { becomes, schema }] as const;
    if (awsGate !== undefined) return [name, { becomes: `AWS_FEATURE_GATES, ${awsGate}`, schema }] as const;
    return [name, gate === undefined ? { schema } : { gate, schema }] as const;
  });
  const ignored = withoutEffect.map(({ path, note }) => [path.join('.'), { withoutEffect: note }] as const);
  return `${JSON.stringify(Object.fromEntries([...entries, ...ignored]), undefined, 2)}\n`;
}
