import { describe, expect, test } from 'vitest';
import { templatesFor } from '../launch-templates/launch-plan.testing.ts';
import { requestOf } from '../user-data/user-data.testing.ts';
import { userDataFor } from '../user-data/user-data.ts';
import { contextOf, family, infoOf, type } from './instance-types.testing.ts';
import { expressionProblem } from './kubelet-values.ts';

const scaled = (kubelet: object, amiFamily = 'AL2023') => family(amiFamily, { kubelet });

describe('expressions in kubelet settings', () => {
  test('are worked out for each type, in the unit of their field and rounded up', () => {
    const nodeClass = scaled({
      maxPods: 'vcpus * 8',
      kubeReserved: { cpu: 'max(60, vcpus * 30)', memory: 'memory_mib / 100', pid: '4096' },
      systemReserved: { cpu: 'vcpus * 7', memory: 'memory_mib / 200', 'ephemeral-storage': 'vcpus + 1' },
    });
    const large = type('m5.large', nodeClass);
    expect(large.capacity['pods']).toBe('16');
    expect(large.overhead?.kubeReserved).toMatchObject({ cpu: '60m', memory: '96Mi', pid: '4096' });
    expect(large.overhead?.systemReserved).toEqual({ cpu: '20m', memory: '48Mi', 'ephemeral-storage': '3Gi' });
    const xlarge = type('m5.xlarge', nodeClass);
    expect(xlarge.capacity['pods']).toBe('32');
    expect(xlarge.overhead?.kubeReserved).toMatchObject({ cpu: '120m', memory: '176Mi' });
    expect(xlarge.overhead?.systemReserved).toMatchObject({ cpu: '30m', memory: '96Mi' });
  });

  test('see the pods of the type: by default in maxPods, those that came of it in reservations', () => {
    const spec = type(
      'm5.large',
      scaled({ maxPods: 'min(20, max_pods)', kubeReserved: { memory: '11 * max_pods + 255' } }),
    );
    expect(spec.capacity['pods']).toBe('20');
    expect(spec.overhead?.kubeReserved?.['memory']).toBe('480Mi');
    const plain = type('m5.large', scaled({ kubeReserved: { memory: 'max_pods' } }));
    expect([plain.capacity['pods'], plain.overhead?.kubeReserved?.['memory']]).toEqual(['29', '32Mi']);
  });

  test('see interfaces, addresses and the name of the type', () => {
    const eni = scaled({ maxPods: '(default_enis - 1) * (ips_per_eni - 1) + 2' });
    expect(type('m5.large', eni).capacity['pods']).toBe('20');
    const named = scaled({ maxPods: 'instance_type.startsWith("m5.") ? 10 : 30' });
    expect([type('m5.large', named), type('c5.large', named)].map(({ capacity }) => capacity['pods'])).toEqual([
      '10',
      '30',
    ]);
  });

  test('that fail on a type leave it without offerings, and say which and why', () => {
    const small = scaled({ maxPods: 'vcpus - 3' });
    expect(type('m5.large', small).offerings).toEqual([]);
    expect(type('m5.xlarge', small).offerings).not.toEqual([]);
    const context = contextOf(small);
    expect(expressionProblem([infoOf('m5.xlarge')], context)).toBeUndefined();
    expect(expressionProblem([infoOf('m5.xlarge'), infoOf('m5.large')], context)).toBe(
      'spec.kubelet.maxPods gives -1, which is negative on m5.large',
    );
    const divided = contextOf(scaled({ systemReserved: { cpu: '100 / (vcpus - vcpus)' } }));
    expect(expressionProblem([infoOf('m5.large')], divided)).toMatch(
      /systemReserved\[cpu\] division by zero on m5.large/,
    );
  });

  test('change nothing while the gate is off', () => {
    const spec = type('m5.large', scaled({ maxPods: 'vcpus' }), { expressions: [] });
    expect(spec.capacity['pods']).toBe('29');
  });
});

describe('a node', () => {
  test.each(['AL2023', 'AL2', 'Bottlerocket', 'Windows2022'] as const)(
    'is configured with what its type was planned with: %s',
    (amiFamily) => {
      const kubelet = { kubeReserved: { memory: 'memory_mib / 100', cpu: '70m' } };
      const text = userDataFor(requestOf(amiFamily, { kubelet }, { reserved: { kubeReserved: { memory: '96Mi' } } }));
      expect(text).toContain('96Mi');
      expect(text).toContain('70m');
      expect(text).not.toContain('memory_mib');
    },
  );

  test('is not booted without the amount', () => {
    const kubelet = { kubeReserved: { memory: 'memory_mib / 100' } };
    expect(() => userDataFor(requestOf('AL2023', { kubelet }))).toThrow(/kubeReserved\[memory\]/);
  });
});

test('types for which expressions give the same share a template, others do not', () => {
  const { nodeClass } = requestOf('AL2023', { kubelet: { systemReserved: { cpu: 'vcpus * 10' } } });
  const shape = scaled({ systemReserved: { cpu: 'vcpus * 10' } });
  const types = ['m5.large', 'c5.large', 'm5.xlarge'].map((name) => {
    const spec = type(name, shape);
    return { ...spec, capacity: { ...spec.capacity, pods: '29' } };
  });
  const seen: unknown[] = [];
  const templates = templatesFor({ types, nodeClass, onBoot: ({ reserved }) => seen.push(reserved) });
  expect(templates.map((each) => each.candidates.map(({ type: { name } }) => name))).toEqual([
    ['m5.large', 'c5.large'],
    ['m5.xlarge'],
  ]);
  expect(seen).toEqual([{ systemReserved: { cpu: '20m' } }, { systemReserved: { cpu: '40m' } }]);
});
