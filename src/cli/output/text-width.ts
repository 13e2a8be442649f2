// How many columns a text takes on a terminal. Tables align by it, so colour codes count nothing and wide (East Asian,
// emoji) characters count two.

const ansi = /\u001b\[[0-9;]*m/g;
const printableAscii = /^[\x20-\x7e]*$/;
const combining = /\p{Mark}|\u200d|[\ufe00-\ufe0f]/u;
const wide = /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/u;

export function textWidth(text: string): number {
  const plain = text.includes('\u001b') ? text.replaceAll(ansi, '') : text;
  if (printableAscii.test(plain)) return plain.length;
  let width = 0;
  for (const character of plain) {
    if (combining.test(character)) continue;
    width += wide.test(character) ? 2 : 1;
  }
  return width;
}

/** Breaks text at spaces so that no line is wider than `width`, unless one word alone is. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of text.split(' ')) {
    const size = textWidth(word);
    if (line !== '' && used + 1 + size > width) {
      lines.push(line);
      line = word;
      used = size;
    } else {
      line = line === '' ? word : `${line} ${word}`;
      used += (used === 0 ? 0 : 1) + size;
    }
  }
  lines.push(line);
  return lines;
}

/** Each line that is too wide goes on below, as far in as its text begins. */
export function wrapLines(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => {
      if (textWidth(line) <= width) return [line];
      const [, blanks = '', item = '', rest = line] = /^( *)(\d+\. )?(.*)$/s.exec(line) ?? [];
      const below = ' '.repeat(blanks.length + item.length + (item === '' ? 2 : 0));
      const [first = '', ...more] = wrapText(rest, Math.max(10, width - below.length));
      return [`${blanks}${item}${first}`, ...more.map((each) => `${below}${each.trimStart()}`)];
    })
    .join('\n');
}
