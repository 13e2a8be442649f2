import { describe, expect, test } from 'vitest';
import type { InstanceTypeSpec } from '../snapshot.ts';
import { applyOverlays, type Overlay, type OverlayPool } from './overlays.ts';
import { adjustedPrice } from './price.ts';

const zone = 'topology.kubernetes.io/zone';
const capacity = 'karpenter.sh/capacity-type';
const typeKey = 'node.kubernetes.io/instance-type';
const oneOf = (key: string, ...values: string[]) => ({ key, operator: 'In' as const, values });

const type = (name: string): InstanceTypeSpec => ({
  name,
  requirements: [oneOf(typeKey, name), oneOf(zone, 'a', 'b'), oneOf(capacity, 'spot', 'on-demand')],
  capacity: { cpu: '4' },
  offerings: ['a', 'b'].flatMap((place) =>
    ['spot', 'on-demand'].map((kind) => ({
      requirements: [oneOf(zone, place), oneOf(capacity, kind)],
      price: 1,
      available: true,
      capacityOverride: { 'example.com/x': '1' },
    })),
  ),
});
const pool = (nodePool = 'default', labels: Record<string, string> = {}): OverlayPool => ({
  nodePool,
  labels,
  items: [type('small'), type('large')],
});
const overlay = (name: string, rest: Partial<Overlay>): Overlay => ({ name, requirements: [], ...rest });
const prices = (overlays: Overlay[], pools = [pool()]) =>
  applyOverlays(overlays, pools).items.map((types) =>
    types.map(({ offerings }) => offerings.map(({ price }) => price)),
  );

describe('prices', () => {
  test.each([
    [{ price: '0.5' }, 0.5],
    [{ priceAdjustment: '+0.5' }, 2.5],
    [{ priceAdjustment: '-0.5' }, 1.5],
    [{ priceAdjustment: '+10%' }, 2.2],
    [{ priceAdjustment: '-25%' }, 1.5],
    [{ priceAdjustment: '-100%' }, 0],
    [{ priceAdjustment: '-5' }, 0],
    [{}, 2],
  ])('2 an hour becomes, by %j, %d', (change, expected) => {
    expect(adjustedPrice(2, change)).toBeCloseTo(expected, 12);
  });

  test('change only for the offerings the overlay is about, which forget the provider’s overrides', () => {
    const cheaper = overlay('o', { requirements: [oneOf(typeKey, 'small'), oneOf(capacity, 'spot')], price: '0.1' });
    expect(prices([cheaper])).toEqual([
      [
        [0.1, 1, 0.1, 1],
        [1, 1, 1, 1],
      ],
    ]);
    const [small] = applyOverlays([cheaper], [pool()]).items[0] ?? [];
    expect(small?.offerings[0]).toEqual({
      requirements: expect.anything(),
      price: 0.1,
      available: true,
      priceOverlayApplied: true,
    });
    expect(small?.offerings[1]).toHaveProperty('capacityOverride');
  });

  test('the heaviest overlay wins, without a conflict', () => {
    const heavy = overlay('heavy', { weight: 10, price: '0.1' });
    const light = overlay('light', { weight: 5, price: '0.2' });
    expect(prices([light, heavy])[0]?.[0]?.[0]).toBe(0.1);
    expect(applyOverlays([light, heavy], [pool()]).conflicting).toEqual([]);
  });
});

describe('reach', () => {
  test('labels of the pool and its name count', () => {
    const byLabel = overlay('o', { requirements: [oneOf('team', 'red')], price: '0.1' });
    const byName = overlay('o', { requirements: [oneOf('karpenter.sh/nodepool', 'a')], price: '0.1' });
    const pools = [pool('a', { team: 'red' }), pool('b')];
    for (const one of [byLabel, byName]) {
      expect(prices([one], pools).map(([types]) => types?.[0])).toEqual([0.1, 1]);
    }
  });

  test('a key that nothing defines is out of reach, unless its absence is asked for', () => {
    expect(prices([overlay('o', { requirements: [oneOf('team', 'red')], price: '0.1' })])[0]?.[0]?.[0]).toBe(1);
    const absent = { key: 'team', operator: 'NotIn' as const, values: ['red'] };
    expect(prices([overlay('o', { requirements: [absent], price: '0.1' })])[0]?.[0]?.[0]).toBe(0.1);
  });

  test('older spellings of a key mean the same', () => {
    const old = overlay('o', { requirements: [oneOf('beta.kubernetes.io/instance-type', 'small')], price: '0.1' });
    expect(prices([old])[0]?.map((offerings) => offerings[0])).toEqual([0.1, 1]);
  });

  test('an overlay whose type fits but none of its offerings changes nothing', () => {
    const elsewhere = overlay('o', { requirements: [oneOf(typeKey, 'small'), oneOf(zone, 'z')], capacity: { x: '1' } });
    const before = pool();
    expect(applyOverlays([elsewhere], [before]).items[0]).toEqual(before.items);
  });

  test('types that no overlay touches are the same objects', () => {
    const before = pool();
    const after = applyOverlays([overlay('o', { requirements: [oneOf(typeKey, 'small')], price: '2' })], [before]);
    expect(after.items[0]?.[1]).toBe(before.items[1]);
  });
});

describe('capacity', () => {
  test('is added to the whole type, resource by resource, heaviest first', () => {
    const first = overlay('first', { weight: 2, capacity: { 'example.com/a': '2' } });
    const second = overlay('second', { weight: 1, capacity: { 'example.com/a': '9', 'example.com/b': '3' } });
    const [small] = applyOverlays([second, first], [pool()]).items[0] ?? [];
    expect(small?.capacity).toEqual({ cpu: '4', 'example.com/a': '2', 'example.com/b': '3' });
    expect(small?.capacityOverlayApplied).toBe(true);
  });
});

describe('conflicts', () => {
  test('equal weight on one offering: the later taken, which is the earlier name, counts nowhere', () => {
    const a = overlay('a', { price: '0.1' });
    const b = overlay('b', { requirements: [oneOf(typeKey, 'small')], price: '0.2' });
    const { conflicting } = applyOverlays([a, b], [pool()]);
    expect(conflicting).toEqual(['a']);
    expect(prices([a, b])).toEqual([
      [
        [0.2, 0.2, 0.2, 0.2],
        [1, 1, 1, 1],
      ],
    ]);
  });

  test('equal values conflict too; different weights, places or concerns do not', () => {
    const one = overlay('one', { price: '0.1' });
    expect(applyOverlays([one, { ...one, name: 'two' }], [pool()]).conflicting).toEqual(['one']);
    expect(applyOverlays([one, { ...one, name: 'two', weight: 3 }], [pool()]).conflicting).toEqual([]);
    const spot = overlay('spot', { requirements: [oneOf(capacity, 'spot')], price: '0.1' });
    const onDemand = overlay('other', { requirements: [oneOf(capacity, 'on-demand')], price: '0.2' });
    expect(applyOverlays([spot, onDemand], [pool()]).conflicting).toEqual([]);
    expect(applyOverlays([one, overlay('room', { capacity: { x: '1' } })], [pool()]).conflicting).toEqual([]);
  });

  test('one resource from two overlays of equal weight conflicts', () => {
    const a = overlay('a', { capacity: { x: '1' } });
    expect(applyOverlays([a, overlay('b', { capacity: { x: '2' } })], [pool()]).conflicting).toEqual(['a']);
    expect(applyOverlays([a, overlay('b', { capacity: { y: '2' } })], [pool()]).conflicting).toEqual([]);
  });
});
