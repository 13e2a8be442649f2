// Reference pages of the controller process, made from the code that reads the settings and defines the metrics.

import { awsWellKnownLabels, wellKnownLabels } from '../src/api/index.ts';
import { createAwsClients, createAwsProvider, KubernetesVersion, noZonalShifts } from '../src/aws/index.ts';
import { machineControllersOf } from '../src/aws-controllers/index.ts';
import { type Clock, VirtualClock } from '../src/base/index.ts';
import { type ControllerContext, controllersOf } from '../src/controllers/index.ts';
import type { HistogramDefinition, Kube, Log, Metrics, Recorder } from '../src/ports/index.ts';
import { loopMetrics } from '../src/runtime/index.ts';
import {
  awsSettingDefinitions,
  parseSettings,
  type SettingDefinition,
  settingDefinitions,
} from '../src/server/index.ts';
import { meteredCloud } from '../src/server/metered-cloud.ts';
import { modelSync } from '../src/server/model-sync.ts';
import { Cluster, LaunchLedger } from '../src/state/index.ts';
import { DecisionRing, silentLog } from '../src/telemetry/index.ts';
import { aligned } from './markdown-table.ts';

export function settingsReference(): string {
  return `# Settings of \`kerf controller\`

Generated from the settings table. A flag wins over the environment, which wins over the default. A malformed flag, choice
or gate list stops the process with one error that names every problem; a malformed number, boolean or duration of the
environment keeps the default and is logged.

${settingsTable(settingDefinitions)}
## Of the aws provider

A missing cluster name, an endpoint that is not a URL, a negative number or an interval under a minute stops the process.

${settingsTable(awsSettingDefinitions)}
Beside these: \`--provider\` (\`KERF_PROVIDER\`), \`--kubeconfig\`, \`--context\`, \`--instance-types-file-path\`
(\`INSTANCE_TYPES_FILE_PATH\`, kwok only), \`--fake-kubelets\` (kwok only). The Lease lives in \`--leader-election-namespace\`, else
\`SYSTEM_NAMESPACE\`, else the namespace of the kubeconfig or pod.
`;
}

function settingsTable(definitions: Record<string, SettingDefinition>): string {
  const rows = Object.values(definitions).map(({ flag, env, fallback, meaning, choices }) => {
    const values = choices === undefined ? '' : ` (${choices.filter((each) => each !== '').join(', ')})`;
    return [`\`--${flag}\``, `\`${env}\``, fallback === '' ? 'empty' : `\`${fallback}\``, `${meaning}${values}`];
  });
  return aligned([['flag', 'environment', 'default', 'meaning'], ...rows]);
}

export async function metricsReference(): Promise<string> {
  const rows = [...(await definedMetrics())]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, { type, help, labels }]) => [`\`${name}\``, type, labelsText(labels), help]);
  return `# Metrics of \`kerf controller\`

Generated from the code that defines them, with the aws provider. Served as Prometheus text on \`:8080/metrics\`, together with the usual
\`process_*\` and \`nodejs_*\` figures and \`karpenter_build_info\`.

${aligned([['metric', 'type', 'labels', 'meaning'], ...rows])}`;
}

const wellKnown: ReadonlySet<string> = new Set(
  [...wellKnownLabels, ...awsWellKnownLabels].map((key) => (key.split('/').at(-1) ?? key).replaceAll('-', '_')),
);

/** Metrics of nodes have a label for every label a node is known to have: reported, not listed. */
function labelsText(labels: readonly string[] = []): string {
  const own = labels.filter((label) => !wellKnown.has(label));
  const isOfNodes = labels.length - own.length > 20;
  return isOfNodes ? `${own.join(', ')} and each well-known label` : labels.join(', ');
}

type Defined = HistogramDefinition & { type: string };

/** Every metric that the controllers and the aws provider define when they are put together, all gates on. */
export async function definedMetrics(): Promise<Map<string, Defined>> {
  const defined = new Map<string, Defined>();
  const note =
    <T>(type: string, metric: T) =>
    (definition: HistogramDefinition): T => {
      defined.set(definition.name, { ...definition, type });
      return metric;
    };
  const silent = { add: () => {}, set: () => {}, remove: () => {}, reset: () => {}, observe: () => {} };
  const metrics: Metrics = {
    counter: note('counter', silent),
    gauge: note('gauge', silent),
    histogram: note('histogram', silent),
    summary: note('summary', silent),
  };
  const clock = new VirtualClock({ settle: () => Promise.resolve() });
  const { settings } = parseSettings({}, {});
  const featureGates = Object.fromEntries(Object.keys(settings.featureGates).map((name) => [name, true]));
  const recorder: Recorder = { publish: () => {} };
  const aws = await awsParts({ clock, log: silentLog, metrics, recorder });
  const { cloud } = aws.provider;
  loopMetrics(metrics);
  void new DecisionRing(clock, metrics);
  meteredCloud(cloud, metrics, clock);
  modelSync(new Cluster(clock), { clock, log: silentLog, metrics, waitingFor: () => '' });
  const context: ControllerContext = {
    kube: {} as Kube,
    stored: {} as Kube,
    time: { aheadMs: () => undefined, cautiousNow: () => 0, problem: () => undefined },
    cloud,
    cluster: new Cluster(clock),
    clock,
    log: silentLog,
    metrics,
    recorder,
    settings: { ...settings, featureGates },
    plan: () => Promise.reject(new Error('nothing is planned here')),
    ledger: new LaunchLedger(),
    random: () => 0,
    cacheOf: () => ({ get: () => undefined, values: () => [] }),
    isManaged: () => true,
  };
  controllersOf(context, { refused: new Map(), onRefused: () => {} });
  machineControllersOf(context, aws);
  return defined;
}

/** The aws provider as a cluster with an interruption queue has it. No one is asked anything. */
async function awsParts(tools: { clock: Clock; log: Log; metrics: Metrics; recorder: Recorder }) {
  const { aws } = parseSettings({ 'cluster-name': 'reference', 'interruption-queue': 'reference' }, {}, 'aws');
  if (aws === undefined) throw new Error('the aws provider has settings of its own');
  const clients = await createAwsClients({
    ...tools,
    env: {},
    version: '',
    region: 'us-east-1',
    lookUpCredentials: () => Promise.reject(new Error('there is no account here')),
  });
  const provider = await createAwsProvider({
    ...tools,
    clients,
    settings: { ...aws, minValuesPolicy: 'Strict', reservedCapacity: true },
    cluster: { name: aws.clusterName, endpoint: '', ipFamily: 'ipv4', resolveServiceCidr: async () => {} },
    shifts: noZonalShifts,
    kubernetesVersion: () => '',
    nodeClassOf: () => undefined,
    pricedByOverlay: () => new Set(),
  });
  const version = new KubernetesVersion(async () => '', tools.log);
  return { clients, provider, settings: aws, version, shifts: noZonalShifts };
}
