// A session with kubectl, in order: what a newcomer types. Every command must say the same on the embedded API and on a
// real one.

export interface Command {
  args: string;
  stdin?: unknown;
  /** Standing in for a person with an editor. */
  editor?: string;
  /** Where only standard output is comparable. */
  ignoreErrors?: true;
  /** Lines to compare, where a real server serves more than ours. */
  only?: RegExp;
}

const pod = (name: string, labels: object = { app: 'web' }, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: {
    automountServiceAccountToken: false,
    schedulerName: 'none',
    containers: [
      { name: 'main', image: 'example.com/app:1', resources: { requests: { cpu: '100m', memory: '64Mi' } } },
    ],
    ...spec,
  },
});
const deployment = (replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'example.com/app:1' }] },
    },
  },
});
const list = (...items: object[]) => ({ apiVersion: 'v1', kind: 'List', items });
const node = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': 'zone-a' } },
  status: {
    capacity: { cpu: '4', memory: '8Gi', pods: '110' },
    nodeInfo: {
      machineID: '',
      systemUUID: '',
      bootID: '',
      kernelVersion: '6.1',
      osImage: 'Linux',
      containerRuntimeVersion: 'containerd://2',
      kubeletVersion: 'v1.36.3',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  },
});
const nodePool = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'default' },
  spec: {
    template: {
      spec: {
        nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
        requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] }],
      },
    },
  },
};
const nodeClaim = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name: 'default-abcde', labels: { 'karpenter.sh/nodepool': 'default' } },
  spec: {
    nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
    requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }],
  },
};
const event = (name: string, reason: string) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name },
  involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'one', namespace: 'session' },
  reason,
  message: `it is ${reason}`,
  type: 'Normal',
  count: 1,
  firstTimestamp: '2026-01-01T00:00:00Z',
  lastTimestamp: '2026-01-01T00:00:00Z',
  source: { component: 'test' },
});

export const commands = (crds: object[]): Command[] => [
  { args: 'version', only: /^Server Version: v1\.36\.3/ },
  {
    args: 'api-resources',
    only: /^(pods|nodes|deployments|leases|poddisruptionbudgets|customresourcedefinitions|priorityclasses|jobs|storageclasses) /,
  },
  { args: 'create namespace session' },
  { args: 'create serviceaccount default', ignoreErrors: true },
  { args: 'wait --for=jsonpath={.metadata.name}=default serviceaccount/default --timeout=20s' },
  { args: 'get pods' },
  { args: 'create -f -', stdin: pod('one') },
  { args: 'create -f -', stdin: pod('one') },
  { args: 'apply -f -', stdin: list(pod('two', { app: 'web', tier: 'x' }), pod('three', { app: 'db' })) },
  { args: 'get pods' },
  { args: 'get pods -o wide' },
  { args: 'get pods -l app=web --show-labels' },
  { args: 'get pods -l app!=web,app' },
  { args: 'get pods --field-selector status.phase=Pending,metadata.name!=one' },
  { args: 'get pods --sort-by={.metadata.name} --no-headers' },
  { args: 'get pods -A --field-selector metadata.namespace=session' },
  { args: 'get pod one -o yaml' },
  { args: 'get pod one -o json' },
  { args: 'get pods -o jsonpath={.items[*].metadata.name}' },
  { args: 'get pods -o custom-columns=NAME:.metadata.name,CPU:.spec.containers[0].resources.requests.cpu' },
  { args: 'get pods -o name' },
  { args: 'get pod missing' },
  { args: 'get nonsense' },
  { args: 'get pods -w --request-timeout=2s', ignoreErrors: true },
  { args: 'describe pod one' },
  { args: 'create configmap settings --from-literal=a=1 --from-literal=b=2' },
  { args: 'get configmap settings -o jsonpath={.data.b}' },
  { args: 'create secret generic token --from-literal=password=x' },
  { args: 'create deployment made --image=example.com/x:1 --replicas=0' },
  { args: 'create job work --image=example.com/x:1' },
  { args: 'create poddisruptionbudget made --selector=app=none --min-available=1' },
  { args: 'create priorityclass made-here --value=5 --description=x' },
  { args: 'create service clusterip front --tcp=80:8080 --clusterip=None' },
  { args: 'create role reader --verb=get --resource=pods' },
  { args: 'create quota none --hard=pods=1 --dry-run=client -o name' },
  { args: 'apply -f -', stdin: deployment(0) },
  { args: 'apply -f -', stdin: deployment(0) },
  { args: 'apply -f -', stdin: deployment(2) },
  { args: 'apply -f - --dry-run=server', stdin: deployment(4) },
  { args: 'diff -f -', stdin: deployment(2) },
  { args: 'apply -f -', stdin: { ...deployment(2), spec: { ...deployment(2).spec, replicaz: 3 } } },
  {
    args: 'apply -f -',
    stdin: { ...deployment(2), spec: { ...deployment(2).spec, selector: { matchLabels: { app: 'other' } } } },
  },
  { args: 'get deployment web -o jsonpath={.spec.replicas}' },
  { args: 'scale deployment web --replicas=3' },
  { args: 'scale deployment web --replicas=5 --current-replicas=9' },
  { args: 'get deployment web' },
  {
    args: 'patch deployment web --subresource=status --type=merge -p {"status":{"observedGeneration":3,"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3}}',
  },
  { args: 'rollout status deployment web --timeout=5s' },
  { args: 'set image deployment/web main=example.com/app:2' },
  { args: 'autoscale deployment web --max=3 --dry-run=client -o name' },
  { args: 'patch configmap settings --type=merge -p {"data":{"c":"3"}}' },
  { args: 'patch configmap settings --type=json -p [{"op":"remove","path":"/data/c"}]' },
  {
    args: 'patch deployment web -p {"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.com/app:3"}]}}}}',
  },
  { args: 'patch configmap settings --type=json -p [{"op":"test","path":"/data/a","value":"z"}]' },
  { args: 'edit configmap settings', editor: 'sed -i s/a:.*1.*/a:\\ edited/' },
  { args: 'get configmap settings -o jsonpath={.data.a}' },
  { args: 'label pod one stage=beta' },
  { args: 'label pod one stage=gamma' },
  { args: 'label pod one stage=gamma --overwrite' },
  { args: 'label pod one stage-' },
  { args: 'annotate pod one note=hello' },
  {
    args: 'apply --server-side -f -',
    stdin: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { a: '1' } },
  },
  {
    args: 'apply --server-side --field-manager=other -f -',
    stdin: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { a: '2' } },
  },
  {
    args: 'apply --server-side --field-manager=other --force-conflicts -f -',
    stdin: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { a: '2' } },
  },
  {
    args: 'replace -f -',
    stdin: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { fresh: 'yes' } },
  },
  { args: 'create -f -', stdin: node('machine') },
  { args: 'get nodes' },
  { args: 'taint node machine dedicated=gpu:NoSchedule' },
  { args: 'taint node machine dedicated=gpu:NoSchedule' },
  { args: 'taint node machine dedicated-' },
  { args: 'taint node machine node.kubernetes.io/not-ready-' },
  { args: 'cordon machine' },
  { args: 'get nodes -o wide' },
  { args: 'uncordon machine' },
  {
    args: 'patch node machine --subresource=status --type=merge -p {"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady"}]}}',
  },
  { args: 'create -f -', stdin: pod('placed', { app: 'placed' }, { nodeName: 'machine' }) },
  { args: 'describe node machine' },
  { args: 'create -f -', stdin: pod('guarded', { app: 'guarded' }, { nodeName: 'machine' }) },
  {
    args: 'patch pod guarded --subresource=status --type=merge -p {"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}',
  },
  { args: 'create poddisruptionbudget guard --selector=app=guarded --min-available=1' },
  {
    args: 'patch pdb guard --subresource=status --type=merge -p {"status":{"observedGeneration":1,"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1}}',
  },
  { args: 'get pdb guard' },
  { args: 'drain machine --pod-selector=app=guarded --force --timeout=3s' },
  {
    args: 'patch pdb guard --subresource=status --type=merge -p {"status":{"disruptionsAllowed":1,"currentHealthy":2,"expectedPods":2}}',
  },
  { args: 'drain machine --pod-selector=app=guarded --force --timeout=20s --grace-period=0' },
  { args: 'drain machine --dry-run=client', ignoreErrors: true },
  { args: 'drain machine --timeout=3s', ignoreErrors: true },
  { args: 'drain machine --force --timeout=5s --grace-period=0' },
  { args: 'get pods --field-selector spec.nodeName=machine' },
  { args: 'create -f -', stdin: event('first', 'Ready') },
  { args: 'create -f -', stdin: event('second', 'Busy') },
  { args: 'events --for pod/one' },
  { args: 'get events --sort-by=.metadata.name' },
  { args: 'describe pod one' },
  ...crds.map((crd): Command => ({ args: 'create -f -', stdin: crd })),
  { args: 'wait --for=condition=Established crd/nodepools.karpenter.sh crd/nodeclaims.karpenter.sh --timeout=20s' },
  { args: 'create -f -', stdin: nodePool },
  { args: 'get nodepools' },
  { args: 'get nodepool default -o yaml' },
  { args: 'describe nodepool default' },
  { args: 'apply --server-side -f -', stdin: { ...nodePool, metadata: { name: 'second' } } },
  { args: 'create -f -', stdin: { ...nodePool, metadata: { name: 'bad' }, spec: { ...nodePool.spec, weight: 1000 } } },
  { args: 'create -f -', stdin: nodeClaim },
  { args: 'get nodeclaims -o wide' },
  { args: 'describe nodeclaim default-abcde' },
  { args: 'get karpenter -o name' },
  { args: 'explain nodepool.spec.disruption' },
  { args: 'explain nodepool.spec.template.spec.requirements --recursive' },
  { args: 'explain nodeclaim.spec.resources' },
  { args: 'explain pod.spec.nowhere' },
  { args: 'wait --for=condition=Ready nodepool/default --timeout=1s' },
  { args: 'wait --for=delete pod/never-was --timeout=2s' },
  { args: 'delete pod one two' },
  { args: 'delete pod missing' },
  { args: 'delete pod missing --ignore-not-found' },
  { args: 'delete deployment web --cascade=orphan' },
  { args: 'delete configmaps -l none=there' },
  { args: 'delete configmap settings --cascade=foreground' },
  { args: 'delete nodepool default second' },
  { args: 'delete node machine' },
  { args: 'auth whoami', ignoreErrors: true, only: /^never$/ },
  { args: 'delete namespace session --wait=false' },
];
