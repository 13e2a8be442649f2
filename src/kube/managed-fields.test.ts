import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { managedFieldsOf } from './managed-fields.ts';

function parseWithout(text: string): unknown {
  // With something on both sides, as inside a chunk of several events.
  const bytes = Buffer.from(`{"managedFields":[1]}${text}{"metadata":{"managedFields":[2]}}`);
  const start = Buffer.byteLength('{"managedFields":[1]}');
  const end = start + Buffer.byteLength(text);
  const cut = managedFieldsOf(bytes, start, end);
  if (cut === undefined) return JSON.parse(bytes.toString('utf8', start, end));
  return JSON.parse(bytes.toString('utf8', start, cut.from) + bytes.toString('utf8', cut.to, end));
}

const wanted = (event: { type?: string; object?: { metadata?: Record<string, unknown> } }): unknown => {
  const copy = JSON.parse(JSON.stringify(event));
  delete copy.object?.metadata?.managedFields;
  return copy;
};

test.each([
  ['last in metadata', { object: { metadata: { name: 'a', managedFields: [{ a: ['x]"'] }] }, spec: {} } }],
  ['first in metadata', { object: { metadata: { managedFields: [], name: 'a' } } }],
  ['alone in metadata', { object: { metadata: { managedFields: [{}] } } }],
  ['between others', { object: { metadata: { labels: { a: 'b' }, managedFields: [[1], [2]], name: 'ä' } } }],
])('the field is cut when it is %s', (_where, event) => {
  expect(parseWithout(JSON.stringify({ type: 'ADDED', ...event }))).toEqual(wanted({ type: 'ADDED', ...event }));
});

test('a field of that name anywhere else stays', () => {
  const events = [
    { object: { spec: { managedFields: [1] }, metadata: { name: 'a' } } },
    { object: { spec: { metadata: { managedFields: [1] } } } },
    { object: { metadata: { annotations: { managedFields: [1] } } } },
    { metadata: { managedFields: [1] } },
    { object: [{ metadata: { managedFields: [1] } }] },
    { object: { metadata: { note: 'says ,"managedFields":[1]' } } },
  ];
  for (const event of events) expect(parseWithout(JSON.stringify(event))).toEqual(event);
});

test('whatever an event looks like, at most that field goes, and the rest parses to the same', () => {
  const key = fc.constantFrom('metadata', 'object', 'managedFields', 'name', 'k:{"a":1}', '\\"', 'ä]', '{');
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string(),
      fc.constantFrom('"managedFields":[', '}', ']', '\\', '\\"'),
      fc.integer(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    ),
  }));
  const metadata = fc.dictionary(key, value, { maxKeys: 4 });
  // JSON has no -0 and no undefined, so what is generated equals what is parsed.
  const event = fc.record({ type: fc.string(), object: fc.record({ spec: value, metadata, status: value }) });
  fc.assert(
    fc.property(fc.oneof(event, fc.dictionary(key, value)), (any) => {
      const text = JSON.stringify(any);
      const parsed = parseWithout(text);
      expect(parsed).toEqual(JSON.stringify(parsed) === text ? any : wanted(any));
    }),
    { seed: 5, numRuns: 1_000 },
  );
});
