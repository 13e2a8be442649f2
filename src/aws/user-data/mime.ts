// MIME multipart archives, the envelope in which cloud-init takes several pieces of user data at once.
import { KerfError } from '../../base/index.ts';

export interface MimePart {
  headers: Readonly<Record<string, string>>;
  body: string;
}

const boundary = '//';

export const shellScript = 'text/x-shellscript; charset="us-ascii"';

export const partOf = (contentType: string, body: string): MimePart => ({
  headers: { 'Content-Type': contentType },
  body,
});

/** Line ends are LF alone, as shells want them. */
export function writeMime(parts: readonly MimePart[]): string {
  const head = `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="${boundary}"\n\n`;
  const written = parts.map(({ headers, body }) => {
    const lines = Object.entries(headers)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, value]) => `${name}: ${value}\n`);
    return `--${boundary}\n${lines.join('')}\n${body}`;
  });
  return `${head}${[...written, `--${boundary}--\n`].join('\n')}`.replaceAll('\r', '');
}

/** Whether people meant the text to be an archive. */
export const looksLikeMime = (text: string): boolean => /^(MIME-Version|Content-Type):/.test(text.trimStart());

/** The parts of an archive. Nothing of its content appears in an error: user data may hold secrets. */
export function readMime(text: string): MimePart[] {
  const { headers, body } = readHeaders(text.trimStart().replaceAll('\r\n', '\n'));
  const contentType = headers['Content-Type'] ?? '';
  if (!contentType.toLowerCase().startsWith('multipart/')) throw unreadable('its content type is not multipart');
  const delimiter = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType);
  const mark = delimiter?.[1] ?? delimiter?.[2];
  if (mark === undefined) throw unreadable('its content type names no boundary');
  return split(body, mark).map(readHeaders).map(withoutQuotedPrintable);
}

const transferEncoding = 'Content-Transfer-Encoding';

/** The content of a part whose headers are not going to tell how it is encoded. */
export function plainBody({ headers, body }: MimePart): string {
  if (headers[transferEncoding]?.toLowerCase() !== 'base64') return body;
  return Buffer.from(body, 'base64').toString();
}

/** Readers of archives undo this encoding by themselves, so that no part comes out in it. */
function withoutQuotedPrintable(part: MimePart): MimePart {
  const { [transferEncoding]: encoding, ...headers } = part.headers;
  if (encoding?.toLowerCase() !== 'quoted-printable') return part;
  const text = part.body.split('\n').map(withoutBlankEnd).join('\n').replaceAll('=\n', '');
  // Bytes first, characters then: one character may be several escapes.
  const bytes = Buffer.from(text).toString('latin1');
  const plain = bytes.replaceAll(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return { headers, body: Buffer.from(plain, 'latin1').toString() };
}

/** By hand: a pattern looks at every run of blanks again from each of its blanks. */
function withoutBlankEnd(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === ' ' || line[end - 1] === '\t')) end -= 1;
  return line.slice(0, end);
}

function split(body: string, mark: string): string[] {
  const [start, end] = [`--${mark}`, `--${mark}--`];
  const parts: string[] = [];
  let part: string[] | undefined;
  for (const line of body.split('\n')) {
    const text = line.trimEnd();
    if (text !== start && text !== end) {
      part?.push(line);
      continue;
    }
    if (part !== undefined) parts.push(part.join('\n'));
    if (text === end) return parts;
    part = [];
  }
  // A last delimiter that opens a part no one wrote ends an archive as well as one that closes it.
  if (part?.every((line) => line.trim() === '')) return parts;
  throw unreadable('its last delimiter is missing');
}

function readHeaders(text: string): MimePart {
  const headers: Record<string, string> = {};
  const lines = text.split('\n');
  let last = '';
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') return { headers, body: lines.slice(index + 1).join('\n') };
    const folded = /^[ \t]+(.*)$/.exec(line);
    const header = /^([\w-]+):(.*)$/.exec(line);
    if (folded !== null && last !== '') headers[last] += ` ${folded[1]?.trim()}`;
    else if (header !== null) {
      last = canonical(header[1] ?? '');
      headers[last] = (header[2] ?? '').trim();
    } else throw unreadable(`line ${index + 1} of a header is none`);
  }
  return { headers, body: '' };
}

/** `content-type` is `Content-Type`; `MIME-Version` keeps its capitals. */
function canonical(name: string): string {
  const words = name.toLowerCase().replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
  return words === 'Mime-Version' ? 'MIME-Version' : words;
}

const unreadable = (why: string): KerfError =>
  new KerfError('UserDataUnreadable', `cannot read spec.userData as a MIME multipart archive: ${why}`, {
    retryable: true,
  });
