import { expect, test } from 'vitest';
import { label } from '../../api/names.ts';
import { planSnapshot, type SnapshotObject } from '../index.ts';
import {
  node,
  nodeAffinity,
  nodePool,
  object,
  pod,
  pods,
  requirement,
  snapshot,
  spread,
} from '../testing/builders.testing.ts';

const app = { app: 'web' };
const zonesOf = (...objects: SnapshotObject[]): Record<string, number> => {
  let zones: ReadonlyMap<string, number> = new Map();
  planSnapshot(snapshot([nodePool(), ...objects]), { onZones: (counts) => (zones = counts) });
  return Object.fromEntries(zones);
};
const inZones = (...names: string[]) => nodeAffinity([requirement(label.zone, 'In', names)]);

test('a pod that may go to several zones is flexible, one that may go to one zone is counted there', () => {
  expect(zonesOf(pod(), pod({ spec: inZones('zone-1', 'zone-2') }))).toEqual({ flexible: 2 });
  expect(zonesOf(...pods(2, { spec: { nodeSelector: { [label.zone]: 'zone-2' } } }))).toEqual({ 'zone-2': 2 });
});

test('a pod whose requirements leave no zone is counted under none', () => {
  const spec = { ...inZones('zone-1'), nodeSelector: { [label.zone]: 'zone-2' } };
  expect(zonesOf(pod({ spec }))).toEqual({ none: 1 });
});

test('the volumes of a pod narrow its zones', () => {
  const volume = object('v1', 'PersistentVolume', 'pv', {
    spec: {
      csi: { driver: 'ebs' },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [requirement(label.zone, 'In', ['zone-3'])] }],
        },
      },
    },
  });
  const claim = object('v1', 'PersistentVolumeClaim', 'data', {
    metadata: { namespace: 'default', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
    spec: { volumeName: 'pv' },
    status: { phase: 'Bound' },
  });
  const waiting = pod({ spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] } });
  expect(zonesOf(volume, claim, waiting)).toEqual({ 'zone-3': 1 });
});

test('topology narrows the zones to those that are open when the pass ends', () => {
  const running = ['zone-1', 'zone-2'].flatMap((zone) => [
    node({ name: zone, zone, allocatable: { cpu: '0', pods: '0' } }),
    pod({ labels: app, node: zone }),
  ]);
  // Too large for any node, so that the pass ends as it began.
  const waiting = pod({ labels: app, cpu: '1000', spec: spread(label.zone, app) });
  expect(zonesOf(...running, waiting)).toEqual({ 'zone-3': 1 });
});
