// Text as signs expect it: the same sentence looks different in a JSON log, a terminal, a mail or a Markdown page, and the
// differences (escapes, colours, typographic quotes, wrapped lines) are undone here, once.

const ansi = /\u001b\[[0-9;?]*[A-Za-z]/g;
const quotes = /[\u201c\u201d\u201e\u00ab\u00bb]/g;
const apostrophes = /[\u2018\u2019]/g;

export function cleanText(raw: string): string {
  let text = raw;
  if (text.includes('\u001b')) text = text.replaceAll(ansi, '');
  if (text.includes('\\')) {
    text = text
      .replaceAll(/\\+u00(3c|3e|26|27)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replaceAll(/\\+(["'`/])/g, '$1')
      .replaceAll(/\\+[nrt](?![a-z]{2,}\\)/g, ' ');
  }
  if (text.includes('&'))
    text = text
      .replaceAll('&quot;', '"')
      .replaceAll('&#34;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&gt;', '>')
      .replaceAll('&lt;', '<')
      .replaceAll('&amp;', '&');
  return text.replaceAll(quotes, '"').replaceAll(apostrophes, "'").replaceAll(/\s+/g, ' ').trim();
}

/** A line that goes on from the one above: marks of quotation, comment and tables at its beginning are not part of it. */
export function cleanContinuation(raw: string): string {
  return cleanText(raw.replace(/^[\s>|#*│┃]+/, ''));
}

const isoTime = /(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:[.,](\d{1,9}))?(Z|[+-]\d{2}:?\d{2})?/;

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** `Jun 10 13:50:41` of a journal, and `E0610 13:50:41` of components of Kubernetes. */
const yearless = /\b(?:([A-Z][a-z]{2}) +(\d{1,2})|[IWEF](\d{2})(\d{2})) (\d{2}):(\d{2}):(\d{2})\b/;

/** An instant for comparing lines of one text: of journals, which name no year, in any one year. */
export function stampIn(line: string): number | undefined {
  const known = timeIn(line);
  if (known !== undefined) return known;
  const [, name = '', dayOfMonth, month, day, ...clock] = yearless.exec(line) ?? [];
  if (clock.length === 0) return undefined;
  const index = month === undefined ? months.indexOf(name) : Number(month) - 1;
  if (index < 0) return undefined;
  const [hours = 0, minutes = 0, seconds = 0] = clock.map(Number);
  return Date.UTC(2000, index, Number(dayOfMonth ?? day), hours, minutes, seconds);
}

/** The instant a line carries, in milliseconds; UTC when it names no zone. */
export function timeIn(line: string): number | undefined {
  const match = isoTime.exec(line);
  if (match === null) return undefined;
  const [, date = '', time = '', fraction = '', zone = 'Z'] = match;
  const offset = zone === 'Z' || zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`;
  const parsed = Date.parse(`${date}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}${offset}`);
  return Number.isNaN(parsed) ? undefined : parsed;
}
