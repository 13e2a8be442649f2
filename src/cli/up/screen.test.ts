import { expect, test } from 'vitest';
import { paintFor, textWidth } from '../output/index.ts';
import type { Overview } from './overview.ts';
import { picture, screenFor } from './screen.ts';

const overview: Overview = {
  nodes: [
    {
      name: 'kwok-default-6n2fg-1hvf97g',
      pool: 'default',
      type: 'c6a.2xlarge',
      zone: 'us-east-1a',
      capacity: 'on-demand',
      status: 'Leaving',
      pods: 11,
      cpu: 0.97,
      memory: 0.5,
      priceUsdPerHour: 0.306,
      ageMs: 34_000,
      verdict: '',
    },
  ],
  readyNodes: 0,
  workloads: [],
  running: 11,
  waiting: 0,
  priceUsdPerHour: 0.306,
};
const paint = paintFor({
  out: () => undefined,
  err: () => undefined,
  isTerminal: false,
  columns: 80,
  env: {},
} as never);
const lines = picture(overview, '10:00:00', 10, paint);
const [head = '', row = ''] = lines.slice(2);

test.each([
  ['NODE', 'kwok-default-6n2fg-1hvf97g'],
  ['CAPACITY', 'on-demand'],
  ['STATUS', 'Leaving'],
  ['CPU', '████  97%'],
  ['MEMORY', '██··  50%'],
])('%s stands above what it names', (title, cell) => {
  expect(row.indexOf(cell)).toBe(head.indexOf(title));
});

test.each([
  ['$/H', '0.306'],
  ['AGE', '34s'],
  ['PODS', ' 11'],
])('%s ends where the numbers below it end', (title, cell) => {
  expect(row.indexOf(cell) + cell.length).toBe(head.indexOf(title) + title.length);
});

test('a narrow terminal does without some columns, but not without how full nodes are', () => {
  const narrow = picture(overview, '10:00:00', 10, paint, 80);
  expect(Math.max(...narrow.map(textWidth))).toBeLessThanOrEqual(80);
  expect(narrow[2]).toMatch(/^NODE .* STATUS .* PODS {2}CPU .* MEMORY$/);
});

test('a usual name and type fit 120 columns', () => {
  expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(120);
});

test('a terminal whose size changes is drawn anew, heading and all', () => {
  const said: string[] = [];
  const window = { columns: 120, rows: 40 };
  const terminal = {
    out: (text: string) => void said.push(text),
    isTerminal: true,
    get columns() {
      return window.columns;
    },
    env: { TERM: 'xterm' },
  };
  const screen = screenFor(terminal as never, () => window.rows, 'HEADING\n');
  const show = (): string => {
    screen.show(overview, '10:00:00');
    return said.at(-1) ?? '';
  };
  expect(said).toEqual(['HEADING\n']);
  expect(show()).not.toContain('HEADING');
  expect(show()).toMatch(/^\x1b\[\d+A\r/);
  window.columns = 80;
  const narrow = show();
  expect(narrow.startsWith('\x1b[2J\x1b[HHEADING\n')).toBe(true);
  expect(Math.max(...narrow.split('\n').map(textWidth))).toBeLessThanOrEqual(80);
  window.rows = 20;
  expect(show()).toContain('HEADING');
  expect(show()).not.toContain('HEADING');
});

test('a terminal that does not know its height shows as much as one of usual height', () => {
  const drawn = (rows: number | undefined): string => {
    let out = '';
    const node = overview.nodes[0];
    const many = { ...overview, nodes: Array.from({ length: 12 }, () => ({ ...node, name: 'n' })) } as Overview;
    const terminal = { out: (text: string) => void (out += text), isTerminal: true, columns: 120, env: {} };
    screenFor(terminal as never, () => rows).show(many, '10:00:00');
    return out;
  };
  expect(drawn(0)).toBe(drawn(undefined));
});

test('60 columns lose nothing important: the price above, the verdict of each node, decisions to their end', () => {
  let out = '';
  const terminal = { out: (text: string) => void (out += text), isTerminal: true, columns: 60, env: {} };
  const [node] = overview.nodes;
  const held = { ...overview, nodes: [{ ...node, verdict: 'PodBudgetExhausted' }] } as Overview;
  const decision = '09:59:58  launched NodeClaim default-6n2fg, a c6a.2xlarge in us-east-1a, for 11 pods';
  screenFor(terminal as never, () => 30).show(held, '10:00:00', [decision]);
  const lines = out.split('\n');
  expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(60);
  for (const text of ['$0.306/h', 'PodBudgetExhausted', 'for 11 pods']) expect(out).toContain(text);
});
