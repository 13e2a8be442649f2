// Stands in for fast-check in `npm run test:long`: the same properties, with a seed of their own for this run instead of the
// fixed one they have in `npm test`. KERF_BASE_SEED plays a run again, whichever worker ran which file.
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import * as real from '../../node_modules/fast-check/lib/fast-check.js';
import { baseSeed } from './seeds.ts';

export * from '../../node_modules/fast-check/lib/fast-check.js';

/** Distinguished by the test they are in and their place there. */
const counts = new Map<string, number>();

function freshSeed(): number {
  const { testPath = '', currentTestName = '' } = expect.getState();
  const test = `${testPath.split('/').at(-1)} ${currentTestName}`;
  const count = (counts.get(test) ?? 0) + 1;
  counts.set(test, count);
  return createHash('sha256').update(`${baseSeed} ${test} ${count}`).digest().readInt32LE(0);
}

type Assert = typeof real.assert;

export const assert = ((property: Parameters<Assert>[0], parameters: Parameters<Assert>[1] = {}) => {
  const seed = freshSeed();
  const about = `KERF_BASE_SEED=${baseSeed} plays it again`;
  const fail = (error: unknown): never => {
    if (error instanceof Error) error.message += `\n${about}`;
    throw error;
  };
  try {
    const ended = real.assert(property, { ...parameters, seed }) as unknown;
    return ended instanceof Promise ? ended.catch(fail) : ended;
  } catch (error) {
    return fail(error);
  }
}) as Assert;

const all = { ...real, assert };

// oxlint-disable-next-line import/no-default-export -- stands in for a module that has one
export { all as default };

console.log(`property tests: KERF_BASE_SEED=${baseSeed}`);
