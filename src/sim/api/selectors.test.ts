import { expect, test } from 'vitest';
import { formatLabelSelector, labelSelectorMatcher, parseFieldSelector, parseLabelSelector } from './selectors.ts';

const cases: [selector: string, labels: Record<string, string>, matches: boolean][] = [
  ['a=b', { a: 'b' }, true],
  ['a==b', { a: 'c' }, false],
  ['a!=b', {}, true],
  ['a in (x, y),b', { a: 'y', b: '' }, true],
  ['a notin (x)', { a: 'x' }, false],
  ['!a', { b: '1' }, true],
  ['a>3', { a: '4' }, true],
  ['a<3', { a: '4' }, false],
  ['a=', { a: '' }, true],
  ['constructor', {}, false],
];

test.for(cases)('%s on %o', ([selector, labels, matches]) => {
  expect(parseLabelSelector(selector)?.(labels)).toBe(matches);
});

test('without a selector nothing is restricted; a missing selector object selects nothing, an empty one everything', () => {
  expect(parseLabelSelector('')).toBeUndefined();
  expect(labelSelectorMatcher(undefined)({ a: 'b' })).toBe(false);
  expect(labelSelectorMatcher({})({ a: 'b' })).toBe(true);
});

test('a selector object reads as kubectl shows it', () => {
  const selector = {
    matchLabels: { b: '2', a: '1' },
    matchExpressions: [
      { key: 'c', operator: 'In', values: ['y', 'x'] },
      { key: 'd', operator: 'DoesNotExist' },
    ],
  };
  expect(formatLabelSelector(selector)).toBe('a=1,b=2,c in (x,y),!d');
});

test('a field selector knows the one name it pins', () => {
  const readers = { 'metadata.name': (object: { [key: string]: unknown }) => String(object['name']) };
  const selector = parseFieldSelector('metadata.name=x', readers, (field) => field);
  expect(selector?.name).toBe('x');
  expect(selector?.matches({ name: 'y' })).toBe(false);
  expect(() => parseFieldSelector('other=x', readers, (field) => `no ${field}`)).toThrow('no other');
});
