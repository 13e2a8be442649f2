// Cron lines as disruption budgets use them: five fields or a macro, in UTC, to the minute. A field is the set of its
// values. Days follow the old rule: if both the day of the month and the day of the week are restricted, either will do.
//
// Promises: an unreadable line is undefined, never a guess; `nextAfter` is strictly later than what it is given.

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const bounds: readonly Bounds[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: months },
  { least: 0, most: 6, names: days },
];

const macros: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

interface Field {
  readonly values: ReadonlySet<number>;
  readonly isAny: boolean;
}

export interface CronSchedule {
  /** The next time the line names strictly after the instant; undefined if there is none within years. */
  nextAfter(instantMs: number): number | undefined;
}

export function parseCron(line: string): CronSchedule | undefined {
  const text = line.trim();
  const fields = (macros[text] ?? text).split(/\s+/);
  if (fields.length !== bounds.length) return undefined;
  const parsed: Field[] = [];
  for (const [index, field] of fields.entries()) {
    const values = parseField(field, bounds[index] as Bounds);
    if (values === undefined) return undefined;
    parsed.push(values);
  }
  const [minute, hour, day, month, weekday] = parsed as [Field, Field, Field, Field, Field];
  const isDay = (date: Date): boolean => {
    if (!month.values.has(date.getUTCMonth() + 1)) return false;
    const byDate = day.values.has(date.getUTCDate());
    const byWeekday = weekday.values.has(date.getUTCDay());
    return day.isAny || weekday.isAny ? byDate && byWeekday : byDate || byWeekday;
  };
  return { nextAfter: (instantMs) => search(instantMs, isDay, sorted(hour), sorted(minute)) };
}

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
/** A leap day falls at most eight years away. */
const searchDays = 8 * 366;

function search(
  instantMs: number,
  isDay: (date: Date) => boolean,
  hours: readonly number[],
  minutes: readonly number[],
): number | undefined {
  const earliest = (Math.floor(instantMs / minuteMs) + 1) * minuteMs;
  const firstDay = Math.floor(earliest / dayMs) * dayMs;
  for (let count = 0; count <= searchDays; count++) {
    const dayStart = firstDay + count * dayMs;
    if (!isDay(new Date(dayStart))) continue;
    for (const hour of hours) {
      if (dayStart + (hour + 1) * hourMs <= earliest) continue;
      for (const minute of minutes) {
        const hit = dayStart + hour * hourMs + minute * minuteMs;
        if (hit >= earliest) return hit;
      }
    }
  }
  return undefined;
}

function sorted(field: Field): number[] {
  return [...field.values].sort((left, right) => left - right);
}

function parseField(text: string, limits: Bounds): Field | undefined {
  const values = new Set<number>();
  let isAny = false;
  for (const part of text.split(',')) {
    const range = parseRange(part, limits);
    if (range === undefined) return undefined;
    for (let value = range.from; value <= range.to; value += range.step) values.add(value);
    isAny ||= range.isAny;
  }
  return { values, isAny };
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly isAny: boolean;
}

/** `*`, `?`, `a`, `a-b`, each with `/step`; `a/step` runs to the end of the field. */
function parseRange(text: string, limits: Bounds): Range | undefined {
  const [span = '', stepText, ...rest] = text.split('/');
  if (rest.length > 0) return undefined;
  const step = stepText === undefined ? 1 : wholeNumber(stepText);
  if (step === undefined || step === 0) return undefined;
  if (span === '*' || span === '?') return { from: limits.least, to: limits.most, step, isAny: step === 1 };
  const [low = '', high, ...more] = span.split('-');
  if (more.length > 0) return undefined;
  const from = valueOf(low, limits);
  const single = stepText === undefined ? from : limits.most;
  const to = high === undefined ? single : valueOf(high, limits);
  if (from === undefined || to === undefined || from < limits.least || to > limits.most || from > to) return undefined;
  return { from, to, step, isAny: false };
}

function valueOf(text: string, { names, least }: Bounds): number | undefined {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  return named >= 0 ? named + least : wholeNumber(text);
}

function wholeNumber(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}
