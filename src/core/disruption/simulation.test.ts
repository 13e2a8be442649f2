// Where pods may go when their nodes do, and what is reported when they cannot.
import { describe, expect, test } from 'vitest';
import { label } from '../../api/names.ts';
import { instanceType, pod } from '../testing/builders.testing.ts';
import { driftCommand } from './drift.ts';
import { consolidationProblem, emptinessProblem } from './eligibility.ts';
import { finish, fleetOf, machine, names, pool, roundOf, running } from './fleet.testing.ts';
import { singleNodeCommand } from './single-node.ts';
import { failureText } from './what-if.ts';

const now = '2026-01-01T12:00:00Z';
const justNow = { claimStatus: { lastPodEventTime: '2026-01-01T11:59:30Z' } };

test('of pods without a place five are named and the rest counted', () => {
  const lost = Array.from({ length: 8 }, (_, index) =>
    running('a', { name: `p${index}`, spec: { nodeSelector: { only: 'here' } } }),
  );
  const round = roundOf([pool(), ...machine('a', { type: 'c16' }), ...lost]);
  const text = failureText(round.whatIf.simulate(round.fleet.members, { sparesRestless: true }));
  expect(text).toMatch(/^Not all pods would schedule, default\/p0 => /);
  expect(text.match(/default\/p\d => /g)).toHaveLength(5);
  expect(text).toMatch(/ and 3 other\(s\)$/);
});

describe('a node inside its quiet time', () => {
  const quietPool = pool('default', { consolidateAfter: '1m' });
  const source = machine('a', { type: 'c8' });
  const destination = machine('b', { type: 'c8', ...justNow });

  test('takes no pods that consolidation moves', () => {
    const objects = [quietPool, ...source, running('a', { cpu: '7' }), ...destination, running('b', { cpu: '500m' })];
    const round = roundOf(objects, { time: now });
    const simulation = round.whatIf.simulate(round.fleet.members.slice(0, 1), { sparesRestless: true });
    expect(simulation.placements()).toEqual([]);
    expect(simulation.newNodes).toHaveLength(1);
  });

  test('takes pods that drift moves', () => {
    const drifted = machine('a', { type: 'c8', conditions: { Drifted: 'True' } });
    const objects = [quietPool, ...drifted, running('a', { cpu: '7' }), ...destination, running('b', { cpu: '500m' })];
    const { command } = finish(driftCommand(roundOf(objects, { time: now })));
    expect(command).toMatchObject({ replacements: [], placements: [{ name: 'b' }] });
  });

  test('takes pods that wait, and those of nodes that leave', () => {
    const leaving = machine('c', { claimMetadata: { deletionTimestamp: now } });
    const objects = [
      quietPool,
      ...source,
      running('a', { cpu: '7' }),
      ...destination,
      ...leaving,
      running('c', { cpu: '2' }),
      pod({ cpu: '2' }),
    ];
    const round = roundOf(objects, { time: now });
    const members = round.fleet.members.filter(({ name }) => name === 'a');
    const placements = round.whatIf.simulate(members, { sparesRestless: true }).placements();
    expect(placements.find(({ name }) => name === 'b')?.pods).toHaveLength(2);
  });

  test.each([
    ['is of a static pool', pool('other', { consolidateAfter: '1m' }, { replicas: 1 })],
    ['is never consolidated', pool('other', { consolidateAfter: 'Never' })],
    ['is consolidated at once', pool('other', { consolidateAfter: '0s' })],
  ])('takes them where it %s', (_, other) => {
    const open = machine('b', { type: 'c8', pool: 'other', ...justNow });
    const objects = [quietPool, other, ...source, running('a', { cpu: '7' }), ...open, running('b', { cpu: '500m' })];
    const outcome = finish(singleNodeCommand(roundOf(objects, { time: now })));
    expect(names(outcome.command?.members)).toContain('a');
    expect(outcome.command?.placements).toMatchObject([{ name: 'b' }]);
  });
});

describe('a node that consolidation leaves alone', () => {
  const problemOf = (labels: Record<string, string>, disruption = {}) => {
    const objects = [pool('default', disruption), ...machine('a', { labels }), running('a')];
    return consolidationProblem(fleetOf(objects).members[0] as never)?.message;
  };

  test('because it has no zone or capacity type says which label is missing', () => {
    expect(problemOf({ [label.zone]: undefined as never })).toBe(`Node does not have label "${label.zone}"`);
    expect(problemOf({ [label.capacityType]: undefined as never })).toBe(
      `Node does not have label "${label.capacityType}"`,
    );
  });

  test('although empty says that consolidation is disabled, or that it holds room for a buffer', () => {
    const empty = (disruption = {}) => fleetOf([pool('default', disruption), ...machine('a')]).members[0] as never;
    expect(emptinessProblem(empty({ consolidateAfter: 'Never' }), () => false)?.message).toBe(
      'NodePool "default" has consolidation disabled',
    );
    expect(emptinessProblem(empty(), () => true)?.message).toBe('Node "a" has buffer pods');
  });
});

describe('the savings of a replacement', () => {
  test('are what goes less the cheapest offering of the cheapest type that comes', () => {
    const types = [
      instanceType({ name: 'c16', cpu: '16', price: 1.6 }),
      instanceType({ name: 'c4', cpu: '4', price: 0.4 }),
      instanceType({ name: 'x4', cpu: '4', price: 0.3, zones: ['zone-3'] }),
    ];
    const objects = [pool(), ...machine('a', { type: 'c16' }), running('a', { cpu: '3' })];
    expect(finish(singleNodeCommand(roundOf(objects, { types }))).command?.savings).toBeCloseTo(1.3);
  });
});
