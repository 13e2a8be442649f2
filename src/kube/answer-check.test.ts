import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkedList, checkedObject, isNamed } from './answer-check.ts';

const metadata = { resourceVersion: '7' };
const list = (fields: object = {}) => ({
  kind: 'NodeClaimList',
  metadata,
  items: [{ metadata: { name: 'a' } }],
  ...fields,
});

describe('a body that says 200 is a list only if it says so itself', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['an empty object', {}],
    ['an empty array', []],
    ['a health report', { status: 'ok' }],
    ['a list of another kind', list({ kind: 'PodList' })],
    ['a Status', { kind: 'Status', status: 'Success', metadata: {} }],
    ['a list without a version', list({ metadata: {} })],
    ['a list without metadata', { kind: 'NodeClaimList', items: [] }],
    ['items that are an object', list({ items: {} })],
    ['items without names', list({ items: [{}] })],
    ['items of another kind', list({ items: [{ kind: 'Pod', metadata: { name: 'a' } }] })],
    ['a list whose last page leaves some out', list({ metadata: { ...metadata, remainingItemCount: 2 } })],
    ['text', 'ok'],
    ['null', null],
  ])('%s', (_, body) => {
    expect(() => checkedList(body, 'NodeClaim', 'list nodeclaims')).toThrow(
      /cannot list nodeclaims: the answer is not/,
    );
  });

  test('a list is taken with its pages, also an empty one as Go writes it', () => {
    expect(
      checkedList(list({ metadata: { ...metadata, continue: 'next', remainingItemCount: 3 } }), 'NodeClaim', ''),
    ).toEqual({ items: [{ metadata: { name: 'a' } }], resourceVersion: '7', continue: 'next', remainingItemCount: 3 });
    expect(checkedList(list({ items: null }), 'NodeClaim', '').items).toEqual([]);
    expect(checkedList(list({ items: [] }), 'NodeClaim', '').items).toEqual([]);
  });

  test('a list of measurements, which are not stored, has no version and is taken all the same', () => {
    const items = [{ metadata: { name: 'a' }, usage: { cpu: '1' } }];
    const body = { kind: 'NodeMetricsList', metadata: {}, items };
    expect(checkedList(body, 'NodeMetrics', 'list nodes').items).toEqual(items);
    expect(() => checkedList({ ...body, kind: 'List' }, 'NodeMetrics', 'list nodes')).toThrow();
  });

  test('whatever the body is, it is a list of that kind or an error that may be tried again', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        try {
          checkedList(body, 'NodeClaim', 'list nodeclaims');
          return false;
        } catch (error) {
          return (error as { retryable?: boolean }).retryable === true;
        }
      }),
    );
  });
});

test('an object is one of the kind asked for, with a name', () => {
  const claim = { kind: 'NodeClaim', metadata: { name: 'a' } };
  expect(checkedObject(claim, 'NodeClaim', 'get')).toBe(claim);
  for (const body of [undefined, {}, [], { metadata: { name: 'a' } }, { ...claim, kind: 'Pod' }, { kind: 'NodeClaim' }])
    expect(() => checkedObject(body, 'NodeClaim', 'get nodeclaims/a')).toThrow(/cannot get nodeclaims\/a/);
  expect(isNamed({ metadata: { name: '' } }, 'Pod')).toBe(false);
});

test('an object is the one asked for: answers that were swapped on the way are not taken', () => {
  const pod = { kind: 'Pod', metadata: { name: 'a', namespace: 'x' } };
  expect(checkedObject(pod, 'Pod', 'get', { name: 'a', namespace: 'x' })).toBe(pod);
  for (const ref of [
    { name: 'b', namespace: 'x' },
    { name: 'a', namespace: 'y' },
  ])
    expect(() => checkedObject(pod, 'Pod', 'get pods', ref)).toThrow(/cannot get pods: the answer is not/);
});

test('the answer to a question has no name, but a status', () => {
  const review = { kind: 'SubjectAccessReview', metadata: {}, status: { allowed: true } };
  expect(checkedObject(review, 'SubjectAccessReview', 'create')).toBe(review);
  for (const body of [{}, { ...review, status: undefined }, { ...review, kind: 'Pod' }])
    expect(() => checkedObject(body, 'SubjectAccessReview', 'create')).toThrow(/cannot create/);
});
