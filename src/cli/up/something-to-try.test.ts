import { expect, test } from 'vitest';
import type { Decision } from '../../ports/index.ts';
import type { Overview } from './overview.ts';
import { somethingToTry } from './something-to-try.ts';

const cluster = (given: Partial<Overview> = {}): Overview => ({
  nodes: [],
  readyNodes: 0,
  workloads: [],
  running: 0,
  waiting: 0,
  priceUsdPerHour: 0,
  ...given,
});
const web = { namespace: 'shop', name: 'web', running: 3, waiting: 0, ending: 0 };
const decided = (what: Decision['what'], name: string, namespace?: string): Decision => ({
  kind: 'Decision',
  id: 'd-0001',
  time: '2026-01-01T00:00:00Z',
  what,
  objects: [{ kind: 'Pod', name, ...(namespace !== undefined && { namespace }) }],
  reasons: [],
});

test.each([
  ['nothing is there', cluster(), [], 'kubectl create deployment web'],
  ['the demo runs', cluster({ workloads: [web] }), [], 'kubectl scale deployment/web -n shop'],
  ['a pod finds no place', cluster({ waiting: 1 }), [decided('refuse', 'huge', 'shop')], 'explain pod shop/huge'],
  ['it has gone', cluster({ workloads: [web] }), [decided('refuse', 'huge', 'shop')], 'kubectl scale'],
  ['nodes are on their way', cluster({ waiting: 2 }), [decided('launch', 'default-a')], 'kubectl get nodeclaims -w'],
  ['a node came', cluster(), [decided('launch', 'default-a')], 'kubectl describe nodeclaim default-a'],
  ['nodes went', cluster(), [decided('disrupt', 'default-a'), decided('hold', 'b')], 'explain cluster'],
] as const)('where %s', (_, overview, decisions, expected) => {
  expect(somethingToTry(overview, decisions)).toContain(expected);
});
