import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NodeRow } from '../../view/wire.ts';
import { boxAt, layOut, neighbour } from './layout.ts';

const row = (key: number, more: Partial<NodeRow> = {}): NodeRow => ({
  key,
  name: `node-${key}`,
  pool: `pool-${key % 3}`,
  type: `t${key % 5}`,
  zone: `z${key % 3}`,
  capacityType: 'spot',
  state: 'ready',
  verdict: 'keep',
  code: 'NotCheaper',
  pricePerHour: 0.1,
  savingsPerHour: 0,
  createdMs: key,
  cpu: [2_000, 4_000, 8_000, 16_000, 64_000][key % 5] as number,
  memory: 8_192,
  cpuUsed: 1_000,
  memoryUsed: 1_000,
  cpuDaemons: 0,
  memoryDaemons: 0,
  pods: 3,
  ...more,
});
const options = { width: 1000, height: 600, groupBy: 'pool', sizeBy: 'cpu' } as const;

test('every node has one box, boxes stay inside and do not overlap, and a point finds its box', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 320, max: 2000 }), (count, width) => {
      const rows = Array.from({ length: count }, (_, key) => row(key));
      const layout = layOut(rows, { ...options, width });
      expect(layout.boxes.flatMap(({ nodes }) => nodes).length).toBe(count);
      for (const box of layout.boxes) {
        expect(box.x + box.width).toBeLessThanOrEqual(width);
        expect(boxAt(layout, box.x + box.width / 2, box.y + box.height / 2)).toBe(box);
      }
      expect(boxAt(layout, -5, 10)).toBeUndefined();
    }),
    { numRuns: 50 },
  );
});

test('a node that comes moves no other of another group, and stands last in its own', () => {
  const rows = Array.from({ length: 30 }, (_, key) => row(key));
  const before = layOut(rows, options);
  const after = layOut([...rows, row(99, { pool: 'pool-2', createdMs: 999 })], options);
  const at = (layout: typeof before, key: number) => layout.boxes.find(({ nodes }) => nodes[0]?.key === key);
  expect(at(after, 0)).toMatchObject({ x: at(before, 0)?.x, y: at(before, 0)?.y });
  const own = after.boxes.filter(({ nodes }) => nodes[0]?.pool === 'pool-2');
  expect(own.at(-1)?.nodes[0]?.key).toBe(99);
});

test('thousands become one box per pool, type and zone, and all of them are in one', () => {
  const rows = Array.from({ length: 30_000 }, (_, key) => row(key));
  const layout = layOut(rows, options);
  expect(layout.isAggregated).toBe(true);
  expect(layout.boxes.length).toBeLessThan(100);
  expect(layout.boxes.reduce((sum, { nodes }) => sum + nodes.length, 0)).toBe(30_000);
});

test('arrows lead from box to box', () => {
  const layout = layOut(
    Array.from({ length: 60 }, (_, key) => row(key)),
    options,
  );
  const [first] = layout.boxes;
  if (first === undefined) throw new Error('no box');
  const right = neighbour(layout, first, 'ArrowRight');
  expect(right?.x).toBeGreaterThan(first.x);
  const down = neighbour(layout, first, 'ArrowDown');
  expect(down?.y).toBeGreaterThan(first.y);
  expect(down && neighbour(layout, down, 'ArrowUp')?.y).toBe(first.y);
  expect(neighbour(layout, first, 'ArrowUp')).toBeUndefined();
});
