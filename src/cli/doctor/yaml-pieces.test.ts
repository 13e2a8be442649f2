// A long file of YAML is the same objects at the same lines, however its bytes come in.
import { expect, test } from 'vitest';
import { manifestsIn } from '../manifests/parse.ts';
import { yamlPieces } from './yaml-pieces.ts';

async function* inParts(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function named(text: string, size: number): Promise<string[]> {
  const found: string[] = [];
  for await (const chunk of yamlPieces(inParts(text, size)))
    for (const { value, line, problems } of manifestsIn('a.yaml', chunk)) {
      const { kind, metadata } = (value ?? {}) as { kind?: string; metadata?: { name?: string } };
      if (problems.length > 0) found.push(`broken in line ${line}`);
      else if (metadata?.name !== undefined) found.push(`${kind} ${metadata.name} in line ${line}`);
    }
  return found;
}

const item = (name: string, indent = ''): string =>
  [
    '- apiVersion: v1',
    '  kind: Pod',
    '  metadata:',
    `    name: ${name}`,
    '    labels:',
    '      größe: "- x"',
    '  spec:',
    '    containers:',
    '    - name: app',
    '      args:',
    '      - |',
    '        - not an item',
    '        kind: Nothing',
  ]
    .map((line) => `${indent}${line}\n`)
    .join('');

const whole = `apiVersion: v1\nitems:\n${item('a')}${item('b')}kind: List\nmetadata:\n  resourceVersion: ""\n`;
const indented = `# collected by hand\napiVersion: v1\nkind: List\nitems:\n${item('a', '  ')}${item('b', '  ')}`;
const stream = `apiVersion: v1\nkind: Node\nmetadata:\n  name: n\n---\n${whole}---\nkind: Node\nmetadata:\n  name: m\n`;

test.each([1, 3, 64, 100_000])('lists and streams are cut where objects begin, in parts of %d bytes', async (size) => {
  expect(await named(whole, size)).toEqual(['Pod a in line 3', 'Pod b in line 16']);
  expect(await named(indented, size)).toEqual(['Pod a in line 5', 'Pod b in line 18']);
  expect(await named(whole.replaceAll('\n', '\r\n'), size)).toHaveLength(2);
  expect(await named(stream, size)).toEqual([
    'Node n in line 1',
    'Pod a in line 8',
    'Pod b in line 21',
    'Node m in line 38',
  ]);
});

test('a broken item does not hide the others', async () => {
  const broken = whole.replace('name: a', 'name: [a');
  expect(await named(broken, 50)).toEqual([expect.stringMatching(/^broken in line/), 'Pod b in line 16']);
});
