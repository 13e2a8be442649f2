import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Labels } from '../ports/index.ts';
import { GaugeSeries } from './gauge-series.ts';

const names = ['name', 'namespace', 'phase'];
const textOf = (gauge: GaugeSeries): string => [...gauge.render()].join('');

test('whatever is set and removed, the series are those a plain list would have', () => {
  const value = fc.constantFrom('a', 'b', '');
  const labels = fc.record({ name: value, namespace: value, phase: value });
  const step = fc.oneof(
    fc.record({ set: labels, value: fc.integer() }),
    fc.record({ remove: labels, by: fc.subarray(names, { minLength: 1 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const gauge = new GaugeSeries({ name: 'g', help: 'g', labels: names });
      let expected: { labels: Labels; value: number }[] = [];
      const isSame = (left: Labels, right: Labels, by: readonly string[]): boolean =>
        by.every((name) => left[name] === right[name]);
      for (const each of steps) {
        if ('set' in each) {
          gauge.set(each.value, each.set);
          const known = expected.find((one) => isSame(one.labels, each.set, names));
          if (known === undefined) expected.push({ labels: each.set, value: each.value });
          else known.value = each.value;
        } else {
          gauge.remove(
            Object.fromEntries(each.by.map((name) => [name, each.remove[name as keyof typeof each.remove]])),
          );
          expected = expected.filter((one) => !isSame(one.labels, each.remove, each.by));
        }
      }
      const lines = expected.map(
        ({ labels: { name, namespace, phase }, value: is }) =>
          `g{name="${name}",namespace="${namespace}",phase="${phase}"} ${is}`,
      );
      expect(textOf(gauge).split('\n').slice(2, -1)).toEqual(lines);
    }),
  );
});

test('label values are escaped, and infinite values written as Prometheus reads them', () => {
  const gauge = new GaugeSeries({ name: 'g', help: 'g', labels: ['text'] });
  gauge.set(Number.POSITIVE_INFINITY, { text: 'a "quoted"\\\nline' });
  expect(textOf(gauge)).toBe('# HELP g g\n# TYPE g gauge\ng{text="a \\"quoted\\"\\\\\\nline"} +Inf\n');
});

test('a label that was not declared is a mistake of the programme', () => {
  expect(() => new GaugeSeries({ name: 'g', help: 'g' }).set(1, { colour: 'red' })).toThrow('g has no label colour');
});

test('ages are moments that a scrape shows in seconds, grown since without being set again', () => {
  const clock = { now: () => 0 };
  const gauge = new GaugeSeries({ name: 'age', help: 'h', agesBy: { now: () => clock.now() } });
  gauge.set(1_000);
  clock.now = () => 31_500;
  expect(textOf(gauge)).toContain('age 30.5\n');
  clock.now = () => 61_000;
  expect(textOf(gauge)).toContain('age 60\n');
});

test('series that a model holds are asked for by each scrape, ages included', () => {
  const rows: [Labels, number][] = [[{ name: 'a"' }, 1_000]];
  const gauge = new GaugeSeries({
    name: 'g',
    help: 'h',
    labels: ['name', 'zone'],
    agesBy: { now: () => 3_000 },
    series: () => rows,
  });
  expect(textOf(gauge).split('\n').slice(2)).toEqual(['g{name="a\\"",zone=""} 2', '']);
  rows.push([{ name: 'b', zone: 'z' }, 0]);
  expect(textOf(gauge)).toContain('g{name="b",zone="z"} 3\n');
});
