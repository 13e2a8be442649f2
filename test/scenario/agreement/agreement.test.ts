import { describe, test } from 'vitest';
import { fixedSeeds } from '../../campaigns/seeds.ts';
import { expectAgreement } from './expected.ts';

describe('a plan from outside and the controller on a random cluster', () => {
  test.each(fixedSeeds(1, 16))('agree on nodes, pods that wait and limits (seed %i)', expectAgreement);
});
