// UTF-8 by hand: the inner rooms have no TextEncoder.

/** The bytes of a text. */
export function utf8Bytes(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 0x3f));
    else if (code < 0x1_0000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
    else {
      bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 0x3f), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
    }
  }
  return bytes;
}

/** The text of bytes; each byte that belongs to no character is shown as U+FFFD, as Go prints it. */
export function utf8Text(bytes: readonly number[]): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const [code, length] = characterAt(bytes, at);
    text += String.fromCodePoint(code);
    at += length;
  }
  return text;
}

const broken: [number, number] = [0xfffd, 1];

function characterAt(bytes: readonly number[], at: number): [code: number, length: number] {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return [first, 1];
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return broken;
  let code = first & (0xff >> (length + 1));
  for (let next = at + 1; next < at + length; next += 1) {
    const byte = bytes[next] ?? 0;
    if ((byte & 0xc0) !== 0x80) return broken;
    code = (code << 6) | (byte & 0x3f);
  }
  const least = [0, 0, 0x80, 0x800, 0x1_0000][length] ?? 0;
  const isSurrogate = code >= 0xd800 && code < 0xe000;
  return code < least || code > 0x10_ffff || isSurrogate ? broken : [code, length];
}
