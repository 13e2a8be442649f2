// The values of the chart but its settings. Names, meanings and defaults are those of Karpenter's chart, so that a values
// file written for it works unchanged; what is marked as ours is not there.
import { settingValues } from './setting-values.ts';
import { type ChartValue, type JsonSchema, valuesWithoutEffect } from './value.ts';

const text: JsonSchema = { type: ['string', 'null'] };
const flag: JsonSchema = { type: 'boolean' };
/** What a tool that knows only text writes: it means what it says. */
const flagOrText: JsonSchema = { type: ['boolean', 'string'], pattern: '^(true|false)$' };
/** Digits in quotes are a number too: that is how a values file made by another tool may write it. */
const count: JsonSchema = { type: ['integer', 'string'], minimum: 0, pattern: '^[0-9]+$' };
const port: JsonSchema = { type: ['integer', 'string'], minimum: 1, maximum: 65535, pattern: '^[0-9]{1,5}$' };
/** Whatever Kubernetes takes there; the API server checks it. */
const map: JsonSchema = { type: ['object', 'null'] };
const list: JsonSchema = { type: ['array', 'null'], items: { type: 'object' } };
const texts: JsonSchema = { type: ['array', 'null'], items: { type: 'string' } };
const labels: JsonSchema = { type: ['object', 'null'], additionalProperties: { type: 'string' } };

const of = (path: string, fallback: unknown, schema: JsonSchema, meaning: string): ChartValue => ({
  path: path.split('.'),
  fallback,
  schema,
  meaning,
});
const ours = (...args: Parameters<typeof of>): ChartValue => ({ ...of(...args), isOurs: true });

export const chartValues: readonly ChartValue[] = [
  of('nameOverride', '', text, 'instead of karpenter, in names and in app.kubernetes.io/name'),
  of('fullnameOverride', '', text, 'name of the Deployment and of most other objects'),
  of('additionalLabels', {}, labels, 'labels of every object'),
  of('additionalAnnotations', {}, labels, 'annotations of every object'),
  of('imagePullPolicy', 'IfNotPresent', { enum: ['Always', 'IfNotPresent', 'Never'] }, 'when the image is pulled'),
  of('imagePullSecrets', [], list, 'Secrets with credentials of a private registry, each as {name: …}'),
  of('service.annotations', {}, labels, 'annotations of the Service'),
  of('serviceAccount.create', true, flagOrText, 'make the ServiceAccount; otherwise serviceAccount.name must exist'),
  of(
    'serviceAccount.name',
    '',
    text,
    'name of the ServiceAccount; if empty the full name, or default with create false',
  ),
  of('serviceAccount.annotations', {}, labels, 'annotations of the ServiceAccount, such as eks.amazonaws.com/role-arn'),
  of('additionalClusterRoleRules', [], list, 'more rules of the ClusterRole'),
  of('serviceMonitor.enabled', false, flagOrText, 'make a ServiceMonitor, where the cluster knows that kind'),
  of('serviceMonitor.additionalLabels', {}, labels, 'labels that the Prometheus of the cluster selects by'),
  of('serviceMonitor.relabelings', [], list, 'relabelings of targets'),
  of('serviceMonitor.metricRelabelings', [], list, 'relabelings of metrics'),
  of('serviceMonitor.endpointConfig', {}, map, 'more fields of the endpoint, such as interval'),
  of('serviceMonitor.sampleLimit', null, { type: ['integer', 'null'], minimum: 0 }, 'most samples per scrape'),
  of('replicas', 2, count, 'one leads, the others are ready to; see adaptReplicas'),
  of('revisionHistoryLimit', 10, count, 'old ReplicaSets that are kept'),
  of('strategy', { rollingUpdate: { maxUnavailable: 1 } }, map, 'how pods are replaced on upgrades'),
  of('podLabels', {}, labels, 'labels of the pods'),
  of('podAnnotations', {}, labels, 'annotations of the pods'),
  of('podDisruptionBudget.name', 'karpenter', text, 'name of the PodDisruptionBudget'),
  of(
    'podDisruptionBudget.maxUnavailable',
    1,
    { type: ['integer', 'string'], pattern: '^[0-9]+%?$' },
    'pods that may be evicted at once',
  ),
  of(
    'podSecurityContext',
    { fsGroup: 65532, seccompProfile: { type: 'RuntimeDefault' } },
    map,
    'securityContext of the pods',
  ),
  of('priorityClassName', 'system-cluster-critical', text, 'priority class of the pods'),
  of(
    'terminationGracePeriodSeconds',
    null,
    { type: ['integer', 'string', 'null'], minimum: 0, pattern: '^[0-9]+$' },
    'time to end; 30 s if not set',
  ),
  of('hostNetwork', false, flagOrText, 'use the network of the node'),
  of('schedulerName', 'default-scheduler', text, 'scheduler of the pods'),
  of(
    'dnsPolicy',
    'ClusterFirst',
    { enum: ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None', ''] },
    'Default asks the resolver of the node: for clusters whose DNS pods wait for a node themselves',
  ),
  of('dnsConfig', {}, map, 'resolver options of the pods'),
  of(
    'initContainers',
    {},
    { type: ['object', 'array', 'null'] },
    'containers that run first: a list as in a pod (an empty map means none)',
  ),
  of('nodeSelector', { 'kubernetes.io/os': 'linux' }, labels, 'nodes that the pods may run on'),
  of(
    'affinity',
    {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'karpenter.sh/nodepool', operator: 'DoesNotExist' }] }],
        },
      },
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }],
      },
    },
    map,
    'never on a node that it could take away from itself, and never twice on one; pod terms without a labelSelector get that of the pods',
  ),
  of(
    'topologySpreadConstraints',
    [{ maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' }],
    list,
    'spread over zones; constraints without a labelSelector get that of the pods',
  ),
  of('tolerations', [{ key: 'CriticalAddonsOnly', operator: 'Exists' }], list, 'taints that the pods tolerate'),
  of('extraVolumes', [], list, 'more volumes of the pods'),
  of('controller.containerName', 'controller', text, 'name of the container'),
  of(
    'controller.image.repository',
    'kerf',
    text,
    'the image, without tag; push it to a registry of yours and name it here',
  ),
  of('controller.image.tag', '', text, "tag of the image; the chart's appVersion if empty"),
  of(
    'controller.image.digest',
    '',
    { type: ['string', 'null'], pattern: '^(sha256:[0-9a-f]{64})?$' },
    'digest of the image, sha256:…',
  ),
  of('controller.env', [], list, 'more environment variables; they win over those that the chart sets'),
  of('controller.envFrom', [], list, 'ConfigMaps and Secrets whose keys become variables'),
  of('controller.securityContext.appArmorProfile', {}, map, 'AppArmor profile of the container'),
  of('controller.securityContext.seLinuxOptions', {}, map, 'SELinux options of the container'),
  of('controller.securityContext.seccompProfile', {}, map, 'seccomp profile of the container'),
  of('controller.resources', {}, map, 'requests and limits; set a memory limit, 1Gi is ample for a thousand nodes'),
  of('controller.extraVolumeMounts', [], list, 'more volume mounts of the container'),
  of('controller.sidecarContainer', [], list, 'more containers of the pods'),
  of('controller.sidecarVolumeMounts', [], list, 'volume mounts of those, beside controller.extraVolumeMounts'),
  of('controller.metrics.port', 8080, port, 'port of /metrics'),
  of('controller.healthProbe.port', 8081, port, 'port of /healthz and /readyz'),
  of('logLevel', 'info', { enum: ['', 'debug', 'info', 'error'] }, 'how much is logged'),
  of('logOutputPaths', ['stdout'], texts, 'where the log goes: stdout, stderr and files'),
  of('logErrorOutputPaths', ['stderr'], texts, 'where errors of the logger go'),
  ...settingValues,
  of(
    'settings.enableDRA',
    null,
    { type: ['boolean', 'null'] },
    'plan devices: the gates draNVIDIAGPU and draEFA on, ignoreDRARequests off',
  ),
  ours('provider', 'aws', { enum: ['aws', 'kwok'] }, 'cloud: aws, or kwok for a simulated one'),
  ours('kwok.fakeKubelets', false, flag, 'with provider kwok: play kubelet for its nodes'),
  ours(
    'adaptReplicas',
    true,
    flag,
    'install one replica where only one node could run the pods; needs Helm to reach the cluster while it renders',
  ),
  ours(
    'automountServiceAccountToken',
    false,
    flag,
    'give the token to every container; with false only the controller has it',
  ),
  ours('shadow.enabled', false, flag, 'run beside another autoscaler with rights to read, and change nothing'),
  ours('shadow.leaseName', 'kerf-shadow', text, 'Lease of the shadow'),
  ours('networkPolicy.enabled', false, flag, 'make a NetworkPolicy: in to metrics and probes, out to anywhere'),
  ours('networkPolicy.metricsFrom', [], list, 'who may read metrics, as NetworkPolicy peers; anyone if empty'),
  ours('prometheusRule.enabled', false, flag, 'make a PrometheusRule with alerts, where the cluster knows that kind'),
  ours('prometheusRule.additionalLabels', {}, labels, 'labels that the Prometheus of the cluster selects by'),
  ours('grafanaDashboards.enabled', false, flag, 'make a ConfigMap with a dashboard for the sidecar of Grafana'),
  ours('grafanaDashboards.labels', { grafana_dashboard: '1' }, labels, 'labels that the sidecar selects by'),
];

/** Accepted values that this chart does not have. */
export const withoutEffect = valuesWithoutEffect.filter(
  ({ path }) => !chartValues.some((each) => path.every((name, at) => each.path[at] === name)),
);
