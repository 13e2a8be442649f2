// Durations and instants as Kubernetes writes them: Go duration text (`1h30m`, `500ms`) and RFC 3339 times. Numbers are
// milliseconds, as everywhere else; the nanosecond form exists because hashes are taken over it.
//
// Promises: parsing never throws (unreadable text is undefined); what Go rejects is rejected, its limits included.

const nanosecondsPer: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Go keeps a duration in a signed 64-bit count of nanoseconds: about 292 years. */
const longest = 2n ** 63n - 1n;

const durationPart = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;

/** Reads Go duration text (`-1.5h`, `300ms`, `0`) exactly; undefined if Go would refuse it. */
export function parseGoDurationNs(text: string): bigint | undefined {
  const negative = text.startsWith('-');
  const start = negative || text.startsWith('+') ? 1 : 0;
  if (text.length === start) return undefined;
  if (text.slice(start) === '0') return 0n;
  let total = 0n;
  durationPart.lastIndex = start;
  let end = start;
  while (end < text.length) {
    const match = durationPart.exec(text);
    if (match === null) return undefined;
    const [whole, digits = '', fraction = '', unit = ''] = match;
    if (digits === '' && fraction === '') return undefined;
    const scale = nanosecondsPer[unit] ?? 0n;
    total += BigInt(digits || '0') * scale;
    if (fraction !== '') total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
    end += whole.length;
  }
  if (total > longest + (negative ? 1n : 0n)) return undefined;
  return negative ? -total : total;
}

/** Reads Go duration text as milliseconds (fractions for anything finer); undefined if Go would refuse it. */
export function parseGoDuration(text: string): number | undefined {
  const nanoseconds = parseGoDurationNs(text);
  if (nanoseconds === undefined) return undefined;
  return Number(nanoseconds / 1_000_000n) + Number(nanoseconds % 1_000_000n) / 1e6;
}

/** What Go says about duration text that it refuses. */
export function goDurationProblem(text: string): string {
  const quoted = JSON.stringify(text);
  let rest = text.replace(/^[+-]/, '');
  while (rest !== '') {
    const [whole, digits = '', unit = ''] = /^(\d*\.?\d*)([^.\d]*)/.exec(rest) ?? [''];
    if (!/\d/.test(digits)) break;
    if (unit === '') return `time: missing unit in duration ${quoted}`;
    if (!Object.hasOwn(nanosecondsPer, unit)) return `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`;
    rest = rest.slice(whole.length);
  }
  return `time: invalid duration ${quoted}`;
}

/** Writes milliseconds the way Go prints a duration: `1h30m0s`, `1.5s`, `100ms`, `0s`. */
export function formatGoDuration(milliseconds: number): string {
  const sign = milliseconds < 0 ? '-' : '';
  const size = Math.abs(milliseconds);
  const whole = Math.trunc(size);
  // In two steps: the product alone would leave the range in which doubles are exact.
  const nanoseconds = BigInt(whole) * 1_000_000n + BigInt(Math.round((size - whole) * 1e6));
  if (nanoseconds === 0n) return '0s';
  const second = 1_000_000_000n;
  if (nanoseconds < second) {
    const unit = nanoseconds < 1_000n ? 'ns' : nanoseconds < 1_000_000n ? 'µs' : 'ms';
    return `${sign}${decimal(nanoseconds, nanosecondsPer[unit] ?? 1n)}${unit}`;
  }
  const minutes = nanoseconds / (60n * second);
  const seconds = `${decimal(nanoseconds % (60n * second), second)}s`;
  if (minutes === 0n) return sign + seconds;
  const hours = minutes / 60n;
  return `${sign}${hours > 0n ? `${hours}h` : ''}${minutes % 60n}m${seconds}`;
}

function decimal(value: bigint, unit: bigint): string {
  const rest = value % unit;
  if (rest === 0n) return String(value / unit);
  const places = String(unit).length - 1;
  return `${value / unit}.${String(rest).padStart(places, '0').replace(/0+$/, '')}`;
}

const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** Reads an RFC 3339 time as milliseconds since the epoch (fractions kept); undefined if it is not one. */
export function parseTime(text: string): number | undefined {
  const match = rfc3339.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offsetMinutes = Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0);
  if (hour > 23 || minute > 59 || second > 59 || Number(match[9] ?? 0) > 23 || Number(match[10] ?? 0) > 59) {
    return undefined;
  }
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  date.setUTCHours(hour, minute, second);
  const fraction = match[7] === undefined ? 0 : Number(`0.${match[7]}`) * 1000;
  return date.getTime() + fraction - (match[8] === '-' ? -offsetMinutes : offsetMinutes) * 60_000;
}

/** Writes an instant as Kubernetes stores times: UTC, whole seconds (`2026-11-16T04:05:06Z`). */
export function formatTime(milliseconds: number): string {
  return `${new Date(Math.floor(milliseconds / 1000) * 1000).toISOString().slice(0, -5)}Z`;
}

/** Writes an instant as Kubernetes' MicroTime (Leases, Events): UTC with six decimals. */
export function formatMicroTime(milliseconds: number): string {
  const microseconds = Math.floor(milliseconds * 1000);
  const rest = ((microseconds % 1_000_000) + 1_000_000) % 1_000_000;
  return `${formatTime(milliseconds).slice(0, -1)}.${String(rest).padStart(6, '0')}Z`;
}
