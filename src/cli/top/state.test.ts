// Every key, on a list of three nodes.
import { describe, expect, test } from 'vitest';
import { keysIn } from './keys.ts';
import { firstState, footer, keyHelp, press, type TopState } from './state.ts';

const ids = ['a', 'b', 'c'];
/** The state after these keys. */
function after(keys: string[], from: Partial<TopState> = {}): TopState {
  const state = { ...firstState('price'), ...from };
  for (const key of keys) press(state, key, ids);
  return state;
}

test('j and k move within the list, g and G to its ends, arrows and pages likewise', () => {
  expect(after(['j']).selected).toBe('a');
  expect(after(['j', 'j', 'down']).selected).toBe('c');
  expect(after(['j', 'j', 'j', 'j', 'j']).selected).toBe('c');
  expect(after(['G', 'k']).selected).toBe('b');
  expect(after(['G', 'home']).selected).toBe('a');
  expect(after(['pageDown']).selected).toBe('c');
  expect(after(['j', 'up', 'pageUp']).selected).toBe('a');
});

test('a cursor whose node is gone begins again, and an empty list has none', () => {
  expect(after(['j'], { selected: 'gone' }).selected).toBe('a');
  const state = firstState('price');
  press(state, 'j', []);
  press(state, '\r', []);
  expect(state).toMatchObject({ selected: '', isOpen: false });
});

test('enter opens and closes, e opens, esc goes back one step at a time', () => {
  expect(after(['\r'])).toMatchObject({ selected: 'a', isOpen: true });
  expect(after(['\r', '\r']).isOpen).toBe(false);
  expect(after(['e', 'e']).isOpen).toBe(true);
  const state = after(['w', '/', 'x', '\r', 'j', 'e']);
  const seen = [];
  for (let at = 0; at < 4; at++) {
    press(state, 'escape', ids);
    seen.push([state.isOpen, state.filter, state.selected, state.view]);
  }
  expect(seen).toEqual([
    [false, 'x', 'a', 'waiting'],
    [false, '', 'a', 'waiting'],
    [false, '', '', 'waiting'],
    [false, '', '', 'nodes'],
  ]);
});

test('each view has its key, and begins without a cursor', () => {
  const views = ['n', 'w', 'p', 'd', 'c', '?'].map((key) => after(['j', key]).view);
  expect(views).toEqual(['nodes', 'waiting', 'pools', 'decisions', 'cost', 'help']);
  expect(after(['j', 'w']).selected).toBe('');
  expect(after(['?', '?']).view).toBe('nodes');
});

test('s and S go through the columns both ways, b through the groups, v and space toggle', () => {
  expect(after(['s']).sort).toBe('cpu');
  expect(after(['S']).sort).toBe('savings');
  expect(after(['s', 'S']).sort).toBe('price');
  expect(after(['b']).group).toBe('pool');
  expect(after(['b', 'b', 'b', 'b', 'b']).group).toBe('none');
  expect(after(['v', ' '])).toMatchObject({ onlyKept: true, isFrozen: true });
  expect(after(['v', 'v', ' ', ' '])).toMatchObject({ onlyKept: false, isFrozen: false });
});

describe('a filter', () => {
  test('takes keys as text until enter, and esc drops it', () => {
    expect(after(['/', 'q', ' ', 'j', '\x7f'])).toMatchObject({ filter: 'q ', isTyping: true, selected: '' });
    expect(after(['/', 'q', '\r'])).toMatchObject({ filter: 'q', isTyping: false });
    expect(after(['/', 'q', 'escape'])).toMatchObject({ filter: '', isTyping: false });
    expect(after(['/', 'down', 'a']).filter).toBe('a');
  });
});

test('q and Ctrl-C quit, also while typing for the latter; y copies what the cursor is on', () => {
  expect(press(firstState('price'), 'q', ids)).toEqual({ kind: 'quit' });
  expect(press(after(['/']), 'q', ids)).toBeUndefined();
  expect(press(after(['/']), '\x03', ids)).toEqual({ kind: 'quit' });
  expect(press(after(['j']), 'y', ids)).toEqual({ kind: 'copy', id: 'a' });
});

test('raw input is taken apart: sequences, several keys at once, and what means nothing', () => {
  expect(keysIn('jj\x1b[A\x1b[6~\x1bOB')).toEqual(['j', 'j', 'up', 'pageDown', 'down']);
  expect(keysIn('\x1b')).toEqual(['escape']);
  expect(keysIn('\x1b[15~\x1b[1;5C')).toEqual([]);
  expect(keysIn('ä\n')).toEqual(['ä', '\r']);
});

test('the last line names the keys and what is set; the help names every key', () => {
  expect(footer(after([]))).toMatch(/^s sort \(price\) .* q quit$/);
  expect(footer(after(['/', 'x', '\r', 'v', 'b', ' ']))).toMatch(/frozen, filter x, only kept, by pool$/);
  expect(footer(after(['/', 'x']))).toBe('filter: x_   enter keeps it, esc drops it');
  const named = keyHelp
    .map(([keys]) => keys)
    .join(' ')
    .split(' ');
  for (const key of 'n w p d c j k g G e y / s S b v ? q'.split(' ')) expect(named).toContain(key);
});
