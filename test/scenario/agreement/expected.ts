// What plan and controller must agree on. Where a limit keeps a pod from its node, kube-scheduler decides which pods use the
// nodes there are, and it knows fewer domains than planning does (those that nodes are in, not those that nodes could be
// in): which and how many pods wait in the end may differ there, the nodes may not. Where a spread over zones keeps pods
// waiting, fewer may wait than planned, never more.
import { expect } from 'vitest';
import { compare } from './agreement.ts';
import { randomCluster } from './random-cluster.ts';

export async function expectAgreement(seed: number): Promise<void> {
  const { isLimited, isSpread, settled, ...always } = await compare(seed, randomCluster(seed));
  expect(always).toEqual({ firstPass: [], atRest: [], exceeded: [] });
  if (isLimited) return;
  expect(settled.filter((each) => !isSpread || each.includes('only in the cluster'))).toEqual([]);
}
