// Two settings that are off by default, on a whole cluster: spot nodes that EC2 recommends to leave are replaced before they
// are interrupted, and a zone that ARC shifts the cluster away from is left alone until the shift is over.
import { describe, expect, test, vi } from 'vitest';
import type { NodeClaim } from '../../src/api/index.ts';
import type { Node } from '../../src/ports/index.ts';
import { useAwsCluster } from './aws-cluster.ts';
import { capacity, deployment, nodeClass, pool } from './objects.ts';

const cluster = useAwsCluster({ 'spot-rebalance-policy': 'Replace', 'enable-zonal-shift': 'true' });
const patience = { timeout: 180_000, interval: 1_000 };
const zones = { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['us-east-1a', 'us-east-1b'] };

const zoneIdKey = 'topology.k8s.aws/zone-id';
let shiftedZoneId: string;

const nodes = () => cluster.items<Node>('nodes', '-l', 'karpenter.sh/nodepool=default');
const onlyNode = async (): Promise<Node> => {
  const [node, ...others] = await nodes();
  if (node === undefined || others.length > 0) throw new Error(`one node was expected, not ${others.length + 1}`);
  return node;
};
const labelOf = ({ metadata }: Node, key: string): string => metadata.labels?.[key] ?? '';
const idOf = ({ spec }: Node): string => spec?.providerID?.split('/').at(-1) ?? '';
const poolOf = (node: Node): string[] =>
  ['node.kubernetes.io/instance-type', 'topology.kubernetes.io/zone'].map((key) => labelOf(node, key));
const instanceIds = async (): Promise<string[]> =>
  (await cluster.instances()).filter(({ State }) => State?.Name === 'running').map(({ InstanceId = '' }) => InstanceId);

describe('a cluster on EC2', { timeout: 600_000 }, () => {
  test('a rebalance recommendation replaces the node by one of another pool, and its pods run on', async () => {
    await cluster.apply(nodeClass(), pool([capacity('spot'), zones]));
    await cluster.kubectl('wait', 'ec2nodeclass/default', '--for=condition=Ready', '--timeout=120s');
    await cluster.apply(deployment('web', 2));
    await vi.waitFor(async () => expect(await cluster.readyReplicas('web')).toBe(2), patience);
    const old = await onlyNode();
    const event = { kind: 'rebalance-recommendation' as const, instanceId: idOf(old) };
    await cluster.aws.interrupt({ queue: cluster.name, event });
    await vi.waitFor(async () => {
      const ids = await instanceIds();
      expect(ids).toHaveLength(1);
      expect(ids).not.toContain(idOf(old));
    }, patience);
    await vi.waitFor(async () => expect(await cluster.readyReplicas('web')).toBe(2), patience);
    const replacement = await vi.waitFor(onlyNode, patience);
    expect(poolOf(replacement)).not.toEqual(poolOf(old));
    expect((await cluster.events('NodeClaim')).join('\n')).toMatch(/SpotRebalanceRecommendation: Spot rebalance/);
    const metrics = await cluster.metrics();
    expect(metrics).toMatch(/received_messages_total\{message_type="rebalance_recommendation"\} 1/);
    expect(metrics).toMatch(/karpenter_voluntary_disruption_decisions_total\{[^}]*reason="drifted"[^}]*\} 1/);
    // It was not an interruption: nothing counts as lost.
    expect(metrics).not.toMatch(/karpenter_nodeclaims_disrupted_total\{reason="spot_interrupted"/);
  });

  test('a zone that is shifted away from gets no new nodes and keeps its old ones', async () => {
    const inside = await onlyNode();
    const zone = labelOf(inside, 'topology.kubernetes.io/zone');
    shiftedZoneId = labelOf(inside, zoneIdKey);
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    cluster.aws.setZonalShifts([{ awayFromZoneId: shiftedZoneId, expiresAt }]);
    await vi.waitFor(
      async () =>
        expect(await cluster.events('NodePool')).toContainEqual(
          `ZonalShiftActive: Zonal shift detected: offerings in zone ${zone} (${shiftedZoneId}) are unavailable for this NodePool`,
        ),
      patience,
    );
    await cluster.apply(deployment('more', 4, { cpu: '3', memory: '1Gi' }));
    await vi.waitFor(async () => expect(await cluster.readyReplicas('more')).toBe(4), patience);
    const outside = (await nodes()).filter((node) => idOf(node) !== idOf(inside));
    expect(outside.length).toBeGreaterThan(0);
    for (const node of outside) expect(labelOf(node, 'topology.kubernetes.io/zone')).not.toBe(zone);
    expect(await instanceIds()).toContain(idOf(inside));
  });

  test('a claim there that is deleted waits for the end of the shift, and its instance goes then', async () => {
    const claims = await cluster.items<NodeClaim>('nodeclaims');
    const claim = claims.find(({ metadata }) => metadata.labels?.[zoneIdKey] === shiftedZoneId);
    const instanceId = claim?.status?.providerID?.split('/').at(-1) ?? '';
    expect(instanceId).not.toBe('');
    cluster.aws.forgetCalls();
    await cluster.kubectl('delete', 'nodeclaim', claim?.metadata.name ?? '', '--wait=false');
    await vi.waitFor(() => expect(cluster.output).toMatch(/zonally shifted availability zone/), patience);
    expect(await instanceIds()).toContain(instanceId);
    const terminated = cluster.aws.calls().filter(({ action }) => action === 'TerminateInstances');
    expect(terminated.filter(({ body }) => body.includes(instanceId))).toEqual([]);
    cluster.aws.setZonalShifts([]);
    await vi.waitFor(async () => expect(await instanceIds()).not.toContain(instanceId), patience);
    await vi.waitFor(
      async () => expect((await cluster.events('NodePool')).join('\n')).toMatch(/ZonalShiftCleared: .*available again/),
      patience,
    );
    expect(await cluster.metrics()).not.toMatch(/instance_termination_failures_total\{/);
  });
});
