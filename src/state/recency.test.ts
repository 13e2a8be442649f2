import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import type { Node } from '../ports/index.ts';
import { Cluster } from './cluster.ts';
import { ObjectStore } from './object-store.ts';

const cluster = (): Cluster => new Cluster(new VirtualClock({ settle: async () => {} }));
const node = (resourceVersion: string, label: string, uid = 'uid'): Node => ({
  metadata: { name: 'a', uid, resourceVersion, labels: { label } },
});
const labelOf = (state: Cluster): string | undefined => state.nodes.get('a')?.metadata.labels?.['label'];

describe('the model', () => {
  test('keeps the newer version when an older one comes late', () => {
    const state = cluster();
    state.setNode(node('10', 'new'));
    state.setNode(node('9', 'old'));
    expect(labelOf(state)).toBe('new');
    state.setNode(node('11', 'newest'));
    expect(labelOf(state)).toBe('newest');
  });

  test('takes any version of another object of the same name', () => {
    const state = cluster();
    state.setNode(node('10', 'first'));
    state.setNode(node('9', 'second', 'other'));
    expect(labelOf(state)).toBe('second');
  });

  test('takes versions that cannot be compared', () => {
    const state = cluster();
    state.setNode(node('abc', 'first'));
    state.setNode(node('abb', 'second'));
    expect(labelOf(state)).toBe('second');
  });

  test('does not bring back an object whose end it heard of, when the answer to a write comes late', () => {
    const state = cluster();
    state.setNode(node('10', 'there'));
    state.removeNode(node('11', 'gone'));
    state.setNode(node('12', 'late'));
    expect(labelOf(state)).toBeUndefined();
  });

  test('takes an object back that the watch shows again: it was never gone, or a backup brought it back', () => {
    const state = cluster();
    state.setNode(node('10', 'there'));
    state.removeNode(node('10', 'not in a wrong listing'));
    state.noteShown(node('10', 'there'), undefined);
    state.setNode(node('10', 'there'));
    expect(labelOf(state)).toBe('there');
  });

  test('takes an older version if the watch itself went back', () => {
    const state = cluster();
    state.setNode(node('10', 'newer'));
    state.noteShown(node('8', 'restored'), node('10', 'newer'));
    state.setNode(node('8', 'restored'));
    expect(labelOf(state)).toBe('restored');
    state.setNode(node('7', 'late'));
    expect(labelOf(state)).toBe('restored');
  });

  test('does not go back when the watch shows for the first time what an answer reported already', () => {
    const state = cluster();
    state.setNode(node('10', 'answered'));
    state.noteShown(node('9', 'created'), undefined);
    state.setNode(node('9', 'created'));
    expect(labelOf(state)).toBe('answered');
  });

  test('knows a claim as deleted once the API server accepted that, and keeps it so when older news come', () => {
    const state = cluster();
    const claim = (resourceVersion: string) =>
      ({ metadata: { name: 'a', uid: 'uid', resourceVersion }, spec: {} }) as never;
    state.setClaim(claim('10'));
    state.markClaimDeleted(claim('10'));
    state.setClaim(claim('10'));
    expect(state.claims.get('a')?.metadata.deletionTimestamp).toBe('2026-01-01T00:00:00Z');
    state.markClaimDeleted({ ...(claim('10') as object), metadata: { name: 'b', uid: 'other' } } as never);
    expect(state.claims.get('b')).toBeUndefined();
  });
});

describe('objects filed under a value', () => {
  const store = () => new ObjectStore<Node>((each) => each.metadata.labels?.['label']);
  const named = (name: string, label: string): Node => ({ metadata: { name, labels: { label } } });
  const names = (nodes: readonly Node[]) => nodes.map(({ metadata }) => metadata.name);

  test('are found under it, move when it changes and leave when they go', () => {
    const nodes = store();
    nodes.set(named('a', 'x'));
    nodes.set(named('b', 'x'));
    expect(names(nodes.filedUnder('x'))).toEqual(['a', 'b']);
    nodes.set(named('a', 'y'));
    expect([names(nodes.filedUnder('x')), names(nodes.filedUnder('y'))]).toEqual([['b'], ['a']]);
    nodes.delete('b');
    expect(names(nodes.filedUnder('x'))).toEqual([]);
  });

  test('are found in their newest version', () => {
    const nodes = store();
    nodes.set(named('a', 'x'));
    const newer = named('a', 'x');
    nodes.set(newer);
    expect(nodes.filedUnder('x')[0]).toBe(newer);
  });
});
