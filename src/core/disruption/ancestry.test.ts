// Consolidation settles: it never replaces a node by the same thing, and never brings back within a day what it replaced.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { annotation } from '../../api/names.ts';
import { instanceType, sizes } from '../testing/builders.testing.ts';
import { finish, machine, pool, roundOf, running } from './fleet.testing.ts';
import { singleNodeCommand } from './single-node.ts';
import { nodeVerdicts } from './verdicts.ts';

const capacityTypes = ['on-demand'];
const small = [
  instanceType({ name: 'c4', cpu: '4', price: 0.4, capacityTypes }),
  instanceType({ name: 'x4', cpu: '4', price: 0.3, capacityTypes }),
];
const came = (replaces: string, time = '2026-01-01T00:00:00Z') =>
  machine('b', { type: 'c4', claimMetadata: { annotations: { [annotation.replaces]: `${replaces}/${time}` } } });
const at = (objects: Parameters<typeof roundOf>[0], time = '2026-01-01T06:00:00Z') =>
  roundOf([pool(), ...objects, running('b', { cpu: '3' })], { types: small, time });

describe('a node that came instead of another', () => {
  test('is not replaced by what it replaced within a day, and says so', () => {
    const round = at(came('x4/zone-1/on-demand'));
    const outcome = finish(singleNodeCommand(round));
    expect(outcome.command).toBeUndefined();
    expect(outcome.refused[0]?.answer.code).toBe('ReplacementLoop');
    const [verdict] = finish(nodeVerdicts(round));
    expect(verdict?.blockers.map(({ code }) => code)).toContain('ReplacementLoop');
    expect(verdict?.blockers[0]?.message).toContain('x4 in zone-1 (on-demand) was replaced 6.0 hours ago');
  });

  test('may be after a day', () => {
    const round = at(came('x4/zone-1/on-demand'), '2026-01-02T00:00:01Z');
    expect(finish(singleNodeCommand(round)).command?.replacements).toHaveLength(1);
  });

  test('may be replaced by anything else', () => {
    const round = at(came('m4/zone-1/on-demand'));
    expect(finish(singleNodeCommand(round)).command?.replacements).toHaveLength(1);
  });

  test('hands on what it came instead of, and its own shape', () => {
    const { command } = finish(singleNodeCommand(at(came('m4/zone-1/on-demand'))));
    const [replacement] = command?.replacements ?? [];
    const text = replacement?.kind === 'planned' ? replacement.node.annotations[annotation.replaces] : '';
    expect(text).toBe('c4/zone-1/on-demand/2026-01-01T06:00:00Z,m4/zone-1/on-demand/2026-01-01T00:00:00Z');
  });
});

test('a node is never replaced by the same type, zone and capacity type', () => {
  const price = fc.integer({ min: 1, max: 30 }).map((cents) => cents / 10);
  fc.assert(
    fc.property(fc.constantFrom('c4', 'c8', 'c16'), fc.array(price, { minLength: 5, maxLength: 5 }), (type, prices) => {
      const types = sizes.map((size, index) => ({
        ...size,
        offerings: size.offerings.map((offering) => ({ ...offering, price: prices[index % prices.length] as number })),
      }));
      const round = roundOf([pool(), ...machine('a', { type }), running('a', { cpu: '1' })], { types });
      for (const replacement of finish(singleNodeCommand(round)).command?.replacements ?? []) {
        if (replacement.kind !== 'planned') continue;
        const { chosen, instanceTypes } = replacement.node;
        expect(`${chosen.instanceType}/${chosen.zone}/${chosen.capacityType}`).not.toBe(`${type}/zone-1/on-demand`);
        expect(instanceTypes).not.toContain(type);
      }
    }),
    { seed: 11, numRuns: 60 },
  );
});
