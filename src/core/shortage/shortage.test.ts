import { describe, expect, test } from 'vitest';
import { familyAndSize, familyPlace, suspectedSizes } from './families.ts';
import { isForgotten, isProbeDue, type Spell, spellAfter } from './spells.ts';

const minuteMs = 60_000;

describe('how long an offering is left alone', () => {
  test('doubles with every failure after its time, from three minutes to fifteen', () => {
    let spell: Spell | undefined;
    const minutes: number[] = [];
    let nowMs = 0;
    for (let failure = 0; failure < 5; failure++) {
      spell = spellAfter(spell, nowMs);
      minutes.push((spell.untilMs - nowMs) / minuteMs);
      nowMs = spell.untilMs;
    }
    expect(minutes).toEqual([3, 6, 12, 15, 15]);
  });

  test('does not grow by failures before its time is over, but lasts three minutes from the last of them', () => {
    const first = spellAfter(undefined, 0);
    expect(spellAfter(first, 10)).toEqual({ failures: 1, failedMs: 10, untilMs: 10 + 3 * minuteMs });
    const long = spellAfter(spellAfter(first, first.untilMs), 4 * minuteMs);
    expect(long.untilMs).toBe(9 * minuteMs);
  });

  test('shrinks by one step for every half hour without a failure, and is then forgotten', () => {
    const second = spellAfter(spellAfter(undefined, 0), 3 * minuteMs);
    const third = spellAfter(second, second.untilMs);
    const laterMs = third.untilMs + 30 * minuteMs;
    const again = spellAfter(third, laterMs);
    expect(again.failures).toBe(3);
    expect(spellAfter(third, third.untilMs + 60 * minuteMs).failures).toBe(2);
    expect(isForgotten(third, third.untilMs + 89 * minuteMs)).toBe(false);
    expect(isForgotten(third, third.untilMs + 90 * minuteMs)).toBe(true);
    expect(isForgotten(third, third.untilMs - 1)).toBe(false);
  });

  test('pods without another choice may ask once a minute', () => {
    const spell = spellAfter(undefined, 1_000);
    expect(isProbeDue(spell, 60_999)).toBe(false);
    expect(isProbeDue(spell, 61_000)).toBe(true);
  });
});

describe('what failures say about other sizes', () => {
  const failed = (...types: string[]) =>
    types.map((instanceType) => ({ instanceType, zone: 'zone-a', capacityType: 'spot' }));

  test('families and sizes are read from names', () => {
    expect(familyAndSize('c-4x-amd64-linux')).toEqual({ family: 'c-amd64-linux', size: 4 });
    expect(familyAndSize('m5.2xlarge')?.family).toBe('m5');
    const ordered = ['t3.nano', 't3.large', 't3.xlarge', 't3.2xlarge', 't3.24xlarge', 't3.metal'];
    const sizes = ordered.map((name) => familyAndSize(name)?.size ?? -1);
    expect(sizes).toEqual(sizes.toSorted((left, right) => left - right));
    expect(familyAndSize('whatever')).toBeUndefined();
  });

  test('two failed sizes say nothing; after three, larger ones are suspected, smaller ones are not', () => {
    const siblings = ['m5.large', 'm5.xlarge', 'm5.2xlarge', 'm5.4xlarge', 'm5.8xlarge', 'm5.metal'];
    expect(suspectedSizes(failed('m5.xlarge', 'm5.2xlarge'), siblings)).toEqual([]);
    expect(suspectedSizes(failed('m5.xlarge', 'm5.2xlarge', 'm5.4xlarge'), siblings)).toEqual([
      'm5.8xlarge',
      'm5.metal',
    ]);
  });

  test('only offerings of one family, zone and capacity type speak about each other', () => {
    const [left] = failed('m5.large') as [ReturnType<typeof failed>[number]];
    expect(familyPlace({ ...left, instanceType: 'm5.xlarge' })).toBe(familyPlace(left));
    for (const other of [{ instanceType: 'm6i.large' }, { zone: 'zone-b' }, { capacityType: 'on-demand' }])
      expect(familyPlace({ ...left, ...other })).not.toBe(familyPlace(left));
  });
});
