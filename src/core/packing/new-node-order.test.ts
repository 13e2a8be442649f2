import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { NewNodeOrder } from './new-node-order.ts';

/** The obvious way: a list that is stably sorted by pod count before every offer. */
class SortedList {
  private list: { newNode: number; count: number; shelf: number }[] = [];

  append(newNode: number, shelf: number): void {
    this.list.push({ newNode, count: 1, shelf });
  }

  increment(newNode: number, shelf: number): void {
    this.sort();
    const entry = this.list.find((own) => own.newNode === newNode);
    if (entry) Object.assign(entry, { count: entry.count + 1, shelf });
  }

  close(newNode: number): void {
    this.list = this.list.filter((own) => own.newNode !== newNode);
  }

  on(shelf: number): number[] {
    this.sort();
    return this.list.filter((own) => own.shelf === shelf).map((own) => own.newNode);
  }

  all(): number[] {
    this.sort();
    return this.list.map((own) => own.newNode);
  }

  private sort(): void {
    this.list.sort((left, right) => left.count - right.count);
  }
}

const shelves = [0, 1, 2];
const walk = (order: NewNodeOrder, shelf: number): number[] => {
  const seen: number[] = [];
  for (let newNode = order.first(shelf); newNode >= 0; newNode = order.after(newNode)) seen.push(newNode);
  return seen;
};

test('nodes are offered in the order that stable sorting by pod count before every pod gives', () => {
  const step = fc.record({
    kind: fc.constantFrom('append', 'increment', 'increment', 'close'),
    pick: fc.nat(),
    shelf: fc.nat(2),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const order = new NewNodeOrder();
      const sorted = new SortedList();
      let next = 0;
      for (const { kind, pick, shelf } of steps) {
        const open = sorted.all();
        const newNode = open[pick % Math.max(1, open.length)];
        if (kind === 'append' || newNode === undefined) {
          order.append(next, shelf);
          sorted.append(next, shelf);
          next += 1;
        } else if (kind === 'increment') {
          order.increment(newNode, shelf);
          sorted.increment(newNode, shelf);
        } else {
          order.close(newNode);
          sorted.close(newNode);
        }
        for (const own of shelves) expect(walk(order, own)).toEqual(sorted.on(own));
        expect(shelves.flatMap((own) => walk(order, own)).sort((a, b) => order.compare(a, b))).toEqual(sorted.all());
      }
    }),
    { seed: 9, numRuns: 200 },
  );
});
