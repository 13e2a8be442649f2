// Devices: for every case the planner and a real kube-scheduler must say the same about one pod on one node that exists.
import { beforeEach, describe, expect, test } from 'vitest';
import { claim, deviceClass, gpus, request, slice } from '../../src/core/devices/devices.testing.ts';
import type { SnapshotObject } from '../../src/core/index.ts';
import { object, pod } from '../../src/core/testing/builders.testing.ts';
import { isOlderThan } from '../setup/kubernetes-release.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';
import { type Case, clear, type Fields, pinned, place, placed, verdicts } from './scheduler-agreement/one-pod.ts';
import { agreementControlPlane } from './scheduler-agreement/rig.ts';

const cluster = useControlPlane(agreementControlPlane);
beforeEach(() => clear(cluster()));

const settings = { ignoreDRARequests: false };
const asking = pinned('n', { spec: { resourceClaims: [{ name: 'c', resourceClaimName: 'own' }] } });
/** Node n with so many devices, and the claim of the pod that asks. */
const shelf = (count: number, own: SnapshotObject, more: Fields = {}): SnapshotObject[] => [
  placed('n'),
  deviceClass(),
  slice('n', { nodeName: 'n', devices: gpus(count, more) }),
  own,
];
const oneOf = (...counts: number[]): SnapshotObject =>
  claim('own', [
    {
      name: 'r',
      firstAvailable: counts.map((count, at) => ({ name: `way-${at}`, deviceClassName: 'gpu', count })),
    },
  ]);
const taint = { key: 'example.com/broken', effect: 'NoSchedule' };

const agrees = async (each: Case): Promise<void> => {
  expect(await verdicts(cluster(), { settings, ...each })).toEqual({
    planner: each.fits,
    scheduler: each.fits,
  });
};

test.each<Case>([
  {
    what: 'as many devices as there are',
    objects: shelf(2, claim('own', [request({ count: 2 })])),
    asking,
    fits: true,
  },
  {
    what: 'more devices than there are',
    objects: shelf(1, claim('own', [request({ count: 2 })])),
    asking,
    fits: false,
  },
  {
    what: 'all devices of a node that has some',
    objects: shelf(2, claim('own', [request({ allocationMode: 'All' })])),
    asking,
    fits: true,
  },
  {
    what: 'all devices of a node that has none',
    objects: [placed('n'), deviceClass(), claim('own', [request({ allocationMode: 'All' })])],
    asking,
    fits: false,
  },
  { what: 'an alternative that is there', objects: shelf(2, oneOf(3, 2)), asking, fits: true },
  { what: 'alternatives of which none is there', objects: shelf(1, oneOf(3, 2)), asking, fits: false },
])('kube-scheduler and the planner agree about $what', agrees);

describe.skipIf(isOlderThan(36, 'taints of devices are on by default since then'))('tainted devices', () => {
  test.each<Case>([
    { what: 'are not for everyone', objects: shelf(1, claim('own'), { taints: [taint] }), asking, fits: false },
    {
      what: 'are for who tolerates them',
      objects: shelf(1, claim('own', [request({ tolerations: [{ key: taint.key, operator: 'Exists' }] })]), {
        taints: [taint],
      }),
      asking,
      fits: true,
    },
  ])('$what', agrees);
});

describe.skipIf(isOlderThan(37, 'DeviceTaintRule is served as v1 since then'))('a rule that taints devices', () => {
  const rule = (deviceSelector: Fields): SnapshotObject =>
    object('resource.k8s.io/v1', 'DeviceTaintRule', 'rule', { spec: { deviceSelector, taint } });
  test.each<Case>([
    { what: 'keeps pods away', objects: [...shelf(1, claim('own')), rule({ pool: 'n' })], asking, fits: false },
    { what: 'of another pool does not', objects: [...shelf(1, claim('own')), rule({ pool: 'm' })], asking, fits: true },
  ])('$what', agrees);
});

describe.skipIf(isOlderThan(36, 'extended resources by device classes are on by default since then'))(
  'a resource that a DeviceClass serves',
  () => {
    const resource = 'example.com/gpu';
    const serving = object('resource.k8s.io/v1', 'DeviceClass', 'gpu', { spec: { extendedResourceName: resource } });
    const wants = (name: string, count: number): SnapshotObject =>
      pod({
        name: 'asking',
        spec: {
          nodeSelector: { [place]: 'n' },
          containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '100m', [name]: String(count) } } }],
        },
      });
    const implicit = 'deviceclass.resource.kubernetes.io/gpu';
    const objects = [placed('n'), serving, slice('n', { nodeName: 'n', devices: gpus(2) })];
    test.each<Case>([
      { what: 'is there as often as devices are', objects, asking: wants(resource, 2), fits: true },
      { what: 'is not there more often', objects, asking: wants(resource, 3), fits: false },
      { what: 'is there under the name of the class', objects, asking: wants(implicit, 1), fits: true },
      {
        what: 'is not there without the class',
        objects: [placed('n'), deviceClass(), slice('n', { nodeName: 'n', devices: gpus(1) })],
        asking: wants(resource, 1),
        fits: false,
      },
    ])('$what', agrees);
  },
);
