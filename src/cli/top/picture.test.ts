import { expect, test } from 'vitest';
import { picture, type Seen, summary } from './picture.ts';

const plain = (text: string): string => text;
const paint = { bold: plain, dim: plain, red: plain, yellow: plain, green: plain, blue: plain, cyan: plain };
const node = (name: string, more: Partial<Seen['nodes'][number]> = {}): Seen['nodes'][number] => ({
  name,
  pool: 'default',
  type: 'c6a.2xlarge',
  zone: 'us-east-1a',
  capacityType: 'spot',
  state: 'ready',
  verdict: 'keep',
  code: 'NotCheaper',
  pricePerHour: 0.2,
  savingsPerHour: 0,
  createdMs: 0,
  cpu: 4000,
  memory: 8192,
  cpuUsed: 3000,
  memoryUsed: 4096,
  cpuDaemons: 0,
  memoryDaemons: 0,
  pods: 3,
  ...more,
});
const seen = (nodes: Seen['nodes']): Seen => ({
  cluster: 'prod',
  time: '2026-11-16T12:41:07Z',
  nowMs: 0,
  totals: {
    nodes: nodes.length,
    ready: 1,
    pods: 3,
    waiting: 1,
    pricePerHour: 3.57,
    goingPerHour: 0,
    blockedPerHour: 0.61,
    cpu: 0,
    cpuUsed: 0,
    memory: 0,
    memoryUsed: 0,
  },
  nodes,
});
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
