// What a live cluster has, as the files of a bundle: read-only lists of the kinds that checks look at. Secrets are never read;
// of ConfigMaps only the two that say who may join. A kind that may not be listed is simply not collected.
import { KerfError } from '../../../base/index.ts';
import { isKubeError, type Kube, type Resource } from '../../../ports/index.ts';

export interface LiveFile {
  path: string;
  text: string;
}

const resource = (group: string, version: string, kind: string, plural: string, namespaced = false): Resource => ({
  group,
  version,
  kind,
  plural,
  namespaced,
});

const wanted: readonly Resource[] = [
  resource('karpenter.sh', 'v1', 'NodePool', 'nodepools'),
  resource('karpenter.sh', 'v1', 'NodeClaim', 'nodeclaims'),
  resource('karpenter.k8s.aws', 'v1', 'EC2NodeClass', 'ec2nodeclasses'),
  resource('karpenter.sh', 'v1alpha5', 'Provisioner', 'provisioners'),
  resource('karpenter.k8s.aws', 'v1alpha1', 'AWSNodeTemplate', 'awsnodetemplates'),
  resource('', 'v1', 'Node', 'nodes'),
  resource('', 'v1', 'Pod', 'pods', true),
  resource('', 'v1', 'Event', 'events', true),
  resource('', 'v1', 'Service', 'services', true),
  resource('', 'v1', 'Endpoints', 'endpoints', true),
  resource('', 'v1', 'ServiceAccount', 'serviceaccounts', true),
  resource('', 'v1', 'PersistentVolume', 'persistentvolumes'),
  resource('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', true),
  resource('apps', 'v1', 'Deployment', 'deployments', true),
  resource('apps', 'v1', 'DaemonSet', 'daemonsets', true),
  resource('policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets', true),
  resource('storage.k8s.io', 'v1', 'StorageClass', 'storageclasses'),
  resource('storage.k8s.io', 'v1', 'CSINode', 'csinodes'),
  resource('storage.k8s.io', 'v1', 'VolumeAttachment', 'volumeattachments'),
  resource('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'customresourcedefinitions'),
  resource('admissionregistration.k8s.io', 'v1', 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'),
  resource('admissionregistration.k8s.io', 'v1', 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations'),
  resource('rbac.authorization.k8s.io', 'v1', 'ClusterRoleBinding', 'clusterrolebindings'),
];

const configMaps = ['aws-auth', 'amazon-vpc-cni'];
const pageSize = 500;

export async function* clusterFiles(kube: Pick<Kube, 'list' | 'get'>): AsyncGenerator<LiveFile> {
  let isReadable = false;
  for (const one of wanted) {
    const items = await listed(kube, one);
    if (items === undefined) continue;
    // A kind that is not served says nothing about what may be read.
    if (!isOwn(one) || items.length > 0) isReadable = true;
    yield { path: `objects/${one.plural}.json`, text: listText(one.kind, items) };
  }
  if (!isReadable) throw unreadable();
  const maps = resource('', 'v1', 'ConfigMap', 'configmaps', true);
  const found: object[] = [];
  for (const name of configMaps) {
    try {
      const map = await kube.get(maps, { name, namespace: 'kube-system' });
      found.push({ ...map, apiVersion: 'v1', kind: 'ConfigMap' });
    } catch (thrown) {
      // Not allowed to look is not absent.
      if (!isKubeError(thrown, 'NotFound')) return;
    }
  }
  yield { path: 'objects/configmaps.json', text: listText('ConfigMap', found) };
}

const unreadable = (): KerfError =>
  new KerfError(
    'ClusterUnreadable',
    `none of ${wanted.length} kinds of objects may be listed with the credentials of this kubeconfig: use some that may get and list Nodes, Pods, Events and NodePools, or let someone who may write a bundle (kerf doctor --collect FILE) and read that with --bundle`,
  );

const isOwn = ({ group }: Resource): boolean => group.startsWith('karpenter');

const listText = (kind: string, items: readonly object[]): string =>
  JSON.stringify({ apiVersion: 'v1', kind: `${kind}List`, items });

/** Releases before 1.0 serve our kinds as v1beta1 only: a version that is not there says nothing about the objects. */
async function listed(kube: Pick<Kube, 'list'>, one: Resource): Promise<object[] | undefined> {
  const items = await listedAs(kube, one);
  if (items !== 'not served') return items;
  if (one.version !== 'v1') return [];
  const older = await listedAs(kube, { ...one, version: 'v1beta1' });
  return older === 'not served' ? [] : older;
}

/** Undefined: may not be read. */
async function listedAs(kube: Pick<Kube, 'list'>, one: Resource): Promise<object[] | 'not served' | undefined> {
  const items: object[] = [];
  let token: string | undefined;
  try {
    do {
      const page = await kube.list(one, { limit: pageSize, ...(token === undefined ? {} : { continue: token }) });
      const apiVersion = one.group === '' ? one.version : `${one.group}/${one.version}`;
      for (const item of page.items) items.push({ ...item, apiVersion, kind: one.kind });
      token = page.continue;
    } while (token !== undefined);
    return items;
  } catch (thrown) {
    if (isKubeError(thrown, 'NotFound') && isOwn(one)) return 'not served';
    if (isKubeError(thrown)) return undefined;
    throw thrown;
  }
}
