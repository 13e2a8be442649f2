import { expect, test } from 'vitest';
import { defaultGates } from './definitions.ts';
import { parseSettings } from './parse.ts';

test('without flags and environment every setting has its default', () => {
  const { settings, warnings } = parseSettings({}, {});
  expect(warnings).toEqual([]);
  expect(settings).toMatchObject({
    metricsPort: 8080,
    healthProbePort: 8081,
    kubeClientQps: 200,
    kubeClientBurst: 300,
    leaderElectionName: 'karpenter-leader-election',
    cpuRequests: 1000,
    logLevel: 'info',
    batchMaxDurationMs: 10_000,
    batchIdleDurationMs: 1_000,
    preferencePolicy: 'Respect',
    minValuesPolicy: 'Strict',
    ignoreDraRequests: true,
    featureGates: defaultGates,
  });
});

test('a flag wins over the environment, which wins over the default', () => {
  const env = { BATCH_MAX_DURATION: '20s', METRICS_PORT: '9000' };
  const { settings } = parseSettings({ 'batch-max-duration': '30s' }, env);
  expect(settings).toMatchObject({ batchMaxDurationMs: 30_000, metricsPort: 9000 });
});

test('a malformed number, boolean or duration of the environment keeps the default and is reported', () => {
  const { settings, warnings } = parseSettings(
    {},
    { METRICS_PORT: 'x', ENABLE_PROFILING: 'yes', BATCH_IDLE_DURATION: '1 second' },
  );
  expect(settings).toMatchObject({ metricsPort: 8080, enableProfiling: false, batchIdleDurationMs: 1_000 });
  expect(warnings).toHaveLength(3);
});

test('every malformed flag, choice and gate list is named in one error', () => {
  const start = () =>
    parseSettings({ 'metrics-port': 'x', 'enable-profiling': '1' }, { LOG_LEVEL: 'loud', FEATURE_GATES: 'NodeRepair' });
  expect(start).toThrow(/4 settings are malformed/);
  expect(start).toThrow(/--metrics-port: "x" is not a whole number/);
  expect(start).toThrow(/--enable-profiling: "1" is neither true nor false/);
  expect(start).toThrow(/invalid LOG_LEVEL "loud"/);
  expect(start).toThrow(/"NodeRepair" is not of the form/);
});

test('a start that fails also names what it would only have warned of', () => {
  const start = () => parseSettings({ 'metrics-port': 'x' }, { BATCH_MAX_DURATION: 'soon' });
  expect(start).toThrow(/2 settings are malformed/);
  expect(start).toThrow(/BATCH_MAX_DURATION: "soon" is not a duration/);
});

test('unknown gates are reported with the nearest name, and missing ones keep their default', () => {
  const { settings, warnings } = parseSettings({ 'feature-gates': 'NodeRepair=true,NodeOverlays=true,Zzz=true' }, {});
  expect(settings.featureGates).toEqual({ ...defaultGates, NodeRepair: true });
  expect(warnings).toEqual([
    '--feature-gates: there is no gate NodeOverlays; did you mean NodeOverlay?',
    `--feature-gates: there is no gate Zzz; there are ${Object.keys(defaultGates).join(', ')}`,
  ]);
});

test('gates of Karpenter 1.15 are accepted', () => {
  const { settings, notes, warnings } = parseSettings(
    {},
    { FEATURE_GATES: 'PodDeletionCostManagement=true', AWS_FEATURE_GATES: 'NodeClassCEL=true', CLUSTER_NAME: 'c' },
    'aws',
  );
  expect(settings.featureGates['PodDeletionCostManagement']).toBe(true);
  expect(warnings).toEqual([]);
  expect(notes).toEqual([]);
});

test('gates about devices say that they need resource claims to be planned', () => {
  const env = { AWS_FEATURE_GATES: 'DRANVIDIAGPU=true', CLUSTER_NAME: 'c' };
  const note = 'DRANVIDIAGPU changes nothing while ignore-dra-requests is true: set it to false';
  expect(parseSettings({}, env, 'aws').notes).toEqual([note]);
  expect(parseSettings({ 'ignore-dra-requests': 'false' }, env, 'aws').notes).toEqual([]);
});

test('choices about repair say that they need the gate NodeRepair, and that the older way knows none of them', () => {
  const env = { CLUSTER_NAME: 'c', AWS_FEATURE_GATES: 'RebootForRepair=true' };
  const notes = (gates: string, legacy: string) =>
    parseSettings({ 'feature-gates': gates, 'legacy-node-repair': legacy }, env, 'aws').notes;
  const off = 'changes nothing while the gate NodeRepair is off: add NodeRepair=true';
  expect(notes('TerminateFirstRepair=true', 'true')).toEqual([
    `TerminateFirstRepair ${off}`,
    `RebootForRepair ${off}`,
    `legacy-node-repair ${off}`,
  ]);
  const older = 'changes nothing while legacy-node-repair is true: set it to false';
  expect(notes('NodeRepair=true', 'true')).toEqual([`RebootForRepair ${older}`]);
  expect(notes('NodeRepair=true,TerminateFirstRepair=true', 'false')).toEqual([]);
});

test('a variable that begins like ours and is read by nothing is reported', () => {
  const { warnings } = parseSettings({}, { KERF_PROVIDR: 'aws', KERF_LOG_LEVEL: 'debug', KERF_PROVIDER: 'kwok' });
  expect(warnings).toEqual([
    'KERF_PROVIDR: there is no such variable; did you mean KERF_PROVIDER?',
    'KERF_LOG_LEVEL: there is no such variable; did you mean LOG_LEVEL?',
  ]);
});

test('what Kubernetes says about a Service of our name is not a typing error', () => {
  const env = {
    KERF_SERVICE_HOST: '10.0.0.1',
    KERF_SERVICE_PORT: '8080',
    KERF_SERVICE_PORT_HTTP_METRICS: '8080',
    KERF_PORT: 'tcp://10.0.0.1:8080',
    KERF_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
    KERF_PORT_8080_TCP_ADDR: '10.0.0.1',
    KERF_METRICS_SERVICE_HOST: '10.0.0.2',
  };
  expect(parseSettings({}, env).warnings).toEqual([]);
});

test('cpu requests of zero or less count as one core', () => {
  expect(parseSettings({ 'cpu-requests': '-5' }, {}).settings.cpuRequests).toBe(1000);
});

test('an empty log level means info', () => {
  expect(parseSettings({ 'log-level': '' }, {}).settings.logLevel).toBe('info');
});

test('the extras of disruption are off by default, and a time zone must exist', () => {
  const { settings } = parseSettings({}, {});
  expect(settings).toMatchObject({ budgetTimeZone: 'UTC', consolidationPaybackMs: 0, expirationGraceMs: 0 });
  expect(parseSettings({ 'budget-time-zone': 'Europe/Berlin' }, {}).settings.budgetTimeZone).toBe('Europe/Berlin');
  expect(() => parseSettings({ 'budget-time-zone': 'Berlin' }, {})).toThrow('there is no time zone "Berlin"');
});

test('booleans of the environment and gates are read as Go reads them', () => {
  const { settings, warnings } = parseSettings(
    {},
    { ENABLE_PROFILING: '1', IGNORE_DRA_REQUESTS: 'F', FEATURE_GATES: 'NodeRepair=True, StaticCapacity=t' },
  );
  expect(warnings).toEqual([]);
  expect(settings).toMatchObject({ enableProfiling: true, ignoreDraRequests: false });
  expect(settings.featureGates).toMatchObject({ NodeRepair: true, StaticCapacity: true });
});

test('a choice that does not exist is named after its variable, wherever it was written', () => {
  expect(() => parseSettings({ 'log-level': 'loud' }, {})).toThrow(/--log-level: invalid LOG_LEVEL "loud"/);
});
