/** The first names, and how many more there are: `a, b and 3 other(s)`. */
export function shortList(names: readonly string[], most: number, rest = 'other(s)'): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} ${rest}` : shown;
}
