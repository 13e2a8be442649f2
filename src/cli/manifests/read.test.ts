import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chunksOf, yamlDocuments } from './chunks.ts';
import { formatPath, type Manifest, parsePath, readManifests, valueAt } from './index.ts';
import { readJson } from './json.ts';
import { manifestsIn } from './parse.ts';

const read = (text: string, file = 'pods.yaml'): Manifest[] =>
  [...chunksOf(file, text)].flatMap((chunk) => [...manifestsIn(file, chunk)]);
const names = (manifests: Manifest[]): unknown[] => manifests.map(({ value }) => valueAt(value, ['metadata', 'name']));
const only = (manifests: Manifest[]): Manifest => {
  expect(manifests).toHaveLength(1);
  return manifests[0] as Manifest;
};
const places = (manifests: Manifest[]): string[] =>
  manifests.map(({ file, line, value }) => `${file}:${line} ${valueAt(value, ['kind']) ?? '-'}`);

describe('field paths', () => {
  test('are written with dots for fields and brackets for indices and odd keys', () => {
    expect(formatPath(['spec', 'budgets', 0, 'nodes'])).toBe('spec.budgets[0].nodes');
    expect(formatPath(['metadata', 'labels', 'a.b/c'])).toBe('metadata.labels[a.b/c]');
  });

  test('reading what was written gives the path back', () => {
    const part = fc.oneof(fc.nat({ max: 99 }), fc.stringMatching(/^[a-z][a-z./A-Z]{0,9}$/));
    fc.assert(
      fc.property(fc.array(part), (path) => {
        expect(parsePath(formatPath(path))).toEqual(path);
      }),
      { seed: 3 },
    );
  });
});

describe('streams of documents', () => {
  test('each document knows its first line, comments before the marker stay with it', () => {
    const text = '# head\n---\nkind: A\n---\n# two\n\nkind: B\n...\n---\n---\nkind: C\n';
    expect(places(read(text))).toEqual(['pods.yaml:3 A', 'pods.yaml:7 B', 'pods.yaml:11 C']);
  });

  test('a broken document does not hide the others', () => {
    const [first, broken, last] = read('kind: A\n---\nkind: [\n---\nkind: C\n');
    expect([first?.value, broken?.value, last?.value]).toEqual([{ kind: 'A' }, undefined, { kind: 'C' }]);
    expect(broken?.problems[0]).toMatchObject({ code: 'syntax', line: 3 });
  });

  test('markers inside literal text do not cut', () => {
    expect(only(read('data:\n  x: |\n    ---\n    - a\n')).value).toEqual({ data: { x: '---\n- a\n' } });
  });

  test('cutting loses no text', () => {
    const line = fc.constantFrom('---', 'a: 1', '# c', '', '...', '--- # x', '%YAML 1.2', '  b: 2', '----');
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const kept = [...yamlDocuments(lines.join('\n'))].map((part) => part.text).join('\n');
        for (const content of lines.filter((text) => /^\s*[ab]:/.test(text))) expect(kept).toContain(content);
        const count = (text: string): number => text.split('\n').filter((one) => /^\s*[ab]:/.test(one)).length;
        expect(count(kept)).toBe(count(lines.join('\n')));
      }),
      { seed: 5 },
    );
  });
});

describe('places', () => {
  const text = 'kind: A\nspec:\n  list:\n    - x: 1\n      y: 2 # why\n    - x: 3\n  after: 1\n';

  test('fields are found by line and column; a missing one at the nearest field around it', () => {
    const manifest = only(read(text));
    expect(manifest.locate(['spec', 'list', 1, 'x'])).toEqual({ line: 6, column: 7 });
    expect(manifest.locate(['spec', 'list', 0, 'z'])).toEqual({ line: 4, column: 7 });
    expect(manifest.locate(['spec', 'none', 'deep'])).toEqual({ line: 2, column: 1 });
    expect(manifest.locate([])).toEqual({ line: 1, column: 1 });
  });

  test('quick and full parser agree on them', () => {
    const full = only(read(`${text}other: &anchor 1\n`));
    const quick = only(read(text));
    for (const path of [['spec'], ['spec', 'list', 0], ['spec', 'list', 1, 'x'], ['spec', 'list', 5], ['nope']])
      expect(full.locate(path)).toEqual(quick.locate(path));
  });

  test('the source of a list item ends before the next one and holds its comments', () => {
    const manifest = only(read(text));
    expect(manifest.sourceOf(['spec', 'list', 0])).toBe('    - x: 1\n      y: 2 # why');
    expect(only(read('a:\n  # far\n\n  # near\n  - b\n')).sourceOf(['a', 0])).toBe('  # near\n  - b\n');
    expect(manifest.sourceOf(['spec', 'list'])).toBe(text.split('\n').slice(2, 6).join('\n'));
  });
});

describe('lists', () => {
  test('every item of a v1 List is a manifest at its own line', () => {
    const text = 'apiVersion: v1\nkind: List\nitems:\n- kind: A\n  metadata: {name: x}\n- kind: B\n';
    expect(places(read(text))).toEqual(['pods.yaml:4 A', 'pods.yaml:6 B']);
    expect(read(text)[0]?.locate(['metadata']).line).toBe(5);
  });

  test('a long List is cut into items without being read whole, with the same result', () => {
    const items = Array.from(
      { length: 3000 },
      (_, index) => `- kind: Pod\n  metadata:\n    name: pod-${index}\n    labels:\n      - a\n`,
    );
    const text = `apiVersion: v1\nitems:\n${items.join('')}kind: List\nmetadata:\n  resourceVersion: ""\n`;
    expect([...chunksOf('pods.yaml', text)]).toHaveLength(3000);
    const manifests = read(text);
    expect(names(manifests)).toEqual(items.map((_, index) => `pod-${index}`));
    expect(manifests[2999]?.locate(['metadata', 'name'])).toEqual({ line: 2 + 2999 * 5 + 3, column: 5 });
    const indented = `kind: List\napiVersion: v1\nitems:\n${items.join('').replaceAll(/^/gm, '  ').trimEnd()}\n`;
    expect(names(read(indented))).toEqual(names(manifests));
  });
});

describe('JSON', () => {
  test('is read with places, also as a List and several documents in a row', () => {
    const text = '{"kind":"List","items":[\n {"kind":"A"},\n {"kind":"B",\n  "spec":{"x":[1,22]}}]}\n{"kind":"C"}';
    const manifests = read(text, 'pods.json');
    expect(places(manifests)).toEqual(['pods.json:2 A', 'pods.json:3 B', 'pods.json:5 C']);
    expect(manifests[1]?.locate(['spec', 'x', 1])).toEqual({ line: 4, column: 18 });
  });

  test('says where it ends to be JSON', () => {
    expect(only(read('{"kind": "A",\n "x": tru}', 'a.json')).problems).toMatchObject([
      { line: 2, column: 7, message: expect.stringContaining('`tru` is not JSON') },
    ]);
    expect(only(read('{"a": 1', 'a.json')).problems[0]?.message).toContain('the text ends');
    expect(only(read('['.repeat(5000), 'a.json')).problems[0]?.message).toContain('levels deep');
  });

  test('duplicate keys are an error with their line', () => {
    expect(only(read('{"kind":"A",\n"kind":"B"}', 'a.json')).problems).toMatchObject([
      { code: 'duplicate-key', line: 2 },
    ]);
  });

  test('gives what JSON.parse gives', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const result = readJson(text);
        // Of two equal keys the last counts, here as there.
        expect(result.value).toEqual(JSON.parse(text));
        expect(result.problems.every((problem) => problem.message.includes('twice'))).toBe(true);
      }),
      { numRuns: 500, seed: 9 },
    );
  });
});

describe('text documents', () => {
  test('yaml blocks are manifests with the line of their fence, whatever its indent', () => {
    const text =
      '# Title\n\n```yaml\nkind: A\n```\n\n- item\n\n   ```yaml\n   kind: B\n   spec:\n     x: 1\n     ```\n\n```bash\nkind: no\n```\n';
    const manifests = read(text, 'guide.md');
    expect(places(manifests)).toEqual(['guide.md:4 A', 'guide.md:10 B']);
    expect(manifests.map(({ fenceLine }) => fenceLine)).toEqual([3, 9]);
    expect(manifests[1]?.locate(['spec', 'x'])).toEqual({ line: 12, column: 6 });
  });

  test('a block that repeats its top-level keys holds several samples', () => {
    const text = '```yaml\n# Before\nspec:\n  a: 1\n\n# After\nspec:\n  a: 2\n```\n';
    expect(read(text, 'guide.txt').map(({ line, value }) => [line, value])).toEqual([
      [3, { spec: { a: 1 } }],
      [7, { spec: { a: 2 } }],
    ]);
  });

  test('a text file without fences that holds a manifest is read as YAML', () => {
    expect(places(read('kind: A\n', 'notes.txt'))).toEqual(['notes.txt:1 A']);
    expect(read('just words\n', 'notes.txt')).toEqual([]);
  });
});

describe('what people write wrongly', () => {
  test.each([
    ['a missing colon', 'spec:\n  template\n    metadata:\n      x: 1\n', 2, '"template" has no colon', 'template:'],
    ['a tab', 'spec:\n\tx: 1\n', 2, 'tab', 'spaces'],
    ['a key written twice', 'spec:\n  x: 1\n  y: 1\n  x: 2\n', 4, 'key "x" is written twice', 'keep one'],
    ['an alias without anchor', 'a: *nope\n', 1, 'nope', 'anchor'],
    ['an alias of what is around it', 'a: &a\n  b:\n    - *a\n', 3, 'no end', 'write the repeated part out'],
    ['a chart template', 'a: 1\n{{- if .Values.x }}\nb: {{ .Values.y }}\n{{- end }}\n', 2, 'template', 'helm template'],
    ['an open brace', 'a: 1\nb: {c: 1\n', 2, 'the "{" is never closed', '}'],
    ['an open bracket', 'a: 1\nb: [1,\n  2\n', 3, 'the "[" is never closed', ']'],
  ])('%s', (_name, text, line, message, fix) => {
    const [problem] = only(read(text)).problems;
    expect(problem).toMatchObject({ line });
    expect(problem?.message).toContain(message);
    expect(problem?.fix).toContain(fix);
  });

  test('the field of a duplicate key is named', () => {
    expect(only(read('spec:\n  list:\n    - x: 1\n      x: 2\n')).problems[0]?.field).toEqual(['spec', 'list', 0, 'x']);
  });

  test('an alias bomb is refused, a few aliases are not', () => {
    const layers = Array.from({ length: 9 }, (_, n) => `l${n + 1}: &l${n + 1} [${Array(9).fill(`*l${n}`).join(', ')}]`);
    const bomb = only(read(`l0: &l0 [x]\n${layers.join('\n')}\n`));
    expect(bomb.value).toBeUndefined();
    expect(bomb.problems[0]).toMatchObject({ code: 'alias', message: expect.stringContaining('alias bomb') });
    expect(only(read('a: &x {b: 1}\nc: *x\n')).value).toEqual({ a: { b: 1 }, c: { b: 1 } });
  });
});

describe('sources', () => {
  const collect = async (paths: string[], stdin: string | Buffer = ''): Promise<string[]> => {
    const seen: string[] = [];
    for await (const item of readManifests(paths, { stdin: Readable.from([stdin]) })) {
      seen.push(
        item.kind === 'manifest'
          ? `${item.manifest.file}: ${JSON.stringify(item.manifest.value)}`
          : `${item.kind}: ${item.file}`,
      );
    }
    return seen;
  };

  test('standard input, byte order marks and UTF-16 are understood', async () => {
    expect(await collect(['-'], '\ufeffkind: A\n')).toEqual(['file: stdin', 'stdin: {"kind":"A"}']);
    expect(await collect(['-'], Buffer.from('\ufeffkind: A\n', 'utf16le'))).toEqual([
      'file: stdin',
      'stdin: {"kind":"A"}',
    ]);
  });

  test('missing files, binary files and wrong encodings are reported and do not stop the rest', async () => {
    expect(await collect(['does/not/exist.yaml', '-'], 'a: 1')).toEqual([
      'unreadable: does/not/exist.yaml',
      'file: stdin',
      'stdin: {"a":1}',
    ]);
    expect(await collect(['-'], Buffer.from([0, 1, 2, 3]))).toEqual(['unreadable: stdin']);
    expect(await collect(['-'], Buffer.from([0x61, 0xff, 0xfe]))).toEqual(['unreadable: stdin']);
  });
});
