// Code that a document shows in comments ("can also be …"). Readers uncomment it, so budgets written there are judged
// like the rest; other comments are left alone.
import { parse } from 'yaml';
import { asList, asMap, isMap, type Manifest } from '../manifests/index.ts';
import type { Subject } from './finding.ts';
import { fragment } from './identify.ts';

const budgetFields = new Set(['nodes', 'reasons', 'schedule', 'duration']);

export function* commentedFragments(manifest: Manifest): Generator<Subject> {
  if (manifest.fenceLine === undefined || !/^\s*#.*\b(duration|schedule|reasons|nodes):/m.test(manifest.text)) return;
  for (const run of commentRuns(manifest.text)) {
    for (const budget of budgetsIn(run.text)) {
      const line = run.lines.find((one) =>
        Object.keys(budget).some((field) => new RegExp(`- *${field}:`).test(one.text)),
      );
      const position = {
        line: manifest.line - firstLine(manifest.text) + (line?.index ?? run.lines[0]?.index ?? 0),
        column: 1,
      };
      run.lines = run.lines.filter((one) => one !== line);
      const inComment: Manifest = {
        ...manifest,
        line: position.line,
        value: budget,
        problems: [],
        locate: () => position,
        sourceOf: () => line?.text ?? '',
      };
      yield fragment(inComment, 'NodePool', ['spec', 'disruption', 'budgets', 0], budget);
    }
  }
}

interface Run {
  text: string;
  lines: { index: number; text: string }[];
}

function commentRuns(text: string): Run[] {
  const runs: Run[] = [];
  let open: Run | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const comment = /^\s*#(.*)$/.exec(line)?.[1];
    if (comment === undefined) {
      open = undefined;
      continue;
    }
    if (open === undefined) {
      open = { text: '', lines: [] };
      runs.push(open);
    }
    open.text += `${comment}\n`;
    open.lines.push({ index, text: comment });
  }
  return runs;
}

/** Maps with nothing but budget fields, wherever they stand in the commented-out YAML. */
function budgetsIn(text: string): Record<string, unknown>[] {
  let value: unknown;
  try {
    value = parse(text, { logLevel: 'error' });
  } catch {
    return [];
  }
  const lists = Array.isArray(value) ? [value] : Object.values(asMap(value)).map(asList);
  return lists.flat().filter((item): item is Record<string, unknown> => {
    const fields = Object.keys(asMap(item));
    return isMap(item) && fields.length > 0 && fields.every((field) => budgetFields.has(field));
  });
}

function firstLine(text: string): number {
  return text
    .split('\n')
    .findIndex((line) => line.trim() !== '' && !line.trimStart().startsWith('#') && line.trim() !== '---');
}
