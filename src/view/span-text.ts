// A span of time for people: the unit that leaves a number one can picture.

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

export function spanText(ms: number): string {
  if (ms >= 2 * dayMs) return `${(ms / dayMs).toFixed(1)} days`;
  if (ms >= 2 * hourMs) return `${(ms / hourMs).toFixed(1)} hours`;
  if (ms >= 2 * minuteMs) return counted(Math.round(ms / minuteMs), 'minute');
  return counted(Math.max(0, Math.round(ms / 1000)), 'second');
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
