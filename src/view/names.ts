// For names that are not there: which ones are.

const mostShown = 5;

/** `there are a, b and 7 more`, or that there are none. */
export function namesText(names: readonly string[]): string {
  if (names.length === 0) return 'there are none';
  const shown = [...names].sort().slice(0, mostShown);
  const left = names.length - shown.length;
  return `there ${names.length === 1 ? 'is' : 'are'} ${shown.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}
