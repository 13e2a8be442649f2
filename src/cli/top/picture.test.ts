import { expect, test } from 'vitest';
import { picture, summary } from './picture.ts';
import { node, paint, seen } from './top.testing.ts';

const settings = { sort: 'price', onlyKept: false, filter: '' } as const;
const frame = { paint, columns: 200, rows: 40 };
const nodes = [
  node('cheap', { pricePerHour: 0.1 }),
  node('held', { code: 'PodBudgetExhausted', savingsPerHour: 0.17 }),
  node('goes', { verdict: 'remove', code: 'Removable', pricePerHour: 0.48, savingsPerHour: 0.48 }),
];
const names = (lines: string[]): (string | undefined)[] => lines.slice(3).map((line) => line.split(' ')[0]);

test('the line above says what it costs and what could be saved', () => {
  expect(summary(seen(nodes))).toBe('prod  12:41:07  3 nodes  $3.57/h  held 0.61  3 pods, 1 waiting');
});

test('the dearest first, each with its verdict', () => {
  const lines = picture(seen(nodes), settings, frame);
  expect(names(lines)).toEqual(['goes', 'held', 'cheap']);
  expect(lines.join('\n')).toMatch(/keep PodBudgetExhausted \+0\.170/);
  expect(lines.join('\n')).toMatch(/remove −0\.480/);
});

test('sorted, filtered, or only what something keeps', () => {
  expect(names(picture(seen(nodes), { ...settings, sort: 'name' }, frame))).toEqual(['cheap', 'goes', 'held']);
  expect(names(picture(seen(nodes), { ...settings, filter: 'budget' }, frame))).toEqual(['held']);
  expect(names(picture(seen(nodes), { ...settings, onlyKept: true }, frame))).toEqual(['held']);
  expect(picture(seen([]), settings, frame).at(-1)).toBe('no nodes yet');
});

test('a narrow terminal does without the least important columns, a short one says how many more there are', () => {
  const narrow = picture(seen(nodes), settings, { ...frame, columns: 80 });
  expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(picture(seen(nodes), settings, { ...frame, rows: 6 }).at(-1)).toBe('… and 2 more');
});

test('60 columns lose neither prices nor verdicts: bars become figures, then go; names lose their middle', () => {
  const long = nodes.map((each) => ({ ...each, name: `kwok-default-${each.name}-1o8wsxf` }));
  const lines = picture(seen(long), settings, { ...frame, columns: 60 });
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
  const text = lines.join('\n');
  expect(text).toContain('3 pods, 1\nwaiting');
  expect(text).toMatch(/^kwok-defau…es-1o8wsxf +0\.480 {2}remove −0\.480$/m);
  expect(text).toContain('keep PodBudgetExhausted +0.170');
  const [, , head] = picture(seen(nodes), settings, { ...frame, columns: 66 });
  expect(head).toMatch(/^NODE +CPU +MEM +PODS +\$\/H +VERDICT$/);
});
