// Requests of the query protocol (EC2, IAM, STS): `Filter.1.Value.2=x` as a tree, and back.

export type FormTree = { [key: string]: FormTree | string };

export function readForm(body: string): FormTree {
  const tree: FormTree = {};
  for (const [path, value] of new URLSearchParams(body)) {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    let node = tree;
    for (const key of keys) {
      const next = node[key];
      if (typeof next === 'object') node = next;
      else node = node[key] = {};
    }
    node[last] = value;
  }
  return tree;
}

export function writeForm(tree: FormTree): string {
  const form = new URLSearchParams();
  const walk = (node: FormTree, prefix: string): void => {
    for (const [key, value] of Object.entries(node)) {
      if (typeof value === 'string') form.append(prefix + key, value);
      else walk(value, `${prefix}${key}.`);
    }
  };
  walk(tree, '');
  return form.toString();
}

export function formText(tree: FormTree | string | undefined, ...path: string[]): string | undefined {
  let found = tree;
  for (const key of path) found = typeof found === 'object' ? found[key] : undefined;
  return typeof found === 'string' ? found : undefined;
}

export function formTree(tree: FormTree | string | undefined, ...path: string[]): FormTree {
  let found = tree;
  for (const key of path) found = typeof found === 'object' ? found[key] : undefined;
  return typeof found === 'object' ? found : {};
}

/** The entries of a numbered list, in order. */
export function formTrees(tree: FormTree | string | undefined, ...path: string[]): FormTree[] {
  return numbered(formTree(tree, ...path)).filter((entry) => typeof entry === 'object');
}

export function formTexts(tree: FormTree | string | undefined, ...path: string[]): string[] {
  return numbered(formTree(tree, ...path)).filter((entry) => typeof entry === 'string');
}

export function toList<T extends FormTree | string>(entries: T[]): FormTree {
  return Object.fromEntries(entries.map((entry, index) => [String(index + 1), entry]));
}

function numbered(tree: FormTree): (FormTree | string)[] {
  return Object.entries(tree)
    .sort(([left], [right]) => Number(left) - Number(right))
    .map(([, entry]) => entry);
}
