import { describe, expect, test } from 'vitest';
import { kubeletProblem, staticKubelet } from './kubelet-configuration.ts';

type Kubelet = Parameters<typeof staticKubelet>[0];
/** Settings as the API server hands them out: any field. */
const settings = (fields: object): Kubelet => fields;
const problem = (fields: object, family = 'AL2023') => kubeletProblem(settings(fields), family);

describe('kubelet settings', () => {
  test.each([
    {},
    { registryPullQPS: 10, registryBurst: 20, containerLogMaxSize: '20Mi', shutdownGracePeriod: '30s' },
    { featureGates: { A: true }, reservedMemory: [{ numaNode: 0, limits: { memory: '1Gi' } }] },
    { authentication: { webhook: { enabled: true, cacheTTL: '2m' } }, memorySwap: { swapBehavior: 'LimitedSwap' } },
    { logging: { anything: { goes: 1 } } },
    { evictionHard: { 'memory.available': '5.125%', 'pid.available': '' }, maxPods: 0 },
    { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' },
  ])('%j is fine', (fields) => {
    expect(problem(fields)).toBeUndefined();
  });

  test.each<[object, string]>([
    [{ registryBurstt: 1 }, 'unknown field "registryBurstt"; did you mean registryBurst?'],
    [{ authentication: { webhok: {} } }, 'unknown field "authentication.webhok"; did you mean webhook?'],
    [{ registryPullQPS: 'ten' }, 'spec.kubelet.registryPullQPS: must be a whole number, not "ten"'],
    [{ shutdownGracePeriod: 30 }, 'spec.kubelet.shutdownGracePeriod: must be a duration'],
    [{ enforceNodeAllocatable: 'pods' }, 'must be a list'],
    [{ featureGates: { A: 'true' } }, 'spec.kubelet.featureGates[A]: must be true or false'],
    [{ registerWithTaints: [] }, 'registerWithTaints: cannot be set'],
    [{ evictionMinimumReclaim: { 'memory.left': '5%' } }, '"memory.left" is not an eviction signal'],
    [{ evictionHard: { 'memory.available': '110%' } }, '"110%" must be a percentage'],
    [{ evictionSoft: { 'memory.available': '5%' } }, 'evictionSoft[memory.available]: has no matching'],
    [{ evictionSoftGracePeriod: { 'memory.available': '-1m' } }, 'must be a duration'],
    [{ kubeReserved: { gpu: '1' } }, '"gpu" cannot be reserved'],
    [{ systemReserved: { cpu: '-1' } }, 'must not be negative'],
    [{ imageGCHighThresholdPercent: 10, imageGCLowThresholdPercent: 60 }, '(10) must be greater than'],
    [{ imageGCHighThresholdPercent: -10 }, '-10 must be between 0 and 100'],
    [{ maxPods: -1 }, 'maxPods: -1 must not be negative'],
  ])('%j is invalid', (fields, message) => {
    expect(problem(fields)).toMatchObject({ reason: 'InvalidKubeletConfiguration' });
    expect(problem(fields)?.message).toContain(message);
  });

  test('every problem is named at once, also beside an expression', () => {
    const message = problem({ maxPods: 'vcpus * 10', foo: 1, bar: 2 })?.message;
    expect(message).toContain('"foo"');
    expect(message).toContain('"bar"');
    expect(message).not.toContain('maxPods');
  });

  test.each([
    { maxPods: 'min(110, vcpus * 20)' },
    { kubeReserved: { cpu: 'vcpus * 10' } },
    { systemReserved: { memory: 'max_pods * 11' } },
  ])('%j is an expression', (fields) => {
    expect(problem(fields)).toMatchObject({ reason: 'KubeletExpressionsDisabled' });
    expect(staticKubelet(settings(fields))).toEqual(
      Object.fromEntries(Object.keys(fields).flatMap((field) => (field === 'maxPods' ? [] : [[field, {}]]))),
    );
  });

  test.each<[string, string]>([
    ['min(110,', 'Unexpected'],
    ['cores * 2', 'Unknown variable: cores'],
    ['instance_type', 'gives a string'],
    ['max(1, 2, 3)', 'no matching overload'],
    ['[1, 2].map(x, x).size()', 'calls map'],
    [`1${' + 1'.repeat(600)}`, 'longer than'],
  ])('with the gate, the expression %j must be one', (maxPods, message) => {
    const found = kubeletProblem(settings({ maxPods }), 'AL2023', { expressions: true });
    expect(found).toMatchObject({ reason: 'KubeletExpressionInvalid' });
    expect(found?.message).toContain(message);
    expect(found?.message).toContain('spec.kubelet.maxPods');
  });

  test('with the gate, expressions are fine, also where a share is taken', () => {
    const fields = {
      maxPods: '((default_enis - 1) * (ips_per_eni - 1)) + 2',
      kubeReserved: { cpu: 'min(vcpus, 1) * 60 + max(vcpus - 4, 0) * 2.5', memory: '11 * max_pods + 255' },
    };
    expect(kubeletProblem(settings(fields), 'Bottlerocket', { expressions: true })).toBeUndefined();
  });

  test.each<[string, object]>([
    ['Bottlerocket', { registryPullQPS: 10 }],
    ['AL2', { registryPullQPS: 10 }],
    ['Windows2022', { registryPullQPS: 10 }],
    ['Bottlerocket', { podsPerCore: 10 }],
    ['AL2', { clusterDNS: ['10.0.0.10', '10.0.0.11'] }],
  ])('%s does not pass on %j', (family, fields) => {
    expect(problem(fields, family)).toMatchObject({ reason: 'UnsupportedKubeletConfiguration' });
    expect(problem(fields, 'AL2023')).toBeUndefined();
    expect(problem(fields, 'Custom')).toBeUndefined();
  });
});
