import { expect, test } from 'vitest';
import { createIdentity } from './identity.ts';
import { Store } from './store.ts';

const object = (name: string, value = 0) => ({ metadata: { name, namespace: 'n' }, value });
const make = (historySize?: number): Store =>
  new Store({ identity: createIdentity(1), ...(historySize !== undefined && { historySize }) });
const names = (values: Iterable<{ metadata: { name: string } }>): string[] =>
  Array.from(values, ({ metadata }) => metadata.name);

test('every change has one revision, and revisions grow over all collections', () => {
  const store = make();
  const versions = [store.put('a', object('x')), store.put('b', object('y')), store.put('a', object('x', 1))].map(
    ({ metadata }) => Number(metadata.resourceVersion),
  );
  expect(versions).toEqual([2, 3, 4]);
  expect(store.revision).toBe(4);
});

test('a collection can be read as it was at any revision still known', () => {
  const store = make();
  const first = Number(store.put('a', object('x')).metadata.resourceVersion);
  const second = store.put('a', object('y'));
  store.remove('a', second);
  store.put('a', object('x', 5));
  const collection = store.collection('a');
  expect(names(collection.at(first).values())).toEqual(['x']);
  expect(names(collection.at(first + 1).values())).toEqual(['x', 'y']);
  expect(collection.at(first + 1).get('n/x')?.['value']).toBe(0);
  expect(collection.objects.get('n/x')?.['value']).toBe(5);
});

test('history is bounded: what fell out is behind `oldest`', () => {
  const store = make(10);
  for (let index = 0; index < 100; index += 1) store.put('a', object(`x-${index}`));
  const collection = store.collection('a');
  expect(collection.oldest).toBeGreaterThan(1);
  expect(store.revision - collection.oldest).toBeGreaterThanOrEqual(10);
  expect(collection.changeAfter(collection.oldest)?.revision).toBe(collection.oldest + 1);
});

test('stored objects cannot be changed by anyone', () => {
  const stored = make().put('a', { ...object('x'), spec: { deep: [{ er: 1 }] } });
  expect(() => {
    (stored['spec'] as { deep: { er: number }[] }).deep.push({ er: 2 });
  }).toThrow();
});

test('ids depend on the seed and the number of draws, nothing else', () => {
  const draw = (seed: number, skip: number): string[] => {
    const identity = createIdentity(seed);
    identity.drawn = skip;
    return [identity.uid(), identity.suffix(), identity.uid()];
  };
  expect(draw(7, 0)).toEqual(draw(7, 0));
  expect(draw(7, 0)).not.toEqual(draw(8, 0));
  const identity = createIdentity(7);
  const many = Array.from({ length: 20_000 }, () => identity.uid());
  expect(new Set(many).size).toBe(many.length);
  expect(many.every((uid) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uid))).toBe(
    true,
  );
  expect(new Set(Array.from({ length: 5_000 }, () => identity.suffix())).size).toBeGreaterThan(4_990);
});

test('a store can begin where another one was, and neither hears of the other from then on', () => {
  const first = make();
  first.put('a', object('x'));
  const uid = first.identity.uid();
  const state = first.state();
  first.put('a', object('y'));
  const second = make();
  second.adopt(state);
  expect(names(second.collection('a').objects.values())).toEqual(['x']);
  expect(second.revision).toBe(2);
  expect(second.collection('a').oldest).toBe(2);
  expect(second.identity.uid()).not.toBe(uid);
  expect(second.put('a', object('z')).metadata.resourceVersion).toBe('3');
  expect(names(first.collection('a').objects.values())).toEqual(['x', 'y']);
});
