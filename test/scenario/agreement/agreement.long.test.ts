import { describe, test } from 'vitest';
import { freshSeeds } from '../../campaigns/seeds.ts';
import { expectAgreement } from './expected.ts';

describe('a plan from outside and the controller on many random clusters', () => {
  test.each(freshSeeds('agreement', 150))('agree on nodes, pods that wait and limits (seed %i)', expectAgreement);
});
