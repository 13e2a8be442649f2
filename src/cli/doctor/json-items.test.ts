// Lists in JSON are cut into the same items however they are written and wherever their bytes are divided.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Indent, indentedItems, indentOf } from './indented-items.ts';
import { jsonItems, linesIn } from './json-items.ts';

const arbitrary = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('Pod'), name: fc.string(), deep: fc.jsonValue({ maxDepth: 4 }) }),
    fc.record({ name: fc.string(), kind: fc.constant('Node') }),
  ),
  { maxLength: 6 },
);

/** In pieces of this many bytes. */
async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size: number, indent?: Indent) {
  const found: { value: unknown; line: number }[] = [];
  let rest = '';
  const keep = (given: string): void => void (rest = given);
  const items =
    indent === undefined ? jsonItems(pieces(text, size), keep) : indentedItems(pieces(text, size), indent, keep);
  for await (const item of items) found.push(item);
  return { found, rest };
}

test('the same items, lines and rest, compact and indented', async () => {
  await fc.assert(
    fc.asyncProperty(arbitrary, fc.integer({ min: 1, max: 400 }), async (items, size) => {
      const list = { apiVersion: 'v1', items, kind: 'List', metadata: { resourceVersion: '' } };
      const compact = JSON.stringify(list);
      expect((await read(compact, size)).found.map(({ value }) => value)).toEqual(JSON.parse(compact).items);
      const text = `${JSON.stringify(list, undefined, 4)}\n`;
      const slow = await read(text, size);
      expect(slow.rest).toContain('"kind": "List"');
      expect(slow.found.map(({ value }) => value)).toEqual(JSON.parse(text).items);
      const lines = text.split('\n');
      expect(slow.found.every(({ line }) => lines[line - 1] === '        {')).toBe(true);
      const indent = indentOf(text.slice(0, 4096));
      if (indent === undefined) return;
      const fast = await read(text, size, indent);
      expect(fast.found).toEqual(slow.found);
      expect(fast.rest.trimEnd()).toMatch(/"kind": "List",[^]*\}$/);
    }),
  );
});

test('a List that is cut off yields what came before, and its rest does not end', async () => {
  const text = JSON.stringify({ items: [{ a: 1 }, { b: 2 }], kind: 'List' }, undefined, 4).slice(0, 70);
  for (const indent of [undefined, { item: '        ', first: '            "a":' }]) {
    const { found, rest } = await read(text, 7, indent);
    expect(found.map(({ value }) => value)).toEqual([{ a: 1 }]);
    expect(rest).not.toMatch(/\}\s*$/);
  }
});

test('line breaks are counted wherever the bytes lie in memory', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('\n', 'a', '\u008a', '\u000b', '\u0000') }),
      fc.nat(5),
      (text, offset) => {
        const bytes = Buffer.from(`${'\n'.repeat(offset)}${text}\n\n\n`);
        expect(linesIn(bytes.subarray(offset, bytes.length - 3))).toBe(text.split('\n').length - 1);
      },
    ),
  );
});
