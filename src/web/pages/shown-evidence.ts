// Where evidence comes from, as someone who looks at a live cluster knows it. The doctor reads a cluster as the files of a
// bundle, and its sources are lines of these: here they are objects, logs and answers of AWS.

interface Evidence {
  source: string;
  text: string;
}

/** Equal lines are one, with how often it was seen. */
export function shownEvidence(evidence: readonly Evidence[]): (Evidence & { count: number })[] {
  const lines = new Map<string, Evidence & { count: number }>();
  for (const { source: path, text } of evidence) {
    const source = sourceText(path, text);
    const key = `${source} ${text}`;
    const known = lines.get(key);
    if (known === undefined) lines.set(key, { source, text, count: 1 });
    else known.count += 1;
  }
  return [...lines.values()];
}

/** Empty where the text itself names its object. */
function sourceText(path: string, text: string): string {
  const [, plural] = /^objects\/([a-z0-9]+)\.json(?::\d+)?$/.exec(path) ?? [];
  if (plural !== undefined) {
    const [, named = ''] = /^(\w+) \S+: /.exec(text) ?? [];
    return Object.values(kinds).includes(named) ? '' : (kinds[plural] ?? plural);
  }
  const [, pod, line] = /^logs\/([^/]+\/[^/]+)\/.*?(?::(\d+))?$/.exec(path) ?? [];
  if (pod !== undefined) return `log of ${pod}${line === undefined ? '' : `, line ${line}`}`;
  const [, answer] = /^aws\/(.*?)\.(?:json|err)(?::\d+)?$/.exec(path) ?? [];
  if (answer !== undefined) return `AWS ${answer}`;
  return path.startsWith('bundle.json') ? 'the cluster itself' : path;
}

const kinds: Readonly<Record<string, string>> = {
  configmaps: 'ConfigMap',
  csinodes: 'CSINode',
  customresourcedefinitions: 'CustomResourceDefinition',
  daemonsets: 'DaemonSet',
  deployments: 'Deployment',
  ec2nodeclasses: 'EC2NodeClass',
  endpoints: 'Endpoints',
  events: 'Event',
  nodeclaims: 'NodeClaim',
  nodepools: 'NodePool',
  nodes: 'Node',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  persistentvolumes: 'PersistentVolume',
  poddisruptionbudgets: 'PodDisruptionBudget',
  pods: 'Pod',
  serviceaccounts: 'ServiceAccount',
  services: 'Service',
  storageclasses: 'StorageClass',
  volumeattachments: 'VolumeAttachment',
};
