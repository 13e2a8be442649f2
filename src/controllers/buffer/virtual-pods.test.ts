import { expect, test } from 'vitest';
import type { CapacityBuffer } from '../../api/index.ts';
import { bufferOf, virtualPods } from './virtual-pods.ts';

const buffer = { metadata: { name: 'spare', namespace: 'shop', uid: 'u1' }, spec: {} } as CapacityBuffer;
const pods = virtualPods(
  buffer,
  {
    metadata: { labels: { app: 'web' }, annotations: { note: 'x' } },
    spec: {
      nodeName: 'somewhere',
      priority: 5,
      nodeSelector: { disk: 'ssd' },
      containers: [
        {
          name: 'c',
          volumeMounts: [
            { name: 'data', mountPath: '/data' },
            { name: 'scratch', mountPath: '/scratch' },
            { name: 'config', mountPath: '/config' },
          ],
          volumeDevices: [{ name: 'data', devicePath: '/dev/x' }],
        },
      ],
      initContainers: [{ name: 'i', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [
        { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
        { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } },
        { name: 'config', configMap: { name: 'config' } },
      ],
    },
  },
  2,
);
const [first] = pods;

test('virtual pods are numbered from one, by name and UID', () => {
  expect(pods.map(({ metadata }) => [metadata.name, metadata.namespace, metadata.uid])).toEqual([
    ['capacity-buffer-spare-1', 'shop', 'u1-1'],
    ['capacity-buffer-spare-2', 'shop', 'u1-2'],
  ]);
});

test('virtual pods carry the labels of the template and only the buffer’s annotations', () => {
  expect(first?.metadata.labels).toEqual({ app: 'web' });
  expect(first?.metadata.annotations).toEqual({
    'karpenter.sh/capacity-buffer-fake-pod': 'true',
    'karpenter.sh/capacity-buffer-name': 'spare',
    'karpenter.sh/capacity-buffer-namespace': 'shop',
  });
  expect(first && bufferOf(first)).toBe('shop/spare');
});

test('virtual pods wait, belong to no node and yield to everything', () => {
  expect(first?.spec?.nodeName).toBeUndefined();
  expect(first?.spec?.priority).toBe(-2_147_483_648);
  expect(first?.spec?.nodeSelector).toEqual({ disk: 'ssd' });
  expect(first?.status?.conditions).toEqual([{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }]);
});

test('virtual pods lose claimed and ephemeral volumes, and the mounts of these', () => {
  expect(first?.spec?.volumes).toEqual([{ name: 'config', configMap: { name: 'config' } }]);
  expect(first?.spec?.containers).toEqual([
    { name: 'c', volumeMounts: [{ name: 'config', mountPath: '/config' }], volumeDevices: [] },
  ]);
  expect(first?.spec?.initContainers).toEqual([{ name: 'i', volumeMounts: [] }]);
});
