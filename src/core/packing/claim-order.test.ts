import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClaimOrder } from './claim-order.ts';

/** The obvious way: a list that is stably sorted by pod count before every offer. */
class SortedList {
  private list: { claim: number; count: number; shelf: number }[] = [];

  append(claim: number, shelf: number): void {
    this.list.push({ claim, count: 1, shelf });
  }

  increment(claim: number, shelf: number): void {
    this.sort();
    const entry = this.list.find((own) => own.claim === claim);
    if (entry) Object.assign(entry, { count: entry.count + 1, shelf });
  }

  close(claim: number): void {
    this.list = this.list.filter((own) => own.claim !== claim);
  }

  on(shelf: number): number[] {
    this.sort();
    return this.list.filter((own) => own.shelf === shelf).map((own) => own.claim);
  }

  all(): number[] {
    this.sort();
    return this.list.map((own) => own.claim);
  }

  private sort(): void {
    this.list.sort((left, right) => left.count - right.count);
  }
}

const shelves = [0, 1, 2];
const walk = (order: ClaimOrder, shelf: number): number[] => {
  const seen: number[] = [];
  for (let claim = order.first(shelf); claim >= 0; claim = order.after(claim)) seen.push(claim);
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
      const order = new ClaimOrder();
      const sorted = new SortedList();
      let next = 0;
      for (const { kind, pick, shelf } of steps) {
        const open = sorted.all();
        const claim = open[pick % Math.max(1, open.length)];
        if (kind === 'append' || claim === undefined) {
          order.append(next, shelf);
          sorted.append(next, shelf);
          next += 1;
        } else if (kind === 'increment') {
          order.increment(claim, shelf);
          sorted.increment(claim, shelf);
        } else {
          order.close(claim);
          sorted.close(claim);
        }
        for (const own of shelves) expect(walk(order, own)).toEqual(sorted.on(own));
        expect(shelves.flatMap((own) => walk(order, own)).sort((a, b) => order.compare(a, b))).toEqual(sorted.all());
      }
    }),
    { seed: 9, numRuns: 200 },
  );
});
