// YAML by the full parser: for whatever the quick reader is unsure about, and for everything that is wrong. Turns the
// parser's errors into sentences that say what to write instead, and refuses aliases that would blow up.
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseDocument, visit } from 'yaml';
import { deepestYaml, messageOf, yamlTooDeepAt } from '../../base/index.ts';
import type { FieldPath } from './field-path.ts';

export interface YamlProblem {
  code: 'syntax' | 'duplicate-key' | 'alias';
  offset: number;
  message: string;
  fix?: string;
  field: FieldPath;
}

export interface FullYaml {
  value: unknown;
  problems: YamlProblem[];
  document: Document;
}

/** More aliases than any manifest uses, fewer than an alias bomb needs. */
const maxAliasCount = 100;

export function readFullYaml(text: string): FullYaml {
  const offset = yamlTooDeepAt(text);
  if (offset === undefined) return readShallow(text);
  const message = `nested more than ${deepestYaml} levels deep`;
  const problem: YamlProblem = { code: 'syntax', offset, message, fix: 'write it with less nesting', field: [] };
  return { value: undefined, problems: [problem], document: parseDocument('') };
}

function readShallow(text: string): FullYaml {
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  // What is missing at the end is best shown on the last line that says something.
  const lastWord = Math.max(0, text.trimEnd().length - 1);
  const problems = document.errors.map((error) =>
    explain(document, text, error.code, error.message, Math.min(error.pos[0], lastWord)),
  );
  if (/\{\{-? ?[.\w]/.test(text) && (problems.length > 0 || hasMapAsKey(document)))
    problems.splice(0, problems.length, template(text));
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount });
    if (holdsItself(value)) problems.push(endless(text));
  } catch (thrown) {
    problems.push(explainAlias(text, messageOf(thrown)));
  }
  // Duplicate keys leave a usable value (the last one counts); other errors do not.
  if (problems.some((problem) => problem.code !== 'duplicate-key')) value = undefined;
  return { value, problems, document };
}

/** `name: {{ .Values.name }}` is YAML by accident: a map whose key is a map. */
function hasMapAsKey(document: Document): boolean {
  let isFound = false;
  visit(document, {
    Pair(_, { key }) {
      if (!isMap(key)) return undefined;
      isFound = true;
      return visit.BREAK;
    },
  });
  return isFound;
}

/** Charts hold templates, which are not YAML until they are rendered. */
function template(text: string): YamlProblem {
  return {
    code: 'syntax',
    offset: Math.max(0, text.search(/\{\{/)),
    message: 'this is a template, not YAML',
    fix: 'render it first with helm template CHART, and give the result with -f -',
    field: [],
  };
}

/** Offset of a field, or of the nearest written field around it. */
export function offsetInDocument(document: Document, path: FieldPath): number {
  let node: Node | null = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document) ?? null;
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => (isScalar(item.key) ? String(item.key.value) : undefined) === String(part),
      );
      if (pair === undefined) break;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value as Node | null;
    } else if (isSeq(node)) {
      node = (node.items[Number(part)] as Node | undefined) ?? null;
      offset = node?.range?.[0] ?? offset;
    } else break;
  }
  return offset;
}

/** The path of the innermost field that starts at or spans `offset`. */
function pathAt(node: Node | null, offset: number, path: (string | number)[] = []): (string | number)[] {
  if (isMap(node)) {
    for (const pair of node.items) {
      const key = pair.key as Node | null;
      const value = pair.value as Node | null;
      const start = key?.range?.[0] ?? -1;
      const end = value?.range?.[2] ?? key?.range?.[2] ?? -1;
      if (start <= offset && offset <= end && isScalar(key)) {
        const here = [...path, String(key.value)];
        if (start === offset) return here;
        if ((value?.range?.[0] ?? Number.MAX_SAFE_INTEGER) <= offset) return pathAt(value, offset, here);
      }
    }
  } else if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      const range = (item as Node | null)?.range;
      if (range && range[0] <= offset && offset < range[2]) return pathAt(item as Node, offset, [...path, index]);
    }
  }
  return path;
}

function explain(document: Document, text: string, code: string, message: string, offset: number): YamlProblem {
  const field = pathAt(document.contents, offset);
  const line = lineAround(text, offset);
  const unclosed = /^Flow (map|sequence)\b.* end with a (\S)/.exec(message);
  if (unclosed !== null) {
    const [open, close] = unclosed[2] === '}' ? ['{', '}'] : ['[', ']'];
    return { code: 'syntax', offset, message: `the "${open}" is never closed`, fix: `close it with "${close}"`, field };
  }
  switch (code) {
    case 'DUPLICATE_KEY': {
      const key = /^[^:]*/.exec(text.slice(offset, offset + 120))?.[0].trim() ?? '';
      return {
        code: 'duplicate-key',
        offset,
        message: `key "${key}" is written twice in the same map; parsers silently keep only the last`,
        fix: 'keep one of the two',
        field,
      };
    }
    case 'TAB_AS_INDENT':
      return { code: 'syntax', offset, message: 'a tab is used as indentation', fix: 'indent with spaces', field };
    case 'MULTILINE_IMPLICIT_KEY':
    case 'MISSING_CHAR': {
      const bare = missingColon(text, offset);
      if (bare !== undefined) {
        const meant = [...field.slice(0, -1), bare];
        return { code: 'syntax', offset, message: `"${bare}" has no colon`, fix: `write \`${bare}:\``, field: meant };
      }
      return { code: 'syntax', offset, message: `not YAML here: ${message}`, field };
    }
    case 'BAD_INDENT':
      return { code: 'syntax', offset, message: `uneven indentation: ${message}`, fix: 'indent siblings alike', field };
    default:
      return {
        code: 'syntax',
        offset,
        message: `not YAML here: ${message}${line === '' ? '' : ` (\`${line}\`)`}`,
        field,
      };
  }
}

/** The word on its own at `offset`, when a deeper line below shows that it was meant as a key. */
function missingColon(text: string, offset: number): string | undefined {
  const match = /^([A-Za-z][\w-]*)[ \t]*\r?\n([ \t]+)[\w"'-]/.exec(text.slice(offset, offset + 400));
  if (match === null) return undefined;
  const column = offset - (text.lastIndexOf('\n', offset - 1) + 1);
  return (match[2] ?? '').length > column ? match[1] : undefined;
}

/** Whether an alias stands for something around it. */
function holdsItself(value: unknown, around = new Set<unknown>(), done = new Set<unknown>()): boolean {
  if (typeof value !== 'object' || value === null || done.has(value)) return false;
  if (around.has(value)) return true;
  around.add(value);
  const holds = Object.values(value).some((part) => holdsItself(part, around, done));
  around.delete(value);
  done.add(value);
  return holds;
}

const firstAlias = /[\s[{,]\*[\w-]/;

const endless = (text: string): YamlProblem => ({
  code: 'alias',
  offset: text.search(firstAlias) + 1,
  message: 'an alias stands for a part that it is itself in, so there is no end to it',
  fix: 'write the repeated part out',
  field: [],
});

function explainAlias(text: string, message: string): YamlProblem {
  const isBomb = /excessive alias count/i.test(message);
  const name = /anchor[^:]*: ?(\S+)/.exec(message)?.[1];
  const offset = Math.max(0, text.search(name === undefined ? firstAlias : new RegExp(`\\*${name}`)));
  return isBomb
    ? {
        code: 'alias',
        offset,
        message: `more than ${maxAliasCount} aliases are expanded here, which looks like an alias bomb`,
        fix: 'write the repeated parts out',
        field: [],
      }
    : { code: 'alias', offset, message, fix: 'define the anchor (&name) before the alias (*name)', field: [] };
}

function lineAround(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  const line = text.slice(start, end < 0 ? start + 80 : Math.min(end, start + 80)).trim();
  return /^[\x20-\x7e]*$/.test(line) ? line : '';
}
