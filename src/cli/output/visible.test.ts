import fc from 'fast-check';
import { expect, test } from 'vitest';
import { oneLine, visible } from './visible.ts';

test('control bytes are shown, not sent; line ends, tabs and colours pass', () => {
  expect(visible('\u001b[32mok\u001b[0m\tpod\r\nnext\n')).toBe('\u001b[32mok\u001b[0m\tpod\r\nnext\n');
  expect(visible('a\u001b]0;owned\u0007b\u001b[2Jc\rd\u009b31me')).toBe('a\\x1b]0;owned\\x07b\\x1b[2Jc\\x0dd\\x9b31me');
  expect(visible('\u202egnp.exe')).toBe('\\u202egnp.exe');
  expect(oneLine('two\nlines\tand a tab')).toBe('two\\nlines and a tab');
});

test('whatever the text, no escape but colours is left', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const shown = visible(text)
        .replaceAll(/\u001b\[[0-9;]*m/g, '')
        .replaceAll('\r\n', '\n');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
      return !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(shown);
    }),
  );
});
