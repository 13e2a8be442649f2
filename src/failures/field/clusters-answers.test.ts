// What was collected says only what it says: listings that do not name their role, definitions asked for by name, pods of one
// namespace. Healthy clusters with such evidence stay healthy, broken ones are still named.
import { expect, test } from 'vitest';
import { diagnoseCase, minutesAgo, object } from '../case.testing.ts';
import { add, event, expectCauses, get, healthy, unregistered, waitingPod } from './field.testing.ts';

const listings = 'iam-list-attached-role-policies';
const policies = (...names: string[]): object => ({
  AttachedPolicies: names.map((name) => ({ PolicyName: name, PolicyArn: `arn:aws:iam::aws:policy/${name}` })),
});

function withoutListings() {
  const cluster = healthy();
  for (const name of Object.keys(cluster.aws)) if (name.startsWith(listings)) delete cluster.aws[name];
  return cluster;
}

test("the controller's own policy in a file without a name is not held against the node role", () => {
  const cluster = withoutListings();
  cluster.aws[listings] = policies('KarpenterControllerPolicy-prod');
  expectCauses(cluster, []);
});

test.each(['', '-ctl', '-karpenter-irsa'])('a convenience policy is named in a listing called "%s"', (suffix) => {
  const cluster = withoutListings();
  cluster.aws[`${listings}${suffix}`] = policies('PowerUserAccess');
  expectCauses(cluster, ['iam/controller-policy-too-broad']);
});

test('a listing that says what nodes have is the node role, whatever its file is called', () => {
  const cluster = withoutListings();
  cluster.aws[`${listings}-2`] = policies('AmazonEKS_CNI_Policy', 'AmazonSSMManagedInstanceCore');
  expectCauses(cluster, ['iam/node-role-policies-missing']);
});

const definition = (name: string): object =>
  object('CustomResourceDefinition', name, { spec: { versions: [{ name: 'v1', served: true, storage: true }] } });

test('one definition that was asked for by name does not make the others absent', () => {
  const cluster = healthy();
  cluster.objects = cluster.objects.filter(({ kind }) => kind !== 'CustomResourceDefinition');
  expectCauses(add(cluster, definition('nodepools.karpenter.sh')), []);
  expectCauses(add(cluster, definition('certificates.cert-manager.io')), ['startup/crd-missing-or-mismatched']);
});

test('pods of one namespace say nothing about the daemons of the system', () => {
  const cluster = healthy();
  cluster.objects = cluster.objects.filter(
    ({ kind, metadata }) => kind !== 'Pod' || metadata.namespace !== 'kube-system',
  );
  const daemon = object('DaemonSet', 'aws-node', { spec: { template: { spec: { containers: [] } } } }, 'kube-system');
  expectCauses(add(cluster, daemon, waitingPod('web', 0.2)), []);
});

test('a controller that is killed for memory has no requests of its own accord: one finding', () => {
  const cluster = healthy();
  const pod = cluster.objects.find(
    ({ kind, metadata }) => kind === 'Pod' && metadata.labels?.['app.kubernetes.io/name'] === 'karpenter',
  );
  const [container] = pod.spec.containers;
  delete container.resources;
  const terminated = { reason: 'OOMKilled', exitCode: 137, finishedAt: minutesAgo(5) };
  pod.status.containerStatuses = [{ name: 'controller', ready: true, restartCount: 12, lastState: { terminated } }];
  expectCauses(cluster, ['startup/controller-starved']);
});

test("a spread counts the zones of other nodes, which the pod's pools do not serve", () => {
  const cluster = healthy();
  const other = structuredClone(cluster.objects.find(({ kind }) => kind === 'Node'));
  other.metadata = {
    name: 'ip-10-9-9-9.ec2.internal',
    creationTimestamp: minutesAgo(900),
    labels: { 'topology.kubernetes.io/zone': 'us-east-1f', 'eks.amazonaws.com/nodegroup': 'system' },
  };
  other.spec = { providerID: 'aws:///us-east-1f/i-0fffffffffffffff0' };
  const spread = {
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' },
    ],
  };
  const why = "0/4 nodes are available: 4 node(s) didn't match pod topology spread constraints.";
  expectCauses(add(cluster, other, waitingPod('web', 30, spread, why)), ['scheduling/spread-over-unreachable-domain']);
});

test('a pool that consolidates nothing by its own setting is a remark', () => {
  const cluster = healthy();
  get(cluster, 'NodePool', 'default').spec.disruption = { consolidateAfter: 'Never' };
  const node = cluster.objects.find(({ kind }) => kind === 'Node').metadata.name;
  const said = event('e1', 'Node', node, 'Unconsolidatable', 'NodePool "default" has consolidation disabled');
  expectCauses(add(cluster, said), ['disruption/not-consolidating-unexplained']);
});

const handler = (rebalance: string): object =>
  object(
    'DaemonSet',
    'aws-node-termination-handler',
    {
      spec: {
        template: {
          spec: { containers: [{ name: 'nth', env: [{ name: 'ENABLE_REBALANCE_DRAINING', value: rebalance }] }] },
        },
      },
    },
    'kube-system',
  );

test('a termination handler that drains on rebalance is named where pools were not collected', () => {
  const ids = (one: object): string[] => diagnoseCase({ objects: [one] }).findings.map(({ id }) => id);
  expect(ids(handler('true'))).toEqual(['interruption/nth-relaunch-loop']);
  expect(ids(handler('false'))).toEqual([]);
});

const waits = (minute: string): string =>
  `Apr 13 12:${minute}:01 ip-10-0-9-4 kubelet[2001]: E0413 12:${minute}:01.1 2001 kubelet.go:3008] "Container runtime network not ready" networkReady="NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"\n`;

test('a network that does not come up within minutes is named, however rarely the journal says it', () => {
  const ids = (text: string): string[] =>
    diagnoseCase({ texts: { 'nodes/i-0abc/journal.txt': text } }).findings.map(({ id }) => id);
  expect(ids(waits('24') + waits('34'))).toEqual(['init/cni-not-initialised']);
  expect(ids(waits('24') + waits('25'))).toEqual([]);
});

test('two budgets on one pod keep its node, whatever they allow', () => {
  const cluster = healthy();
  const budget = (name: string): object =>
    object(
      'PodDisruptionBudget',
      name,
      {
        spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'db' } } },
        status: { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 },
      },
      'shop',
    );
  const why = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
  add(cluster, budget('db'), budget('all'));
  expectCauses(cluster, []);
  expectCauses(add(cluster, event('e1', 'Pod', 'db-0', 'FailedEviction', why)), ['disruption/pdb-blocks']);
});

test('what stops nodes comes before what is refused beside it', () => {
  const refusal = `{"level":"ERROR","time":"2026-03-01T11:58:00Z","logger":"controller","message":"Reconciler error","controller":"instanceprofile.garbagecollection","error":"listing instance profiles, operation error IAM: ListInstanceProfiles, https response error StatusCode: 403, api error AccessDenied: User: arn:aws:sts::111122223333:assumed-role/KarpenterController/17 is not authorized to perform: iam:ListInstanceProfiles on resource: arn:aws:iam::111122223333:instance-profile/"}\n`;
  const cluster = add(healthy({ nodes: 0 }), unregistered('default-x1'));
  cluster.aws['eks-list-access-entries'].accessEntries = [];
  cluster.texts['logs/karpenter.log'] = refusal;
  const { findings } = diagnoseCase(cluster);
  expect(findings.map(({ id }) => id)).toEqual([
    'registration/node-role-not-mapped',
    'iam/controller-permission-missing',
  ]);
  expect(findings[0]?.consequences?.map(({ id }) => id)).toEqual(['registration/undiagnosed-timeout']);
});
