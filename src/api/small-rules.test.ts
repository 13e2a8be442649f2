import { expect, test } from 'vitest';
import { admitKind, byWeight, durationMs, ec2NodeClassDrifted, kindOf, nodePoolDrifted } from './index.ts';
import * as names from './names.ts';

test('more weight comes first, then the later name; unset weight is 0', () => {
  const pool = (name: string, weight?: number) => ({
    metadata: { name },
    spec: weight === undefined ? {} : { weight },
  });
  const sorted = [pool('a'), pool('b', 10), pool('c'), pool('a', 10), pool('d', 1)].sort(byWeight);
  expect(sorted.map(({ metadata, spec }) => `${metadata.name}${spec.weight ?? ''}`)).toEqual([
    'b10',
    'a10',
    'd1',
    'c',
    'a',
  ]);
});

test('durations are read as they are written, and Never is never over', () => {
  expect([durationMs('1h30m'), durationMs('Never'), durationMs(undefined), durationMs('soon')]).toEqual([
    5_400_000,
    Number.POSITIVE_INFINITY,
    undefined,
    undefined,
  ]);
});

test('drift needs both hashes, of one version', () => {
  const pool = (hash?: string, version?: string): Record<string, string> => ({
    ...(hash === undefined ? {} : { 'karpenter.sh/nodepool-hash': hash }),
    ...(version === undefined ? {} : { 'karpenter.sh/nodepool-hash-version': version }),
  });
  expect(nodePoolDrifted(pool('1', 'v3'), pool('2', 'v3'))).toBe(true);
  expect(nodePoolDrifted(pool('1', 'v3'), pool('1', 'v3'))).toBe(false);
  expect(nodePoolDrifted(pool('1', 'v3'), pool('2', 'v2'))).toBe(false);
  expect(nodePoolDrifted(pool('1', 'v3'), pool(undefined, 'v3'))).toBe(false);
  expect(nodePoolDrifted(pool(undefined, 'v3'), pool('1', 'v3'))).toBe(false);
  expect(nodePoolDrifted(pool('1'), pool('2'))).toBe(false);
  expect(nodePoolDrifted(undefined, pool('2', 'v3'))).toBe(false);
  const keys = names.awsAnnotation;
  const nodeClass = (hash: string) => ({ [keys.nodeClassHash]: hash, [keys.nodeClassHashVersion]: 'v5' });
  expect(ec2NodeClassDrifted(nodeClass('1'), nodeClass('2'))).toBe(true);
});

test('no two names of one sort are the same', () => {
  for (const table of Object.values(names)) {
    const values = typeof table === 'object' ? Object.values(table).filter((value) => typeof value === 'string') : [];
    const isAlias = table === names.normalizedLabels || table === names.awsNormalizedLabels;
    expect(isAlias ? [] : values.filter((value, index) => values.indexOf(value) !== index)).toEqual([]);
  }
});

test('a simulated node class needs nothing but a name, and is ready', () => {
  const definition = kindOf('karpenter.kwok.sh/v1alpha1', 'KWOKNodeClass');
  if (definition === undefined) throw new Error('there is no such kind');
  const { apiVersion, kind } = { apiVersion: 'karpenter.kwok.sh/v1alpha1', kind: 'KWOKNodeClass' };
  const { errors, object } = admitKind(definition, { apiVersion, kind, metadata: { name: 'default' } });
  expect(errors).toEqual([]);
  expect(object).toMatchObject({ spec: {}, status: { conditions: [{ type: 'Ready', status: 'True' }] } });
});
