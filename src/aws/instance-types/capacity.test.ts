import { expect, test } from 'vitest';
import { awsLabel } from '../../api/names.ts';
import { parseQuantity, quantityIn } from '../../base/index.ts';
import { builtInCatalogue } from './built-in.ts';
import { allocatable, bandwidth, family, limits, total, type, valueOf } from './instance-types.testing.ts';
import type { NodeClassShape } from './node-class.ts';
import { reservedCpuMilli } from './overhead.ts';

const all = (await builtInCatalogue()).instanceTypes();

test('every type has the branch interfaces and the bandwidth of the tables', () => {
  for (const spec of all) {
    expect(spec.capacity['vpc.amazonaws.com/pod-eni'] ?? '0').toBe(String(limits[spec.name]?.branch ?? 0));
    expect(valueOf(spec, awsLabel.instanceNetworkBandwidth)).toBe(bandwidth[spec.name]?.toString());
  }
  expect(all.length).toBeGreaterThan(1300);
});

test.each([
  [1, 60],
  [2, 70],
  [3, 75],
  [4, 80],
  [8, 90],
  [48, 190],
  [96, 310],
])('the kubelet keeps of %i cores %i thousandths', (cores, milli) => {
  expect(reservedCpuMilli(cores)).toBe(milli);
});

test('a1.medium leaves 940m, 1392Mi, 17Gi and 8 pods', () => {
  const spec = type('a1.medium');
  expect(allocatable(spec, 'cpu')).toBe('940m');
  expect(allocatable(spec, 'memory')).toBe('1392Mi');
  expect(allocatable(spec, 'ephemeral-storage')).toBe('17Gi');
  expect(spec.capacity['pods']).toBe('8');
});

test('m5.xlarge reserves 80m, 893Mi and 1Gi, and 993Mi with eviction', () => {
  const spec = type('m5.xlarge', family('AL2'));
  expect(spec.overhead?.kubeReserved).toEqual({ cpu: '80m', memory: '893Mi', 'ephemeral-storage': '1Gi' });
  expect(spec.overhead?.systemReserved).toEqual({});
  expect(total(spec, 'memory')).toBe('993Mi');
});

test('estimates never exceed what real nodes had', () => {
  for (const [name, kib, cpu] of [
    ['t4g.small', 1408312, '1930m'],
    ['t4g.medium', 3377496, '1930m'],
    ['t4g.xlarge', 15136012, '3920m'],
    ['m5.large', 7220184, '1930m'],
  ] as const) {
    const spec = type(name, family('AL2'));
    expect(quantityIn('units', parseQuantity(allocatable(spec, 'memory')))).toBeLessThanOrEqual(kib * 1024);
    expect(allocatable(spec, 'cpu')).toBe(cpu);
  }
});

test('memory reserved for 10 pods follows the interfaces, or the pods, by family', () => {
  for (const name of ['AL2', 'AL2023', 'Custom']) {
    const spec = type('t3.large', family(name, { kubelet: { maxPods: 10 } }));
    expect(spec.overhead?.kubeReserved?.['memory']).toBe('640Mi');
    expect(spec.capacity['pods']).toBe('10');
  }
  for (const name of ['Bottlerocket', 'Windows2019', 'Windows2022']) {
    const spec = type('t3.large', family(name, { kubelet: { maxPods: 10 } }));
    expect(spec.overhead?.kubeReserved?.['memory']).toBe('365Mi');
  }
  expect(total(type('m5.xlarge', family('Bottlerocket', { kubelet: { maxPods: 110 } })), 'memory')).toBe('1565Mi');
});

test('Windows takes 110 pods, Linux never does by default', () => {
  const windows = type('m5.large', family('Windows2022'));
  expect(windows.capacity['pods']).toBe('110');
  expect(windows.overhead?.kubeReserved?.['memory']).toBe('1465Mi');
  expect(windows.capacity['ephemeral-storage']).toBe('50Gi');
  expect(windows.capacity['vpc.amazonaws.com/PrivateIPv4Address']).toBe('9');
  expect(type('m5.large').capacity['vpc.amazonaws.com/PrivateIPv4Address']).toBeUndefined();
});

test('a type that Windows does not run on has no addresses for Windows pods', () => {
  const arm = type('m6g.large', family('Windows2022'));
  expect(arm.capacity['vpc.amazonaws.com/PrivateIPv4Address']).toBeUndefined();
});

test('reserved interfaces lower the pods, down to none', () => {
  const one = type('t3.large', family('AL2'), { reservedEnis: 1 });
  expect(one.capacity['pods']).toBe('24');
  expect(one.overhead?.kubeReserved?.['memory']).toBe('640Mi');
  const bottlerocket = type('t3.large', family('Bottlerocket'), { reservedEnis: 1 });
  expect(bottlerocket.overhead?.kubeReserved?.['memory']).toBe('519Mi');
  expect(type('t3.large', family('AL2'), { reservedEnis: 1_000_000 }).capacity['pods']).toBe('0');
});

test('podsPerCore caps the pods, except on Bottlerocket and at zero', () => {
  const pods = (name: string, kubelet: object): unknown => type('t3.large', family(name, { kubelet })).capacity['pods'];
  expect(pods('AL2023', {})).toBe('35');
  expect(pods('AL2023', { podsPerCore: 1 })).toBe('2');
  expect(pods('AL2023', { podsPerCore: 4, maxPods: 20 })).toBe('8');
  expect(pods('AL2023', { podsPerCore: 40, maxPods: 20 })).toBe('20');
  expect(pods('AL2023', { podsPerCore: 0 })).toBe('35');
  expect(pods('Bottlerocket', { podsPerCore: 1 })).toBe('35');
});

test('an EFA-only interface costs pods on card 0 and nowhere else', () => {
  const primary = { networkCardIndex: 0, deviceIndex: 0, interfaceType: 'interface' };
  const pods = (card: number): unknown =>
    type(
      'm6idn.32xlarge',
      family('AL2023', {
        networkInterfaces: [primary, { networkCardIndex: card, deviceIndex: 1, interfaceType: 'efa-only' }],
      }),
    ).capacity['pods'];
  expect(type('m6idn.32xlarge').capacity['pods']).toBe('394');
  expect(pods(1)).toBe('394');
  expect(pods(0)).toBe('345');
});

test('what the kubelet settings reserve is taken verbatim, key by key', () => {
  const kubelet = { kubeReserved: { cpu: '2' }, systemReserved: { cpu: '3', memory: '20Gi' } };
  const spec = type('m5.xlarge', family('AL2023', { kubelet }));
  expect(spec.overhead?.kubeReserved).toEqual({ cpu: '2', memory: '893Mi', 'ephemeral-storage': '1Gi' });
  expect(spec.overhead?.systemReserved).toEqual({ cpu: '3', memory: '20Gi' });
});

test('hard eviction thresholds replace the defaults; soft ones never count', () => {
  const threshold = (kubelet: object): unknown =>
    type('m5.xlarge', family('AL2023', { kubelet })).overhead?.evictionThreshold;
  const memory = quantityIn('units', parseQuantity(type('m5.xlarge').capacity['memory'] ?? 0));
  expect(threshold({})).toEqual({ memory: '100Mi', 'ephemeral-storage': String(2 * 1024 ** 3) });
  expect(threshold({ evictionHard: { 'memory.available': '500Mi' } })).toMatchObject({ memory: '500Mi' });
  expect(threshold({ evictionHard: { 'memory.available': '10%' } })).toMatchObject({
    memory: String(Math.ceil(memory / 10)),
  });
  expect(threshold({ evictionHard: { 'memory.available': '100%', 'nodefs.available': '100%' } })).toEqual({
    memory: '0',
    'ephemeral-storage': '0',
  });
  expect(threshold({ evictionSoft: { 'memory.available': '5Gi' } })).toMatchObject({ memory: '100Mi' });
});

test('storage for pods is the root volume, the family device, or the joined local disks', () => {
  const storage = (spec: NodeClassShape['spec'], name = 'm6idn.32xlarge'): unknown =>
    type(name, { spec: spec ?? {} }).capacity['ephemeral-storage'];
  const xvda = { deviceName: '/dev/xvda', ebs: { volumeSize: '30Gi' } };
  const xvdb = { deviceName: '/dev/xvdb', ebs: { volumeSize: '40Gi' } };
  expect(storage({ amiFamily: 'AL2023' })).toBe('20Gi');
  expect(storage({ amiFamily: 'AL2023', blockDeviceMappings: [xvda, xvdb] })).toBe('30Gi');
  expect(storage({ amiFamily: 'Bottlerocket', blockDeviceMappings: [xvda, xvdb] })).toBe('40Gi');
  expect(storage({ amiFamily: 'Custom', blockDeviceMappings: [xvdb, xvda] })).toBe('30Gi');
  expect(storage({ amiFamily: 'AL2023', blockDeviceMappings: [xvda, { ...xvdb, rootVolume: true }] })).toBe('40Gi');
  expect(storage({ amiFamily: 'AL2023', blockDeviceMappings: [{ deviceName: '/dev/xvda', ebs: {} }] })).toBe('20Gi');
  const fromSnapshot = { deviceName: '/dev/xvdc', rootVolume: true, ebs: {} };
  expect(storage({ amiFamily: 'AL2023', blockDeviceMappings: [xvda, fromSnapshot] })).toBe('30Gi');
  expect(storage({ amiFamily: 'Windows2022', blockDeviceMappings: [fromSnapshot] })).toBe('50Gi');
  expect(storage({ amiFamily: 'AL2023', instanceStorePolicy: 'RAID0' })).toBe('7600G');
  expect(storage({ amiFamily: 'AL2023', instanceStorePolicy: 'RAID0' }, 'm5.large')).toBe('20Gi');
});

test('devices are counted: GPUs, Neuron devices and cores, EFA interfaces', () => {
  expect(type('g5.12xlarge').capacity['nvidia.com/gpu']).toBe('4');
  expect(type('g4ad.16xlarge').capacity['amd.com/gpu']).toBe('4');
  expect(type('inf2.24xlarge').capacity['aws.amazon.com/neuron']).toBe('6');
  expect(type('inf2.xlarge').capacity['aws.amazon.com/neuroncore']).toBe('2');
  expect(type('trn1.2xlarge').capacity['aws.amazon.com/neuron']).toBe('1');
  expect(type('p4d.24xlarge').capacity['vpc.amazonaws.com/efa']).toBe('4');
  expect(type('t3.large').capacity['vpc.amazonaws.com/pod-eni']).toBeUndefined();
});

test('percentages of hard eviction are of the estimate, also where the real memory is known', () => {
  const tenth = { spec: { ...family('AL2023').spec, kubelet: { evictionHard: { 'memory.available': '10%' } } } };
  const estimated = type('m5.xlarge', tenth);
  const known = type('m5.xlarge', tenth, { discoveredMemory: () => 16 * 2 ** 30 });
  expect(known.capacity['memory']).not.toBe(estimated.capacity['memory']);
  expect(known.overhead?.evictionThreshold).toEqual(estimated.overhead?.evictionThreshold);
});
