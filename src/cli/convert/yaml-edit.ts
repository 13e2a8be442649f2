// Edits of YAML as people wrote it: fields are moved as they stand, with their comments, quotes and order, instead of
// being written anew from plain data.
import { Document, isAlias, isMap, isScalar, isSeq, type Node, Pair, Scalar, visit, YAMLMap } from 'yaml';

export type Field = Pair<Node, Node | null>;

const keyOf = (pair: Pair): string | undefined => (isScalar(pair.key) ? String(pair.key.value) : undefined);

export function field(map: YAMLMap, key: string): Field | undefined {
  return map.items.find((pair) => keyOf(pair) === key) as Field | undefined;
}

/** The map below a key; undefined when there is none. */
export function mapAt(map: YAMLMap, ...path: string[]): YAMLMap | undefined {
  let at: YAMLMap | undefined = map;
  for (const key of path) {
    const value: Node | null | undefined = at === undefined ? undefined : field(at, key)?.value;
    at = isMap(value) ? value : undefined;
  }
  return at;
}

/** The map below a key, made when missing. */
export function ensureMap(map: YAMLMap, ...path: string[]): YAMLMap {
  let at = map;
  for (const key of path) {
    const below = field(at, key)?.value;
    if (isMap(below)) at = below;
    else {
      const made = new YAMLMap();
      put(at, key, made);
      at = made;
    }
  }
  return at;
}

export function textAt(map: YAMLMap, key: string): string | undefined {
  const value = field(map, key)?.value;
  return isScalar(value) && value.value !== null && value.value !== undefined ? String(value.value) : undefined;
}

/** Removes a field and hands it over with its comments. */
export function take(map: YAMLMap, key: string): Field | undefined {
  const found = field(map, key);
  if (found !== undefined) {
    const index = map.items.indexOf(found);
    map.items.splice(index, 1);
    if (index === 0) keepSpacing(map.items[0]);
  }
  return found;
}

/** The first field of a map must not begin with an empty line. */
function keepSpacing(first: Pair | undefined): void {
  if (first !== undefined && isScalar(first.key)) first.key.spaceBefore = false;
}

/** Adds or replaces a field; a value may be plain data or a node. */
export function put(map: YAMLMap, key: string, value: unknown, at: 'start' | 'end' | { after: string } = 'end'): void {
  const node = toNode(value);
  const existing = field(map, key);
  if (existing !== undefined) existing.value = node;
  else {
    const pair = new Pair<Node, Node>(new Scalar(key), node);
    const neighbour = typeof at === 'object' ? map.items.findIndex((one) => keyOf(one) === at.after) : -1;
    if (at === 'start') map.items.unshift(pair);
    else if (neighbour >= 0) map.items.splice(neighbour + 1, 0, pair);
    else map.items.push(pair);
  }
}

/** Adds a field that was taken elsewhere, under a new name if given. */
export function putField(map: YAMLMap, moved: Field, key?: string): void {
  if (key !== undefined) renameKey(moved, key);
  if (isScalar(moved.key)) moved.key.spaceBefore = false;
  map.items.push(moved);
}

/** Gives a field another name in its place. */
export function renameKey(pair: Field, key: string): void {
  if (isScalar(pair.key)) {
    pair.key.value = key;
    delete pair.key.source;
  } else pair.key = new Scalar(key);
}

/** Changes the text of a scalar, keeping its comment. */
export function setText(map: YAMLMap, key: string, text: string): void {
  const value = field(map, key)?.value;
  if (isScalar(value)) {
    value.value = text;
    delete value.source;
  } else put(map, key, text);
}

export function itemsOf(map: YAMLMap | undefined, key: string): YAMLMap[] {
  const list = map === undefined ? undefined : field(map, key)?.value;
  return isSeq(list) ? list.items.filter((item): item is YAMLMap => isMap(item)) : [];
}

export function plain(pair: Field | undefined): unknown {
  const value = pair?.value;
  if (value === null || value === undefined) return undefined;
  if (isScalar(value)) return value.value;
  return (value as YAMLMap).toJSON();
}

function toNode(value: unknown): Node {
  if (value instanceof YAMLMap || isSeq(value) || isScalar(value)) return value;
  if (Array.isArray(value) || (typeof value === 'object' && value !== null)) return documentNode(value);
  return new Scalar(value);
}

function documentNode(value: object): Node {
  return new Document(value, { aliasDuplicateObjects: false }).contents as Node;
}

/** Writes every alias out, so that moving one field never changes another. True when there was one. */
export function expandAliases(document: Document): boolean {
  let found = false;
  visit(document, {
    Alias(_key, alias) {
      found = true;
      const copy = alias.resolve(document)?.clone() as Node | undefined;
      return copy ?? new Scalar(null);
    },
  });
  if (found) {
    visit(document, {
      Node(_key, node) {
        if (!isAlias(node) && 'anchor' in node) delete node.anchor;
      },
    });
  }
  return found;
}
