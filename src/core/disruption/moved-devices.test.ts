// Devices of pods that disruption moves: found anew by what their claims select, on what is left when the nodes are gone.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  claim,
  compileDeviceSelector,
  device,
  deviceClass,
  type Fields,
  local,
  request,
  slice,
} from '../devices/devices.testing.ts';
import type { NodeStateEntry, SnapshotObject } from '../index.ts';
import { plan } from '../testing/builders.testing.ts';
import { driftCommand } from './drift.ts';
import { finish, machine, names, pool, roundOf, running } from './fleet.testing.ts';
import { singleNodeCommand } from './single-node.ts';
import { nodeVerdicts } from './verdicts.ts';

const settings = { ignoreDRARequests: false };
const model = (name: string): Fields => ({ attributes: { model: { string: name } } });
const wanting = (name: string): Fields => request({ selectors: [{ cel: { expression: `model=${name}` } }] });
const round = (objects: SnapshotObject[], nodeState?: NodeStateEntry[]) =>
  roundOf(
    [pool(), deviceClass(), ...objects],
    { settings, ...(nodeState ? { nodeState } : {}) },
    { compileDeviceSelector },
  );

/** A claim with the device it has, for the pod with this uid. */
const allocated = (
  name: string,
  requests: Fields[],
  uid: string,
  device: { pool: string; device: string; nodeName?: string },
) =>
  claim(name, requests, {
    status: {
      reservedFor: [{ resource: 'pods', name: uid, uid }],
      allocation: {
        devices: { results: [{ driver: 'gpu.example.com', pool: device.pool, device: device.device, request: 'r' }] },
        ...(device.nodeName === undefined
          ? {}
          : {
              nodeSelector: {
                nodeSelectorTerms: [
                  { matchFields: [{ key: 'metadata.name', operator: 'In', values: [device.nodeName] }] },
                ],
              },
            }),
      },
    },
  });
const user = (node: string, uid: string, ...claims: string[]) =>
  running(node, {
    name: uid,
    uid,
    spec: { resourceClaims: claims.map((resourceClaimName, at) => ({ name: `c${at}`, resourceClaimName })) },
  });

describe('a node whose pod uses a device', () => {
  const big = { type: 'c16', conditions: { Drifted: 'True' } };
  const on = (free: string): SnapshotObject[] => [
    ...machine('a', big),
    ...machine('b', { type: 'c8' }),
    local('a', 1, model('x')),
    local('b', 1, model(free)),
    allocated('one', [wanting('x')], 'p', { pool: 'a', device: 'gpu-0', nodeName: 'a' }),
    user('a', 'p', 'one'),
  ];

  test('goes if another node has such a device free', () => {
    const { command } = finish(singleNodeCommand(round(on('x'))));
    expect(command).toMatchObject({ replacements: [], placements: [{ name: 'b', pods: ['default/p'] }] });
    expect(names(command?.members)).toEqual(['a']);
    expect(names(finish(driftCommand(round(on('x')))).command?.members)).toEqual(['a']);
  });

  test('stays if the only other device is of another kind, and says so', () => {
    const other = round(on('y'));
    expect(finish(singleNodeCommand(other)).command).toBeUndefined();
    expect(finish(driftCommand(other)).command).toBeUndefined();
    const verdict = finish(nodeVerdicts(other)).find(({ node }) => node === 'a');
    expect(verdict?.blockers.map(({ code }) => code)).toEqual(['PodsDoNotFit']);
  });

  test('stays while a pod that stays has the other device', () => {
    const taken = allocated('two', [wanting('x')], 'q', { pool: 'b', device: 'gpu-0', nodeName: 'b' });
    const objects = [...on('x'), taken, user('b', 'q', 'two')];
    expect(finish(driftCommand(round(objects))).command).toBeUndefined();
  });

  test('is judged with selectors too where a pod keeps it, as if that pod let it go', () => {
    const guarded = user('a', 'p', 'one');
    const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
    const objects = [...on('x').slice(0, -1), { ...guarded, metadata: { ...guarded.metadata, annotations } }];
    const verdict = finish(nodeVerdicts(round(objects))).find(({ node }) => node === 'a');
    expect(verdict?.blockers.map(({ code }) => code)).toEqual(['PodDoNotDisrupt']);
  });
});

test('a device that a node publishes for all nodes goes with it', () => {
  const shared = slice('a', { allNodes: true, owner: 'a', devices: [device('gpu-0', model('x'))] });
  const objects = [
    ...machine('a', { type: 'c16', conditions: { Drifted: 'True' } }),
    ...machine('b', { type: 'c8' }),
    shared,
    allocated('one', [wanting('x')], 'p', { pool: 'a', device: 'gpu-0' }),
    user('a', 'p', 'one'),
  ];
  expect(finish(driftCommand(round(objects))).command).toBeUndefined();
  const nobodys = { ...shared, metadata: { ...shared.metadata, ownerReferences: [] } };
  const kept = objects.map((each) => (each === shared ? nobodys : each));
  expect(names(finish(driftCommand(round(kept))).command?.members)).toEqual(['a']);
});

interface Drawn {
  /** By node: models of its own devices, whether one more is for all nodes, and models its pods use or want. */
  nodes: { own: string[]; shared: boolean; pods: string[] }[];
  waiting: string[];
  going: boolean[];
}

const anyModel = fc.constantFrom('x', 'y');
const drawn: fc.Arbitrary<Drawn> = fc.record({
  nodes: fc.array(
    fc.record({
      own: fc.array(anyModel, { maxLength: 3 }),
      shared: fc.boolean(),
      pods: fc.array(anyModel, { maxLength: 3 }),
    }),
    { minLength: 2, maxLength: 5 },
  ),
  waiting: fc.array(anyModel, { maxLength: 2 }),
  going: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
});

function objectsOf({ nodes, waiting }: Drawn): SnapshotObject[] {
  const objects: SnapshotObject[] = [];
  nodes.forEach(({ own, shared, pods }, at) => {
    const name = `n${at}`;
    const devices = own.map((kind, index) => device(`gpu-${index}`, model(kind)));
    objects.push(...machine(name, { type: 'c8' }), slice(name, { nodeName: name, owner: name, devices }));
    // One pool over all nodes, which is not complete without any of its slices.
    const count = nodes.filter((each) => each.shared).length;
    const common = { name: 'shared', resourceSliceCount: count };
    const parts = { allNodes: true, owner: name, pool: common, devices: [device(`net-${at}`, model('x'))] };
    if (shared) objects.push(slice(`shared-${at}`, parts));
    const left = own.map((kind, index) => ({ kind, device: `gpu-${index}` }));
    pods.forEach((kind, index) => {
      const uid = `p${at}-${index}`;
      const mine = left.findIndex((each) => each.kind === kind);
      const [taken] = mine < 0 ? [] : left.splice(mine, 1);
      const requests = [wanting(kind)];
      objects.push(
        taken === undefined
          ? claim(uid, requests)
          : allocated(uid, requests, uid, { pool: name, device: taken.device, nodeName: name }),
        user(name, uid, uid),
      );
    });
  });
  waiting.forEach((kind, index) => {
    const name = `w${index}`;
    objects.push(claim(name, [wanting(kind)]), user('', name, name));
  });
  return objects;
}

test('nodes gone in thought and nodes on their way out leave the same devices', () => {
  fc.assert(
    fc.property(drawn, (cluster) => {
      const objects = objectsOf(cluster);
      const found = round(objects);
      const members = found.fleet.members.filter((_, at) => cluster.going[at]);
      const simulation = found.whatIf.simulate(members, { sparesRestless: true });
      const nodeState = found.fleet.members.map((member) => ({
        node: member.name,
        nodeClaim: member.name,
        initialized: true,
        markedForDeletion: members.includes(member),
      }));
      const result = plan(
        [pool(), deviceClass(), ...objects],
        { settings, nodeState },
        { compileDeviceSelector, improve: false },
      );
      const waits = (key: string): boolean => key.startsWith('default/w');
      expect(simulation.placements()).toEqual(result.existingNodes);
      expect(simulation.newNodes.length).toBe(result.newNodes.length);
      expect(simulation.failed.length).toBe(result.unschedulable.filter(({ pod: key }) => !waits(key)).length);
    }),
    { seed: 7, numRuns: 300 },
  );
});
