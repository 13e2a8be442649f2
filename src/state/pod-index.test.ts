import { expect, test } from 'vitest';
import type { Pod } from '../ports/index.ts';
import { PodIndex } from './pod-index.ts';

const pod = (name: string, nodeName?: string): Pod => ({
  metadata: { name, namespace: 'default', uid: name },
  spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }) },
});

/** Entries of every map inside, whatever it is called. */
function held(index: object): number {
  return Object.values(index)
    .filter((value) => value instanceof Map)
    .reduce((sum, { size }) => sum + size, 0);
}

test('the version of a node moves with its pods, and never comes back to what it was with other pods', () => {
  const index = new PodIndex();
  const seen = [index.versionOf('a')];
  const note = (): void => void seen.push(index.versionOf('a'));
  index.set(pod('one', 'a'));
  note();
  index.set(pod('two', 'a'));
  note();
  index.delete('default/one');
  note();
  index.set(pod('one', 'a'));
  note();
  expect(new Set(seen).size).toBe(seen.length);
});

test('a node without pods has the version of one that never had any', () => {
  const index = new PodIndex();
  index.set(pod('one', 'a'));
  index.set(pod('one', 'b'));
  expect(index.versionOf('a')).toBe(index.versionOf('never seen'));
  expect(index.versionOf('b')).not.toBe(index.versionOf('never seen'));
});

test('nodes that come and go leave nothing behind', () => {
  const index = new PodIndex();
  for (let round = 0; round < 500; round += 1) {
    index.set(pod(`waiting-${round}`, ''));
    index.set(pod(`waiting-${round}`, `node-${round}`));
    index.set(pod(`bound-${round}`, `node-${round}`));
    index.delete(`default/waiting-${round}`);
    index.delete(`default/bound-${round}`);
  }
  expect(held(index)).toBe(0);
});
