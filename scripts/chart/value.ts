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

const notYet = 'this version of Kerf does not have it';

/**
 * Values of Karpenter's charts, older and newer, that have no effect: accepted, and named in the notes after an install. One that
 * becomes a setting leaves this list by itself.
 */
export const valuesWithoutEffect: readonly { path: readonly string[]; note: string }[] = [
  { path: ['settings', 'schedulerConfig'], note: notYet },
  { path: ['settings', 'legacyNodeRepair'], note: notYet },
  { path: ['settings', 'awsFeatureGates'], note: notYet },
  { path: ['settings', 'enableDRA'], note: notYet },
  { path: ['settings', 'securityGroupRefreshInterval'], note: notYet },
  { path: ['settings', 'featureGates', 'terminateFirstDrift'], note: notYet },
  { path: ['settings', 'featureGates', 'terminateFirstRepair'], note: notYet },
  { path: ['settings', 'featureGates', 'podDeletionCostManagement'], note: notYet },
  { path: ['webhook'], note: 'there is no webhook' },
  { path: ['logConfig'], note: 'write logLevel, logOutputPaths and logErrorOutputPaths' },
  { path: ['logEncoding'], note: 'logs are JSON' },
  { path: ['settings', 'aws'], note: 'write its fields under settings' },
  { path: ['settings', 'assumeRoleARN'], note: 'give the service account a role that it may use' },
  { path: ['settings', 'assumeRoleDuration'], note: 'give the service account a role that it may use' },
  { path: ['settings', 'featureGates', 'drift'], note: 'drift is always on' },
  { path: ['settings', 'featureGates', 'driftEnabled'], note: 'drift is always on' },
];
