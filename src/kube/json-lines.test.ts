import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonLines } from './json-lines.ts';

const decodeAll = (chunks: Buffer[]): unknown[] => {
  const lines = new JsonLines();
  return [...chunks.flatMap((chunk) => [...lines.decode(chunk)]), ...lines.end()];
};

test('values come out whole however the bytes are cut, also inside characters', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\\', '"', '\n', '{', 'ä', '漢', '🦀') });
  const value = fc.oneof(fc.record({ text, list: fc.array(text, { maxLength: 3 }) }), fc.integer(), text);
  fc.assert(
    fc.property(
      fc.array(value, { maxLength: 8 }),
      fc.array(fc.nat(400), { maxLength: 20 }),
      fc.boolean(),
      (values, cuts, endsWithLine) => {
        const text = values.map((item) => JSON.stringify(item)).join('\n') + (endsWithLine ? '\n' : '');
        const bytes = Buffer.from(text);
        const places = [...new Set(cuts.filter((cut) => cut < bytes.length))].sort((a, b) => a - b);
        const chunks = [0, ...places].map((start, index) => bytes.subarray(start, places[index] ?? bytes.length));
        expect(JSON.stringify(decodeAll(chunks))).toBe(JSON.stringify(values));
      },
    ),
    { seed: 7, numRuns: 300 },
  );
});

test('blank lines are skipped', () => {
  expect(decodeAll([Buffer.from('\n {"a":1} \r\n\n \n{"b":2}')])).toEqual([{ a: 1 }, { b: 2 }]);
});

test('lines before a broken one are delivered, then the error', () => {
  const decoding = new JsonLines().decode(Buffer.from('{"a":1}\n{"b":\n{"c":3}\n'));
  expect(decoding.next().value).toEqual({ a: 1 });
  expect(() => decoding.next()).toThrow(SyntaxError);
});

test('a stream cut inside a line ends with an error', () => {
  expect(() => decodeAll([Buffer.from('{"a":1}\n{"type":"ADDED","obj')])).toThrow(SyntaxError);
});

test('a line without end does not fill the memory', () => {
  const lines = new JsonLines();
  const piece = Buffer.alloc(16 * 1024 * 1024, 0x61);
  const feed = (): unknown[][] => Array.from({ length: 5 }, () => [...lines.decode(piece)]);
  expect(feed).toThrow('longer than');
});

test('the cut and the size limit hold also for a line that lies whole in one chunk', () => {
  const cuts: string[] = [];
  const lines = new JsonLines((bytes, start, end) => {
    cuts.push(bytes.toString('utf8', start, end));
    return undefined;
  });
  expect([...lines.decode(Buffer.from('{"a":1}\n{"b":2}\n'))]).toEqual([{ a: 1 }, { b: 2 }]);
  expect(cuts).toEqual(['{"a":1}', '{"b":2}']);
  const long = Buffer.alloc(65 * 1024 * 1024, 0x20);
  long[long.length - 1] = 0x0a;
  expect(() => [...new JsonLines().decode(long)]).toThrow('longer than');
});
