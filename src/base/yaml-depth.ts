// How deep YAML nests, found before it is parsed: a parser takes seconds for a text of brackets, and whoever reads the values
// afterwards runs out of stack. Whatever parses YAML of others asks here first.

/** Deeper than any manifest, shallower than what makes readers of values run out of stack; as for JSON. */
export const deepestYaml = 200;
/** Texts may hold brackets that are never closed. */
const mostOpen = 600;

/**
 * Where the text nests deeper than allowed, counted without parsing: brackets that are open, or blocks whose indentation
 * grew. Brackets inside texts may count, too; no honest text has that many.
 */
export function yamlTooDeepAt(text: string): number | undefined {
  if (!mayBeTooDeep(text)) return undefined;
  let open = 0;
  const indents: number[] = [];
  let start = 0;
  for (const line of text.split('\n')) {
    // Each dash of "- - - a" is a level, too.
    const lead = /^[ ]*(?:[-?] +)*/.exec(line)?.[0] ?? '';
    if (lead.length < line.length) {
      while (indents.length > 0 && (indents.at(-1) ?? 0) >= lead.length) indents.pop();
      indents.push(lead.length);
      const dashes = lead.length - lead.replaceAll(/[-?]/g, '').length;
      if (indents.length > deepestYaml || dashes > deepestYaml) return start;
      for (const character of line) {
        if (character === '[' || character === '{') open += 1;
        else if ((character === ']' || character === '}') && open > 0) open -= 1;
        if (open > mostOpen) return start;
      }
    }
    start += line.length + 1;
  }
  return undefined;
}

/** Every level takes a blank or a bracket at least: most texts have too few of them, which is seen many times faster. */
const farIn = new RegExp(`^[ ?-]{${deepestYaml}}`, 'm');

function mayBeTooDeep(text: string): boolean {
  let left = mostOpen;
  for (const bracket of '[{')
    for (let at = text.indexOf(bracket); at >= 0 && left >= 0; at = text.indexOf(bracket, at + 1)) left -= 1;
  return left < 0 || farIn.test(text);
}
