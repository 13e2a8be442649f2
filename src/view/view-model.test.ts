import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type NodeFacts, ViewModel } from './view-model.ts';
import type { Cell, Shown } from './wire.ts';
import { shownFrom, takeCells, takeDelta } from './wire.ts';

const facts = (name: string, seed: number): NodeFacts => ({
  name,
  pool: `pool-${seed % 3}`,
  type: `c${seed % 7}.large`,
  zone: `zone-${seed % 3}`,
  capacityType: seed % 2 === 0 ? 'spot' : 'on-demand',
  state: 'ready',
  verdict: ['keep', 'remove', 'replace'][seed % 3] as string,
  code: `Code${seed % 11}`,
  pricePerHour: seed / 8,
  savingsPerHour: (seed % 5) / 8,
  createdMs: seed * 1000,
  cpu: 4000,
  memory: 8192,
  cpuUsed: seed % 4000,
  memoryUsed: seed % 8192,
  cpuDaemons: 100,
  memoryDaemons: 128,
  pods: seed % 20,
});
const cellsOf = (seed: number): Cell[] =>
  Array.from({ length: seed % 4 }, (_, at) => ({
    workload: `shop/web-${(seed + at) % 9}`,
    state: 'running',
    count: at + 1,
    cpu: 100,
    memory: seed % 64,
  }));

const look = (model: ViewModel): Shown => {
  const shown = shownFrom(JSON.parse(JSON.stringify(model.list('now'))) as ReturnType<ViewModel['list']>);
  takeCells(shown, JSON.parse(JSON.stringify(model.cells())) as ReturnType<ViewModel['cells']>);
  return shown;
};
/** What is seen, whatever the order: nodes without cells have none. */
const seen = ({ nodes, cells, totals, revision }: Shown): unknown => ({
  revision,
  totals,
  nodes: [...nodes.values()].sort((left, right) => left.key - right.key),
  cells: [...cells].filter(([, own]) => own.length > 0).sort(([left], [right]) => left - right),
});

function follow(shown: Shown, model: ViewModel, mostBytes?: number): Shown {
  let now = shown;
  while (now.revision < model.revision) {
    const delta = model.deltaSince(now.revision, { withCells: true, ...(mostBytes && { mostBytes }) });
    if (delta === undefined) {
      now = look(model);
      continue;
    }
    expect(delta.revision).toBeGreaterThan(now.revision);
    takeDelta(now, JSON.parse(JSON.stringify(delta)) as typeof delta);
  }
  return now;
}

test('list and deltas come to the same as a fresh list, after 10,000 random changes', () => {
  const change = fc.tuple(fc.nat(200), fc.nat(5000), fc.nat(9));
  fc.assert(
    fc.property(fc.array(change, { minLength: 1000, maxLength: 1000 }), fc.nat(), (changes, pace) => {
      const model = new ViewModel();
      let shown = look(model);
      changes.forEach(([node, seed, kind], step) => {
        const name = `node-${node}`;
        if (kind === 0) model.remove(name);
        else if (kind === 1) model.setWaiting(seed);
        else model.set(facts(name, seed), cellsOf(seed));
        if ((step + pace) % 37 === 0) shown = follow(shown, model, 2_000);
      });
      shown = follow(shown, model);
      expect(seen(shown)).toEqual(seen(look(model)));
    }),
    { numRuns: 10 },
  );
});

test('a row set to what it was is not a change', () => {
  const model = new ViewModel();
  model.set(facts('a', 1), cellsOf(1));
  const { revision } = model;
  model.set(facts('a', 1), cellsOf(1));
  expect(model.revision).toBe(revision);
});

test('who is too far behind looks again', () => {
  const model = new ViewModel();
  for (let index = 0; index < 10_010; index++) {
    model.set(facts(`n${index}`, index), []);
    model.remove(`n${index}`);
  }
  expect(model.deltaSince(0)).toBeUndefined();
  expect(model.deltaSince(model.revision - 10)).toBeDefined();
  expect(model.deltaSince(model.revision + 1)).toBeUndefined();
});

test('a delta keeps to its bytes', () => {
  const model = new ViewModel();
  for (let index = 0; index < 5_000; index++) model.set(facts(`node-${index}`, index), cellsOf(index));
  const delta = model.deltaSince(0, { withCells: true });
  expect(JSON.stringify(delta).length).toBeLessThan(64 * 1024 * 1.2);
  expect(delta?.revision).toBeLessThan(model.revision);
});

test('workloads that are gone are forgotten, and whoever follows comes to the same as a fresh list', () => {
  const model = new ViewModel();
  let shown = look(model);
  for (let run = 0; run < 20_000; run++) {
    const cell = { workload: `batch/job-${run}`, state: 'running', count: 1, cpu: 100, memory: 64 };
    model.set(facts(`node-${run % 50}`, run), [cell]);
    if (run % 97 === 0) shown = follow(shown, model);
  }
  shown = follow(shown, model);
  expect(seen(shown)).toEqual(seen(look(model)));
  expect(model.list('now').dictionaries.workload.length).toBeLessThan(6_000);
  expect([...model.rows()].map(({ cells }) => cells[0]?.workload)).toContain('batch/job-19999');
});

test('cells that were read later than the list do not mix up the words of what follows', () => {
  const model = new ViewModel();
  const cell = (workload: string): Cell => ({ workload, state: 'running', count: 1, cpu: 100, memory: 64 });
  model.set(facts('a', 1), [cell('shop/web')]);
  const shown = shownFrom(model.list('now'));
  model.set(facts('b', 8), [cell('shop/new')]);
  takeCells(shown, model.cells());
  model.set(facts('c', 15), [cell('shop/newer')]);
  expect(seen(follow(shown, model))).toEqual(seen(look(model)));
});
