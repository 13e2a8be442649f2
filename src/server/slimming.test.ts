import { expect, test } from 'vitest';
import type { EC2NodeClass } from '../api/index.ts';
import { ec2NodeClasses } from '../aws/index.ts';
import { nodeClaims } from '../controllers/index.ts';
import { type Pod, resources } from '../ports/index.ts';
import { slimmingOf } from './slimming.ts';

const pod = {
  metadata: { name: 'web-1', namespace: 'shop', labels: { app: 'web' } },
  spec: {
    containers: [
      {
        name: 'c',
        image: 'web:1',
        env: [{ name: 'A', value: 'b' }],
        resources: { requests: { cpu: '1' } },
        ports: [{ hostPort: 80, containerPort: 80 }],
      },
    ],
    volumes: [
      { name: 'kube-api-access-x7k2p', projected: {} },
      { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'scratch', ephemeral: {} },
    ],
    priority: 7,
    schedulerName: 'default-scheduler',
    serviceAccountName: 'web',
  },
  status: {
    conditions: [
      { type: 'Initialized', status: 'True', lastTransitionTime: '2026-11-01T00:00:00Z' },
      { type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: '2026-11-01T00:00:01Z' },
    ],
    containerStatuses: [
      { name: 'c', image: 'web:1', imageID: 'x', ready: true, restartCount: 0, resources: { requests: { cpu: '2' } } },
    ],
  },
} as unknown as Pod;

test('pods keep what plans and drains read, and lose what only kubelets and people do', () => {
  const slim = slimmingOf(resources.pods)?.(pod);
  expect(slim?.spec?.containers).toEqual([
    { name: 'c', resources: { requests: { cpu: '1' } }, ports: [{ hostPort: 80, containerPort: 80 }] },
  ]);
  expect(slim?.spec?.volumes).toEqual(pod.spec?.volumes?.slice(1));
  expect(Object.keys(slim?.spec ?? {}).sort()).toEqual(['containers', 'priority', 'volumes']);
  expect(slim?.status?.containerStatuses).toEqual([{ name: 'c', resources: { requests: { cpu: '2' } } }]);
});

test('a pod whose volumes have no claims has none', () => {
  const [token] = pod.spec?.volumes ?? [];
  const slim = slimmingOf(resources.pods)?.({ ...pod, spec: { ...pod.spec, volumes: [token] } } as Pod);
  expect(slim?.spec).not.toHaveProperty('volumes');
  expect(slim?.spec?.containers).toHaveLength(1);
});

test('of the conditions those that are read stay, without what only people read', () => {
  expect(slimmingOf(resources.pods)?.(pod).status?.conditions).toEqual([
    { type: 'Ready', status: 'True', lastTransitionTime: '2026-11-01T00:00:01Z' },
  ]);
});

test('equal parts of two pods are one object', () => {
  const slim = slimmingOf(resources.pods);
  const other = { ...pod, metadata: { ...pod.metadata, name: 'web-2' } };
  expect(slim?.(pod).spec?.containers).toBe(slim?.(structuredClone(other)).spec?.containers);
});

test('our own objects are kept whole', () => {
  expect(slimmingOf(nodeClaims)).toBeUndefined();
});

test('a node class written without a spec is one that selects nothing', () => {
  const bare = { metadata: { name: 'default' } } as unknown as EC2NodeClass;
  expect(slimmingOf(ec2NodeClasses)?.(bare)).toEqual({
    metadata: { name: 'default' },
    spec: { subnetSelectorTerms: [], securityGroupSelectorTerms: [], amiSelectorTerms: [] },
  });
});
