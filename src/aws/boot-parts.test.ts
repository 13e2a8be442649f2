import { expect, test } from 'vitest';
import { label } from '../api/index.ts';
import { recordedLog } from '../controllers/testing/records.testing.ts';
import { bootPartsOf, type NodeFacts } from './boot-parts.ts';
import { readyClass } from './instance-types/live-types.testing.ts';
import { among, claimFor } from './launch-world.testing.ts';

const cluster: NodeFacts = {
  name: 'demo',
  endpoint: 'https://demo',
  ipFamily: 'ipv4',
  resolveServiceCidr: async () => {
    cluster.serviceCidr = '10.100.0.0/16';
  },
};
const parts = bootPartsOf({
  region: 'us-east-1',
  clusterName: 'demo',
  reservedCapacity: true,
  cluster,
  log: recordedLog(),
});
const bootOf = (claim = claimFor(), pods = 29, nodeClass = readyClass()) =>
  parts.bootOf({ nodeClass, claim, capacityType: 'spot', imageId: 'ami-1', pods, reserved: {} });

test('what a claim allows or requests is not an input; what reaches the node is', () => {
  const { inputs } = bootOf();
  const other = claimFor({
    name: 'other',
    requirements: [among(label.instanceType, 'm5.large')],
    requests: { cpu: '1' },
  });
  expect(bootOf(other).inputs).toEqual(inputs);
  expect(bootOf(claimFor(), 30).inputs).not.toEqual(inputs);
  expect(bootOf(claimFor(), 29, readyClass({ userData: 'echo' })).inputs).not.toEqual(inputs);
  const tainted = claimFor();
  tainted.spec.taints = [{ key: 'a', effect: 'NoSchedule' }];
  expect(bootOf(tainted).inputs).not.toEqual(inputs);
});

test('AL2023 waits for the range of services; its inputs do not change with it', async () => {
  const { inputs, render } = bootOf();
  const text = Buffer.from(await render(), 'base64').toString();
  expect(text).toContain('cidr: 10.100.0.0/16');
  expect(text).toContain('maxPods: 29');
  expect(text).toContain('karpenter.sh/capacity-type=spot');
  expect(bootOf().inputs).toEqual(inputs);
});

test('the image is the first of the class that fits the type', () => {
  const type = (arch: string) => ({ name: 'x', requirements: [among(label.arch, arch)], capacity: {}, offerings: [] });
  expect(parts.imageFor(readyClass(), type('amd64'))).toBe('ami-amd64');
  expect(parts.imageFor(readyClass(), type('arm64'))).toBe('ami-arm64');
  expect(parts.imageFor(readyClass(), type('riscv'))).toBeUndefined();
});
