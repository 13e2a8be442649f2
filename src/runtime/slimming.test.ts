import { expect, test } from 'vitest';
import type { KubeObject } from '../ports/index.ts';
import { slimmer } from './slimming.ts';

interface Thing extends KubeObject {
  spec?: unknown;
  status?: unknown;
}

const thing = (name: string): Thing => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, labels: { app: 'web' }, annotations: { keep: '1', 'drop/me': '2' } },
  spec: { containers: [{ name: 'main', env: [1], ports: [80] }, { name: 'proxy' }], node: name },
  status: { phase: 'Running', big: [1, 2, 3] },
});

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(Object.freeze(value))) frozen(part);
  return value;
}

test('dropped fields are gone, in lists too, and the object given is untouched', () => {
  const slim = slimmer<Thing>({
    drop: ['status.big', 'spec.containers.*.env', 'metadata.annotations.drop/me', 'no.such'],
  });
  expect(slim(frozen(thing('a')))).toEqual({
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'a', labels: { app: 'web' }, annotations: { keep: '1' } },
    spec: { containers: [{ name: 'main', ports: [80] }, { name: 'proxy' }], node: 'a' },
    status: { phase: 'Running' },
  });
});

test('equal parts of different objects become one, other parts stay their own', () => {
  const slim = slimmer<Thing>({ share: ['metadata.labels', 'spec.containers'], drop: ['spec.containers.*.env'] });
  const first = slim(frozen(thing('a')));
  const second = slim(frozen(thing('b')));
  const containers = ({ spec }: Thing): unknown => (spec as { containers: unknown }).containers;
  expect(second).toEqual({ ...thing('b'), spec: { containers: containers(first), node: 'b' } });
  expect(containers(second)).toBe(containers(first));
  expect(second.metadata.labels).toBe(first.metadata.labels);
  expect(second.metadata).not.toBe(first.metadata);
});

test('parts that are missing, null or not objects are left as they are', () => {
  const slim = slimmer<Thing>({ share: ['spec.containers', 'status.phase'], drop: ['spec.containers.*.env'] });
  const odd = { metadata: { name: 'odd' }, spec: { containers: null }, status: { phase: 'x' } };
  expect(slim(frozen(odd))).toEqual(odd);
  expect(slim({ metadata: {}, spec: 7 })).toEqual({ metadata: {}, spec: 7 });
});

test('a list is sifted before the rules inside it, and one of which nothing is left is dropped', () => {
  const named = (list: readonly unknown[]): unknown[] =>
    list.filter((item) => (item as { name?: string }).name === 'main');
  const slim = slimmer<Thing>({
    sift: { 'spec.containers': named, 'status.big': () => undefined },
    drop: ['spec.containers.*.env'],
  });
  expect(slim(frozen(thing('a')))).toMatchObject({ spec: { containers: [{ name: 'main', ports: [80] }], node: 'a' } });
  expect(slim(thing('a')).status).toEqual({ phase: 'Running' });
});

test('what an update left as it was stays the part of the last state', () => {
  const slim = slimmer<Thing>({ share: ['metadata.labels', 'spec.containers'] });
  const before = slim(thing('a'));
  const fresh = slimmer<Thing>({ share: ['metadata.labels', 'spec.containers'] });
  const after = fresh({ ...thing('a'), metadata: { name: 'a', labels: { app: 'other' } } }, before);
  expect((after.spec as { containers: unknown }).containers).toBe((before.spec as { containers: unknown }).containers);
  expect(after.metadata.labels).toEqual({ app: 'other' });
});
