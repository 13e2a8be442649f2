// JSON as Go's encoder writes it: keys in the order of their bytes, nothing between tokens, and the characters that could
// end a script element escaped. Text that is hashed must be equal byte for byte in both implementations.

export function goJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(goJson).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  entries.sort(([left], [right]) => compareBytes(left, right));
  return `{${entries.map(([key, each]) => `${quoted(key)}:${goJson(each)}`).join()}}`;
}

function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(/[<>&\u2028\u2029]/g, escaped);
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** By code point, which is the order of UTF-8; JavaScript's own order differs beyond the basic plane. */
function compareBytes(left: string, right: string): number {
  const [a, b] = [[...left], [...right]];
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = (a[index]?.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
