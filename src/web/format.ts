// Figures and times as the page writes them.

export const money = (
  usd: number,
  digits = usd === 0 ? 0 : usd >= 100 ? 0 : usd >= 10 ? 1 : usd >= 1 ? 2 : 3,
): string => `$${usd >= 1_000 ? whole(Math.round(usd)) : usd.toFixed(digits)}`;

/** A reason of the controller as a person reads it, and what its users search for: lists of requirements and resources. */
export function shortened(message: string): { text: string; rest: string } {
  const at = message.search(/, (requirements|resources)=/);
  return at < 0 ? { text: message, rest: '' } : { text: message.slice(0, at), rest: message.slice(at + 2) };
}

export const perHour = (usd: number): string => `${money(usd)}/h`;

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

export const whole = (value: number): string => value.toLocaleString('en-US').replaceAll(',', '\u202f');

export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

const clockFormat = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
});
const dayFormat = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hour12: false,
});

/** In the viewer's zone. */
export const clockTime = (time: string | number): string => clockFormat.format(new Date(time));
export const dayTime = (time: string | number): string => dayFormat.format(new Date(time));

export const cores = (milli: number): string => (milli / 1000).toFixed(milli < 10_000 ? 1 : 0);
export const gibibytes = (mebi: number): string => (mebi / 1024).toFixed(mebi < 10_240 ? 1 : 0);

export const counted = (count: number, noun: string): string => `${whole(count)} ${noun}${count === 1 ? '' : 's'}`;

/** `c6a.2xlarge` as `c6a.2xl`, where room is short. */
export const shortType = (type: string): string =>
  type
    .replace(/xlarge$/, 'xl')
    .replace(/large$/, 'l')
    .replace(/medium$/, 'm');

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** `720h`, `1h30m`; undefined for `Never` and what is not a duration. */
export function durationMs(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined;
  return parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (unitMs[unit] ?? 0), 0);
}
