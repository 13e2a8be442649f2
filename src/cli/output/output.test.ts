import { describe, expect, test } from 'vitest';
import { counted, paintFor, progressLine, severityMark, table, textWidth, wrapLines, wrapText } from './index.ts';

const plain = paintFor({ isTerminal: false, env: {} });
const coloured = paintFor({ isTerminal: true, env: {} });

describe('table', () => {
  const columns = [{ title: 'NAME' }, { title: 'NODES', align: 'right' as const }, { title: 'NOTE' }];

  test('numbers stand right, text left, and no line ends in blanks', () => {
    expect(
      table(columns, [
        ['a', '7', ''],
        ['longer', '120', 'full'],
      ]),
    ).toBe(['NAME    NODES  NOTE', 'a           7', 'longer    120  full', ''].join('\n'));
  });

  test('colour does not disturb the alignment', () => {
    const text = table(columns, [
      [coloured.red('a'), '7', 'x'],
      ['bb', '12', 'y'],
    ]);
    expect(text.replaceAll(/\u001b\[[0-9;]*m/g, '')).toBe('NAME  NODES  NOTE\na         7  x\nbb       12  y\n');
  });

  test('no rows give no heading', () => {
    expect(table(columns, [])).toBe('');
  });

  test('every line gets the indent', () => {
    expect(table([{ title: '' }], [['x'], ['y']], { indent: '  ' })).toBe('  x\n  y\n');
  });
});

describe('colour', () => {
  test('is off when piped, with NO_COLOR, and on a dumb terminal', () => {
    expect(plain.red('x')).toBe('x');
    expect(paintFor({ isTerminal: true, env: { NO_COLOR: '1' } }).red('x')).toBe('x');
    expect(paintFor({ isTerminal: true, env: { TERM: 'dumb' } }).red('x')).toBe('x');
  });

  test('is on for terminals and when forced', () => {
    expect(coloured.red('x')).toBe('\u001b[31mx\u001b[39m');
    expect(paintFor({ isTerminal: false, env: { FORCE_COLOR: '1' } }).red('x')).toBe('\u001b[31mx\u001b[39m');
  });

  test('the severity mark is the plain word without colour', () => {
    expect(severityMark('warning', plain)).toBe('warning');
  });
});

describe('text', () => {
  test('wide characters count two columns, colour and combining marks none', () => {
    expect(textWidth('故障')).toBe(4);
    expect(textWidth(coloured.red('ab'))).toBe(2);
    expect(textWidth('e\u0301')).toBe(1);
  });

  test('wraps at spaces and never loses a word', () => {
    expect(wrapText('one two three four', 9)).toEqual(['one two', 'three', 'four']);
    expect(wrapText('unbreakableword x', 5)).toEqual(['unbreakableword', 'x']);
  });

  test('counts are grouped and pluralised', () => {
    expect([counted(1, 'error'), counted(12_000, 'error')]).toEqual(['1 error', '12,000 errors']);
  });
});

describe('progress line', () => {
  function line(errIsTerminal: boolean, env: Record<string, string> = {}) {
    const written: string[] = [];
    let now = 0;
    const terminal = { err: (text: string) => void written.push(text), errIsTerminal, columns: 20, env };
    const progress = progressLine(terminal, () => now);
    return { written, progress, at: (ms: number) => void (now = ms) };
  }

  test.each<[string, ReturnType<typeof line>]>([
    ['standard error is not a terminal', line(false)],
    ['the terminal cannot wipe a line', line(true, { TERM: 'dumb' })],
  ])('stays silent when %s', (_, { written, progress, at }) => {
    at(5000);
    progress.show(() => 'reading');
    progress.clear();
    expect(written).toEqual([]);
  });

  test('appears after a moment, redraws ten times a second at most, and wipes itself', () => {
    const { written, progress, at } = line(true);
    progress.show(() => 'too early');
    at(500);
    progress.show(() => 'half');
    at(550);
    progress.show(() => 'too soon');
    at(700);
    progress.show(() => 'a text longer than the line');
    progress.clear();
    progress.clear();
    expect(written).toEqual(['\r\u001b[Khalf', '\r\u001b[Ka text longer than…', '\r\u001b[K']);
  });
});

test('lines too wide for a terminal go on below, as far in as their text begins', () => {
  expect(wrapLines('  1. one two three four five\nshort\n', 16)).toBe(
    '  1. one two\n     three four\n     five\nshort\n',
  );
  expect(wrapLines('  stays for one reason', 20)).toBe('  stays for one\n    reason');
});
