// Where in an object something is: `spec.template.spec.requirements[0].key`. Written as the API server writes paths, so
// that people can compare messages: dots between fields, brackets around list indices and map keys.

export type FieldPath = readonly (string | number)[];

const plainField = /^[A-Za-z_$][A-Za-z0-9_$-]*$/;

export function formatPath(path: FieldPath): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (plainField.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${part}]`;
  }
  return text;
}

/** Reads what `formatPath` writes. Map keys that hold dots (`metadata.labels[a.b/c]`) must stand in brackets. */
export function parsePath(text: string): (string | number)[] {
  const path: (string | number)[] = [];
  for (const match of text.matchAll(/\[([^\]]*)\]|[^.[\]]+/g)) {
    const inBrackets = match[1];
    if (inBrackets === undefined) path.push(match[0]);
    else path.push(/^\d+$/.test(inBrackets) ? Number(inBrackets) : inBrackets.replace(/^["'](.*)["']$/, '$1'));
  }
  return path;
}

/** The value at a path of plain data, undefined when some part of the path is missing. */
export function valueAt(value: unknown, path: FieldPath): unknown {
  let current = value;
  for (const part of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Object.hasOwn(current, part) ? (current as Record<string | number, unknown>)[part] : undefined;
  }
  return current;
}
