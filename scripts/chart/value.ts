// What a value of the chart is: values.yaml, values.schema.json and the reference page are made from a list of these.

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ChartValue {
  path: readonly string[];
  fallback: unknown;
  schema: JsonSchema;
  meaning: string;
  /** Not in Karpenter's chart. Settings that only Kerf has are seen from their table. */
  isOurs?: true;
}

/**
 * Values of Karpenter's older charts that have no effect in newer ones either, and a few that Kerf does not need: accepted, and
 * named in the notes after an install. One that becomes a setting leaves this list by itself.
 */
export const valuesWithoutEffect: readonly { path: readonly string[]; note: string }[] = (
  [
    ['webhook', 'there is no webhook'],
    ['logConfig', 'write logLevel, logOutputPaths and logErrorOutputPaths'],
    ['logEncoding', 'logs are JSON'],
    ['clusterName', 'write settings.clusterName'],
    ['clusterEndpoint', 'write settings.clusterEndpoint'],
    ['aws', 'write what it held into the EC2NodeClass'],
    ['controller.logLevel', 'write logLevel'],
    ['controller.logEncoding', 'logs are JSON'],
    ['controller.outputPaths', 'write logOutputPaths'],
    ['controller.errorOutputPaths', 'write logErrorOutputPaths'],
    ['controller.batchMaxDuration', 'write settings.batchMaxDuration'],
    ['controller.batchIdleDuration', 'write settings.batchIdleDuration'],
    ['settings.aws', 'write its fields under settings'],
    ['settings.assumeRoleARN', 'give the service account a role that it may use'],
    ['settings.assumeRoleDuration', 'give the service account a role that it may use'],
    ['settings.featureGates.drift', 'drift is always on'],
    ['settings.featureGates.driftEnabled', 'drift is always on'],
  ] as const
).map(([path, note]) => ({ path: path.split('.'), note }));
