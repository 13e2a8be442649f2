// Names that fixes are written with, found wherever the evidence has them: the cluster, its account and region, the
// controller's objects, the roles of nodes. Where a name is unknown, what stands in its place can still be pasted.

import { ageMs, type Evidence } from './evidence.ts';
import { at, listAt, mapAt, type Plain, textAt } from './fields.ts';
import { accountInText, clusterInText, namespaceInText, regionInText } from './named-in-text.ts';
import { conditionOf, labelsOf, type Stored } from './objects.ts';
import { podDemands } from './pools.ts';
import { poolLabel } from './relations.ts';

const controllerNames = new Set(['karpenter', 'kerf']);

export function isController({ object, name, namespace }: Stored): boolean {
  const app = textAt(labelsOf(object), 'app.kubernetes.io/name') || textAt(labelsOf(object), 'app');
  if (controllerNames.has(app)) return true;
  return app === '' && /^(karpenter|kerf)(-[a-z0-9]+){0,3}$/.test(name) && /karpenter|kerf|kube-system/.test(namespace);
}

export const controllerDeployments = ({ objects }: Evidence): Stored[] => objects.of('Deployment').filter(isController);

/** Looked for once: a cluster has few of them among very many pods. */
const podsOfController = new WeakMap<Evidence, Stored[]>();

export function controllerPods(evidence: Evidence): Stored[] {
  const known = podsOfController.get(evidence);
  if (known !== undefined) return known;
  const found = evidence.objects
    .of('Pod')
    .filter((pod) => isController(pod) && textAt(pod.object, 'status', 'phase') !== 'Succeeded');
  podsOfController.set(evidence, found);
  return found;
}

/** Pod template of a workload, or the pod itself. */
export function podSpecOf({ kind, object }: Stored): Plain {
  return kind === 'Pod' ? mapAt(object, 'spec') : mapAt(object, 'spec', 'template', 'spec');
}

export function containersOf(spec: Plain): readonly unknown[] {
  return listAt(spec, 'containers');
}

/** The controller's own container: the one with its settings. */
export function controllerContainer(stored: Stored): unknown {
  const containers = containersOf(podSpecOf(stored));
  return containers.find((one) => ['controller', 'karpenter', 'kerf'].includes(textAt(one, 'name'))) ?? containers[0];
}

/** The value of an environment variable; undefined when it is not set here or comes from elsewhere. */
export function envOf(container: unknown, name: string): string | undefined {
  const entry = listAt(container, 'env').find((one) => textAt(one, 'name') === name);
  if (entry === undefined || at(entry, 'valueFrom') !== undefined) return undefined;
  return textAt(entry, 'value');
}

/** The variable is set in a way that cannot be read here (a ConfigMap, a Secret, envFrom). */
export function isEnvHidden(container: unknown, name: string): boolean {
  const entry = listAt(container, 'env').find((one) => textAt(one, 'name') === name);
  return entry === undefined ? listAt(container, 'envFrom').length > 0 : at(entry, 'valueFrom') !== undefined;
}

/** A setting of the controller by its variable or flag (`--cluster-name`); undefined when it is not written. */
export function settingOf(stored: Stored, variable: string): string | undefined {
  const container = controllerContainer(stored);
  const env = envOf(container, variable);
  if (env !== undefined) return env;
  const flag = `--${variable.toLowerCase().replaceAll('_', '-')}`;
  const args = [...listAt(container, 'args'), ...listAt(container, 'command')].map(String);
  for (const [index, arg] of args.entries()) {
    if (arg.startsWith(`${flag}=`)) return arg.slice(flag.length + 1);
    if (arg === flag) return args[index + 1];
  }
  return undefined;
}

export function clusterName(evidence: Evidence): string {
  const { cluster, aws } = evidence;
  if (cluster.name) return cluster.name;
  for (const { item } of aws.bodies('eks-describe-cluster'))
    if (textAt(item, 'name') !== '') return textAt(item, 'name');
  for (const deployment of controllerDeployments(evidence)) {
    const name = settingOf(deployment, 'CLUSTER_NAME');
    if (name) return name;
  }
  return clusterInText(evidence) ?? '"$CLUSTER_NAME"';
}

export function regionOf(evidence: Evidence): string {
  const { cluster, aws } = evidence;
  if (cluster.region) return cluster.region;
  const arn = aws.bodies('eks-describe-cluster').map(({ item }) => textAt(item, 'arn'))[0] ?? '';
  if (arn.split(':')[3]) return arn.split(':')[3] as string;
  const zones = evidence.objects
    .of('Node')
    .map(({ object }) => textAt(labelsOf(object), 'topology.kubernetes.io/region'));
  return zones.find((zone) => zone !== '') ?? regionInText(evidence) ?? '"$AWS_REGION"';
}

const accountInArn = /arn:aws[\w-]*:[\w-]+:[\w-]*:(\d{12}):/;

export function accountOf(evidence: Evidence): string | undefined {
  const { cluster, aws, objects } = evidence;
  if (cluster.accountId) return cluster.accountId;
  for (const operation of ['eks-describe-cluster', 'iam-get-role', 'iam-get-instance-profile'] as const)
    for (const { item } of aws.bodies(operation)) {
      const account = accountInArn.exec(textAt(item, 'arn') || textAt(item, 'Arn'))?.[1];
      if (account !== undefined) return account;
    }
  for (const { item } of aws.items('eks-list-access-entries')) {
    const account = accountInArn.exec(String(item))?.[1];
    if (account !== undefined) return account;
  }
  for (const service of objects.of('ServiceAccount')) {
    const arn = textAt(service.object, 'metadata', 'annotations', 'eks.amazonaws.com/role-arn');
    const account = accountInArn.exec(arn)?.[1];
    if (account !== undefined) return account;
  }
  const map = objects.find('ConfigMap', 'aws-auth', 'kube-system');
  return accountInArn.exec(textAt(map?.object, 'data', 'mapRoles'))?.[1] ?? accountInText(evidence);
}

/** The ARN of a role that is known by name; a shell expression stands for an unknown account. */
export function roleArn(evidence: Evidence, role: string): string {
  if (role.startsWith('arn:')) return role;
  const described = evidence.aws.bodies('iam-get-role').find(({ item }) => textAt(item, 'RoleName') === role);
  if (described !== undefined && textAt(described.item, 'Arn') !== '') return textAt(described.item, 'Arn');
  const region = regionOf(evidence);
  const partition = region.startsWith('cn-') ? 'aws-cn' : region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';
  const account = accountOf(evidence) ?? '$(aws sts get-caller-identity --query Account --output text)';
  return `arn:${partition}:iam::${account}:role/${role}`;
}

export interface NodeRole {
  role: string;
  nodeClasses: Stored[];
}

/** The roles that nodes will have: named by node classes, or in the profiles they name. */
export function nodeRoles({ objects, aws }: Evidence): NodeRole[] {
  const roles = new Map<string, NodeRole>();
  for (const nodeClass of [...objects.of('EC2NodeClass'), ...objects.of('AWSNodeTemplate')]) {
    const spec = mapAt(nodeClass.object, 'spec');
    const profile = textAt(spec, 'instanceProfile') || textAt(nodeClass.object, 'status', 'instanceProfile');
    const described = aws
      .bodies('iam-get-instance-profile')
      .find(({ item }) => textAt(item, 'InstanceProfileName') === profile);
    const role = textAt(spec, 'role') || textAt(described?.item, 'Roles', 0, 'RoleName');
    if (role === '') continue;
    const name = role.split('/').at(-1) ?? role;
    const known = roles.get(name);
    if (known === undefined) roles.set(name, { role: name, nodeClasses: [nodeClass] });
    else known.nodeClasses.push(nodeClass);
  }
  return [...roles.values()];
}

/** Where the controller runs: its Deployment's or pod's namespace. */
export function controllerNamespace(evidence: Evidence): string | undefined {
  return (controllerDeployments(evidence)[0] ?? controllerPods(evidence)[0])?.namespace;
}

/** The same for commands: where it is unknown, what is recommended since 0.33. */
export const releaseNamespace = (evidence: Evidence): string =>
  controllerNamespace(evidence) ?? namespaceInText(evidence) ?? 'kube-system';

/** `1.33` out of `v1.33.2-eks-931bdca`. */
export function minorVersion(evidence: Evidence): number | undefined {
  const { cluster, aws, objects } = evidence;
  const texts = [
    cluster.kubernetesVersion ?? '',
    ...aws.bodies('eks-describe-cluster').map(({ item }) => textAt(item, 'version')),
    ...objects.of('Node').map(({ object }) => textAt(object, 'status', 'nodeInfo', 'kubeletVersion')),
  ];
  for (const text of texts) {
    const minor = /^v?1\.(\d+)/.exec(text)?.[1];
    if (minor !== undefined) return Number(minor);
  }
  return undefined;
}

/** Pods that wait for a node which a pool could launch, older than `leastMs`: waiting for seconds is normal. */
export const waitingPods = (evidence: Evidence, leastMs = 2 * 60_000): Stored[] =>
  refusedPods(evidence, leastMs).filter(couldBePools);

/** Keys of nodes that no pool launches: node groups and Fargate. */
const foreignKey = /^(eks\.amazonaws\.com\/|alpha\.eksctl\.io\/|cloud\.google\.com\/|kubernetes\.azure\.com\/)/;
const otherReason = /unbound immediate PersistentVolumeClaims|persistentvolumeclaim "[^"]*" not found|being deleted/i;

/** Not pods that wait for something else: a gate, a volume, a node group, the node of their DaemonSet. */
function couldBePools(pod: Stored): boolean {
  const { object } = pod;
  const scheduled = conditionOf(object, 'PodScheduled');
  if (scheduled?.reason === 'SchedulingGated' || otherReason.test(scheduled?.message ?? '')) return false;
  if (listAt(object, 'metadata', 'ownerReferences').some((owner) => textAt(owner, 'kind') === 'DaemonSet'))
    return false;
  if (textAt(object, 'spec', 'schedulerName') === 'fargate-scheduler') return false;
  if (avoidsPools(mapAt(object, 'spec'))) return false;
  return ![...podDemands(pod).keys()].some((key) => foreignKey.test(key));
}

function avoidsPools(spec: Plain): boolean {
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  return listAt(spec, 'affinity', 'nodeAffinity', required, 'nodeSelectorTerms').some((term) =>
    listAt(term, 'matchExpressions').some(
      (one) => textAt(one, 'key') === poolLabel && textAt(one, 'operator') === 'DoesNotExist',
    ),
  );
}

/** Pods that the scheduler refused, older than `leastMs`. */
export function refusedPods(evidence: Evidence, leastMs = 2 * 60_000): Stored[] {
  return evidence.objects.of('Pod').filter((pod) => {
    const { object } = pod;
    if (textAt(object, 'status', 'phase') !== 'Pending' || textAt(object, 'spec', 'nodeName') !== '') return false;
    const refused = listAt(object, 'status', 'conditions').some(
      (one) => textAt(one, 'type') === 'PodScheduled' && textAt(one, 'status') === 'False',
    );
    if (!refused || at(object, 'metadata', 'deletionTimestamp') !== undefined) return false;
    const age = ageMs(evidence, textAt(object, 'metadata', 'creationTimestamp'));
    return age === undefined || age >= leastMs;
  });
}

/** At most a few names, and how many more. */
export function named(refs: readonly { name: string }[], most = 3): string {
  const names = refs.slice(0, most).map(({ name }) => name);
  const more = refs.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}

/** The controller's image, as its Deployment or pod names it. */
function controllerImage(evidence: Evidence): string {
  const workload = controllerDeployments(evidence)[0] ?? controllerPods(evidence)[0];
  return workload === undefined ? '' : textAt(controllerContainer(workload), 'image');
}

/** 107 for Karpenter 1.7, 37 for 0.37; undefined when the image has no such tag. */
export function releaseOf(evidence: Evidence): number | undefined {
  const match = /karpenter[^:@]*:v?(\d+)\.(\d+)\./.exec(controllerImage(evidence));
  return match === null ? undefined : Number(match[1]) * 100 + Number(match[2]);
}

/** `1.7.4`, for commands; a shell variable where the image does not say. */
export const releaseName = (evidence: Evidence): string =>
  /karpenter[^:@]*:v?(\d+\.\d+\.\d+)/.exec(controllerImage(evidence))?.[1] ?? '"$VERSION"';
