// Which part of a bundle a file is, by its path alone; one folder around everything is accepted, and so is a tarball of the
// EKS log collector as it is.

export type Place =
  | { part: 'objects'; path: string }
  | { part: 'logs'; path: string }
  | { part: 'nodes'; path: string; node: string }
  | { part: 'aws'; path: string; name: string; isRefusal: boolean }
  | { part: 'cli'; path: string }
  | { part: 'facts'; path: string }
  | { part: 'unknown'; path: string };

const parts = new Set(['objects', 'logs', 'nodes', 'aws', 'cli']);

/** Folders that the log collector writes at its top. */
const collected = new Set([
  'cni',
  'containerd',
  'docker',
  'firewall',
  'gpu',
  'init',
  'ipamd',
  'ipvs',
  'kernel',
  'kubelet',
  'modinfo',
  'mounts',
  'networking',
  'nodeadm',
  'packages',
  'pods',
  'sandbox-image',
  'soci-snapshotter',
  'storage',
  'sysctls',
  'system',
  'throttles',
  'var_log',
]);

export function placeOf(path: string, bundleName: string): Place {
  const steps = path.split('/');
  const at = parts.has(steps[0] ?? '') ? 0 : parts.has(steps[1] ?? '') ? 1 : -1;
  const isFacts = steps.at(-1) === 'bundle.json' && steps.length <= 2;
  if (isFacts) return { part: 'facts', path };
  if (at >= 0 && steps.length > at + 1) return partOf(steps.slice(at).join('/'));
  const isCollector = collected.has(steps[0] ?? '') || collected.has(steps[1] ?? '');
  if (isCollector && steps.length > 1)
    return { part: 'nodes', path, node: instanceIn(path) ?? instanceIn(bundleName) ?? bundleName };
  return { part: 'unknown', path };
}

function partOf(path: string): Place {
  const [part = '', ...rest] = path.split('/');
  const file = rest.at(-1) ?? '';
  if (part === 'objects') return /\.(ya?ml|json)$/i.test(file) ? { part, path } : { part: 'unknown', path };
  if (part === 'logs' || part === 'cli') return { part, path };
  if (part === 'nodes')
    return rest.length > 1
      ? { part, path, node: rest[0] ?? '' }
      : { part, path, node: instanceIn(file) ?? file.replace(/\.[^.]*$/, '') };
  const name = file.replace(/\.(json|err)$/i, '');
  if (name === file) return { part: 'unknown', path };
  return { part: 'aws', path, name, isRefusal: /\.err$/i.test(file) };
}

const instanceIn = (text: string): string | undefined => /\bi-[0-9a-f]{8,17}\b/.exec(text.replaceAll('_', ' '))?.[0];

/** Kinds by the words people name files with: an empty List does not say what it is a list of. */
const kindWords: Readonly<Record<string, string>> = {
  pod: 'Pod',
  po: 'Pod',
  node: 'Node',
  no: 'Node',
  nodepool: 'NodePool',
  nodeclaim: 'NodeClaim',
  ec2nodeclass: 'EC2NodeClass',
  nodeclass: 'EC2NodeClass',
  nodeoverlay: 'NodeOverlay',
  provisioner: 'Provisioner',
  awsnodetemplate: 'AWSNodeTemplate',
  machine: 'Machine',
  event: 'Event',
  ev: 'Event',
  deployment: 'Deployment',
  deploy: 'Deployment',
  daemonset: 'DaemonSet',
  ds: 'DaemonSet',
  statefulset: 'StatefulSet',
  sts: 'StatefulSet',
  configmap: 'ConfigMap',
  cm: 'ConfigMap',
  service: 'Service',
  svc: 'Service',
  serviceaccount: 'ServiceAccount',
  sa: 'ServiceAccount',
  endpoint: 'Endpoints',
  endpointslice: 'EndpointSlice',
  customresourcedefinition: 'CustomResourceDefinition',
  crd: 'CustomResourceDefinition',
  poddisruptionbudget: 'PodDisruptionBudget',
  pdb: 'PodDisruptionBudget',
  persistentvolume: 'PersistentVolume',
  pv: 'PersistentVolume',
  persistentvolumeclaim: 'PersistentVolumeClaim',
  pvc: 'PersistentVolumeClaim',
  storageclass: 'StorageClass',
  sc: 'StorageClass',
  csinode: 'CSINode',
  csidriver: 'CSIDriver',
  volumeattachment: 'VolumeAttachment',
  lease: 'Lease',
  limitrange: 'LimitRange',
  namespace: 'Namespace',
  ns: 'Namespace',
  securitygrouppolicy: 'SecurityGroupPolicy',
  validatingwebhookconfiguration: 'ValidatingWebhookConfiguration',
  mutatingwebhookconfiguration: 'MutatingWebhookConfiguration',
  replicaset: 'ReplicaSet',
  rs: 'ReplicaSet',
  job: 'Job',
};

/** The kinds that a file's name speaks of: `nodeclaims.karpenter.sh.yaml`, `pods-all.json`, `nodepools,nodeclaims.yaml`. */
export function kindsNamed(path: string): string[] {
  const file = path.split('/').at(-1) ?? '';
  const words = file
    .toLowerCase()
    .replace(/\.(ya?ml|json)$/, '')
    .split(/[^a-z0-9]+/);
  const found = words.flatMap(
    (word) => kindWords[word] ?? kindWords[word.replace(/s$/, '')] ?? kindWords[word.replace(/es$/, '')] ?? [],
  );
  return [...new Set(found)];
}
