import { expect, test } from 'vitest';
import type { NodeClaim } from '../../api/index.ts';
import { ClaimMemory } from './claim-memory.ts';

const claim = (name: string, uid: string): NodeClaim => ({ metadata: { name, uid }, spec: {} }) as NodeClaim;

test('a claim made again under the same name is not taken for its predecessor', () => {
  const memory = new ClaimMemory<number>();
  memory.set(claim('a', '1'), 7);
  expect(memory.get(claim('a', '1'))).toBe(7);
  expect(memory.get(claim('a', '2'))).toBeUndefined();
  memory.set(claim('a', '2'), 8);
  expect(memory.get(claim('a', '1'))).toBeUndefined();
  expect(memory.size).toBe(1);
});

test('a claim that is gone is forgotten by its name', () => {
  const memory = new ClaimMemory<number>();
  memory.set(claim('a', '1'), 7);
  memory.forget('a');
  expect(memory.size).toBe(0);
});

test('claims that are no longer there are forgotten together', () => {
  const memory = new ClaimMemory<number>();
  for (const name of ['a', 'b', 'c']) memory.set(claim(name, name), 1);
  memory.forgetAllBut((name) => name === 'b');
  expect(memory.size).toBe(1);
  expect(memory.get(claim('b', 'b'))).toBe(1);
});
