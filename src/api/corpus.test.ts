import { describe, expect, test } from 'vitest';
import { corpus, valueAt } from '../../test/corpus/index.ts';
import { admitKind, fieldErrorText, kindOf } from './index.ts';

const rules = [...new Set(corpus.map(({ rule }) => rule))];

describe.each(rules)('%s', (rule) => {
  const cases = corpus.filter((each) => each.rule === rule);
  test.each(cases.map((each) => [each.name, each] as const))(
    '%s',
    (_, { manifest, update, subresource, expect: expected, stored }) => {
      const kind = kindOf(manifest.apiVersion, manifest.kind);
      if (kind === undefined) throw new Error(`no such kind: ${manifest.kind}`);
      const { object, errors, unknownFields } = admitKind(kind, manifest, {
        ...(update === undefined ? {} : { old: update }),
        ...(subresource === undefined ? {} : { subresource }),
      });
      // What was expected, or else everything that was said, so that a failure shows it.
      const isHit = ({ field, message }: { field: string; message: string }): boolean =>
        expected !== 'accept' && field === expected.field && message.includes(expected.message);
      const said = errors.length === 0 ? 'accept' : errors.some(isHit) ? expected : errors.map(fieldErrorText);
      expect(said).toEqual(expected);
      expect(unknownFields).toEqual([]);
      for (const [path, value] of Object.entries(stored ?? {})) expect(valueAt(object, path)).toEqual(value);
    },
  );
});

test('the corpus is large and its names are unique', () => {
  expect(corpus.length).toBeGreaterThan(300);
  const seen = corpus.map(({ name, rule }) => `${rule}: ${name}`);
  expect(seen.filter((name, index) => seen.indexOf(name) !== index)).toEqual([]);
});
