// Moves a set of manifests to v1. All of them are surveyed first, because a NodePool's kubelet settings belong to its node
// class and a short nodeClassRef is completed from the classes at hand; then each document is edited where it stands.
// Documents that need no change come out byte for byte as they went in, so converting twice changes nothing more.
import { Document, isMap, isSeq, YAMLMap } from 'yaml';
import { readFullYaml, type Unit } from '../manifests/index.ts';
import { commentLines, keepComments } from './comments.ts';
import { convertNodeClass } from './node-class.ts';
import type { KnownClasses } from './node-class-ref.ts';
import { convertNodeClaim, convertNodePool, type KubeletMove } from './node-pool.ts';
import { Notes } from './notes.ts';
import { convertProvisioner } from './provisioner.ts';
import { survey } from './survey.ts';
import { renameOldNames } from './workload.ts';
import { expandAliases, field, mapAt, plain, put, putField, renameKey, setText, textAt } from './yaml-edit.ts';

export interface ObjectNotes {
  file: string;
  line: number;
  /** `NodePool default`, as it is called now. */
  object: string;
  notes: Notes;
}

export interface Rewritten {
  unit: Unit;
  text: string;
  objects: ObjectNotes[];
  /** Why the document was left as it is, though it seems to need work. */
  broken?: string;
}

interface Open {
  unit: Unit;
  document?: Document;
  roots: Root[];
  broken?: string;
  /** As it was read. */
  comments: string[];
  /** Objects that came out of this one, printed after it. */
  extra: YAMLMap[];
}

interface Root {
  map: YAMLMap;
  notes: Notes;
  line: number;
}

/** The units in order, rewritten where they need it. Few are ever open at a time, however many there are. */
export function* rewrite(units: readonly Unit[]): Generator<Rewritten> {
  const { classes, work, linked } = survey(units);
  const together = new Map(rewriteTogether(linked, classes).map((result) => [result.unit, result]));
  for (const unit of units) {
    const result = together.get(unit) ?? (work.has(unit) ? rewriteTogether([unit], classes)[0] : undefined);
    yield result ?? { unit, text: unit.text, objects: [] };
  }
}

/** Converts units among which settings may move. */
function rewriteTogether(units: readonly Unit[], classes: KnownClasses): Rewritten[] {
  const open = units.map(openUnit);
  const roots = open.flatMap((one) => one.roots);
  const moves: (KubeletMove & { notes: Notes })[] = [];
  for (const one of open) {
    for (const root of one.roots) {
      const { move, extra } = convertObject(root, classes);
      if (move !== undefined) moves.push({ ...move, notes: root.notes });
      if (extra !== undefined) one.extra.push(extra);
    }
  }
  const made = open.flatMap((one) => one.extra.map((map) => ({ map, notes: new Notes(), line: 0 })));
  for (const move of moves) moveKubelet(move, [...roots, ...made]);
  keepCommentsOf(open);
  return open.map(close);
}

/** A comment may have moved to another document with its field; one that is in none belonged to a field that is gone. */
function keepCommentsOf(open: readonly Open[]): void {
  const trees = open.flatMap(({ document, extra }) => [...(document === undefined ? [] : [document]), ...extra]);
  const kept = new Set(trees.flatMap((tree) => commentLines(tree)));
  for (const { document, comments, roots } of open) {
    const changed = roots.find(({ notes }) => notes.list.length > 0);
    if (document === undefined || changed === undefined) continue;
    if (keepComments(document, comments, kept))
      changed.notes.changed('comments of fields that are gone stand at the end');
  }
}

function openUnit(unit: Unit): Open {
  const { document, problems } = readFullYaml(unit.text);
  const [problem] = problems;
  if (problem !== undefined) return { unit, roots: [], extra: [], comments: [], broken: problem.message };
  expandAliases(document);
  const roots = objectsIn(document.contents).map((map) => ({ map, notes: new Notes(), line: lineOf(unit, map) }));
  return { unit, document, roots, extra: [], comments: unit.format === 'json' ? [] : commentLines(document) };
}

/** The object itself, or the items of a List. */
function objectsIn(node: unknown): YAMLMap[] {
  if (!isMap(node)) return isSeq(node) ? node.items.flatMap(objectsIn) : [];
  const items = field(node, 'items')?.value;
  if (textAt(node, 'kind')?.endsWith('List') === true && isSeq(items)) return items.items.flatMap(objectsIn);
  return [node];
}

const versionOf = (map: YAMLMap): string => textAt(map, 'apiVersion') ?? textAt(map, 'appVersion') ?? '';
const isOurKind = (map: YAMLMap): boolean => /^karpenter\.(sh|k8s\.aws|kwok\.sh)\/v/.test(versionOf(map));
const nameOf = (map: YAMLMap): string => textAt(mapAt(map, 'metadata') ?? new YAMLMap(), 'name') ?? '';

function lineOf(unit: Unit, map: YAMLMap): number {
  const offset = map.range?.[0] ?? 0;
  return unit.line + unit.text.slice(0, offset).split('\n').length - 1;
}

function convertObject(
  { map, notes }: Root,
  classes: KnownClasses,
): { move?: KubeletMove | undefined; extra?: YAMLMap } {
  renameOldNames(map, notes);
  if (!isOurKind(map)) return {};
  const misspelt = field(map, 'appVersion');
  if (misspelt !== undefined && field(map, 'apiVersion') === undefined) {
    renameKey(misspelt, 'apiVersion');
    notes.changed('appVersion is spelt apiVersion', 'M28');
  }
  const kind = textAt(map, 'kind') ?? '';
  // These two are still alpha.
  if (kind === 'NodeOverlay' || kind === 'KWOKNodeClass') return {};
  const isOld = /\/v1(alpha|beta)\d+$/.test(versionOf(map));
  if (isOld) {
    const old = versionOf(map);
    setText(map, 'apiVersion', old.replace(/\/.*/, '/v1'));
    notes.changed(`apiVersion ${old} became ${versionOf(map)}`, 'M01');
  }
  return convertKind(kind, isOld, map, classes, notes);
}

function convertKind(
  kind: string,
  isOld: boolean,
  map: YAMLMap,
  classes: KnownClasses,
  notes: Notes,
): { move?: KubeletMove | undefined; extra?: YAMLMap } {
  switch (kind) {
    case 'Provisioner': {
      const { inlineClass } = convertProvisioner(map, notes);
      const move = convertNodePool(map, false, classes, notes);
      return inlineClass === undefined ? { move } : { move, extra: inlineNodeClass(nameOf(map), inlineClass, notes) };
    }
    case 'NodePool':
      return { move: convertNodePool(map, isOld, classes, notes) };
    case 'Machine':
      setText(map, 'kind', 'NodeClaim');
      notes.changed('Machine became NodeClaim', 'M01');
      return { move: convertNodeClaim(map, classes, notes) };
    case 'NodeClaim':
      return { move: convertNodeClaim(map, classes, notes) };
    case 'AWSNodeTemplate':
      setText(map, 'kind', 'EC2NodeClass');
      notes.changed('AWSNodeTemplate became EC2NodeClass', 'M01');
      convertNodeClass(map, isOld, notes);
      return {};
    case 'EC2NodeClass':
      convertNodeClass(map, isOld, notes);
      return {};
    default:
      return {};
  }
}

function inlineNodeClass(name: string, provider: YAMLMap, notes: Notes): YAMLMap {
  const document = new Document({ apiVersion: 'karpenter.k8s.aws/v1', kind: 'EC2NodeClass', metadata: { name } });
  const map = document.contents as unknown as YAMLMap;
  for (const key of ['apiVersion', 'kind']) if (field(provider, key) !== undefined) provider.delete(key);
  put(map, 'spec', provider);
  convertNodeClass(map, true, notes);
  return map;
}

/** Puts a pool's kubelet settings into the node class it refers to. */
function moveKubelet(move: KubeletMove & { notes: Notes }, roots: readonly Root[]): void {
  const settings = JSON.stringify(plain(move.kubelet));
  const target = roots.find(({ map }) => textAt(map, 'kind') === 'EC2NodeClass' && nameOf(map) === move.nodeClass);
  const spec = target === undefined ? undefined : mapAt(target.map, 'spec');
  if (target === undefined || spec === undefined) {
    move.notes.decide(
      `removed kubelet, which belongs to the node class ${move.nodeClass} (not in the input); put there: kubelet: ${settings}`,
      'M34',
    );
    return;
  }
  const present = field(spec, 'kubelet');
  if (present === undefined) {
    putField(spec, move.kubelet, 'kubelet');
    move.notes.changed(`kubelet moved to the EC2NodeClass ${move.nodeClass}`, 'M34');
    target.notes.changed('kubelet came from a NodePool that uses this class', 'M34');
  } else if (JSON.stringify(plain(present)) !== settings) {
    move.notes.decide(
      `removed kubelet: the EC2NodeClass ${move.nodeClass} already has other settings; give this pool a class of its own with kubelet: ${settings}`,
      'M34',
    );
  } else move.notes.changed(`dropped kubelet: the EC2NodeClass ${move.nodeClass} has the same settings`, 'M34');
}

function close(one: Open): Rewritten {
  const { unit, document, roots, extra, broken } = one;
  const objects = roots
    .filter(({ notes }) => notes.list.length > 0)
    .map(({ map, notes, line }) => ({
      file: unit.file,
      line,
      object: `${textAt(map, 'kind')} ${nameOf(map)}`.trim(),
      notes,
    }));
  if (document === undefined || objects.length === 0)
    return { unit, text: unit.text, objects, ...(broken === undefined ? {} : { broken }) };
  return { unit, text: print(unit, document, extra), objects };
}

function print(unit: Unit, document: Document, extra: readonly YAMLMap[]): string {
  if (unit.format === 'json') {
    const values = [document.toJS() as unknown, ...extra.map((map) => map.toJSON() as unknown)];
    const value = values.length === 1 ? values[0] : { apiVersion: 'v1', kind: 'List', items: values };
    return `${JSON.stringify(value, undefined, 2)}\n`;
  }
  const style = styleOf(unit.text);
  if (unit.part === 'item') return printItem(unit, document, extra, style);
  const more = extra.map((map) => {
    const made = new Document();
    made.contents = map as never;
    return `---\n${made.toString(style)}`;
  });
  const text = [document.toString(style), ...more].join('');
  return unit.text.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
}

/** An item of a long List goes back into the column where it stood; what came out of it follows as items. */
function printItem(unit: Unit, document: Document, extra: readonly YAMLMap[], style: Style): string {
  if (isSeq(document.contents)) document.contents.items.push(...extra);
  const indent = /^ */.exec(unit.text)?.[0] ?? '';
  const text = document.toString(style).replaceAll(/^(?=.)/gm, indent);
  return unit.text.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
}

interface Style {
  lineWidth: 0;
  indent: number;
  indentSeq: boolean;
  flowCollectionPadding: boolean;
}

/** The writer's habits: indentation, lists in the column of their key, blanks inside braces. */
function styleOf(text: string): Style {
  const indents = [...text.matchAll(/^( +)[^\s#-]/gm)].map((match) => (match[1] ?? '').length);
  const indent = Math.min(...indents, 8);
  const list = /^( *)[\w"'./-]+:[ \t]*(?:#.*)?\r?\n(?:[ \t]*(?:#.*)?\r?\n)*( *)- /m.exec(text);
  const indentSeq = list === null || (list[2] ?? '').length > (list[1] ?? '').length;
  return {
    lineWidth: 0,
    indent: indent < 2 || indent > 8 ? 2 : indent,
    indentSeq,
    flowCollectionPadding: !/[{[][^\s}\]]/.test(text),
  };
}
