// Tables of custom resources: columns and their JSONPaths come from the definition.
import { isObject, type JsonObject, stringAt } from '../../json.ts';
import type { TableLayout } from '../definition.ts';
import { age, columns, nameOf, since } from './cells.ts';

export function customLayout(printerColumns: JsonObject[]): TableLayout {
  if (printerColumns.length === 0) {
    return { columns: columns('Name/name,Age:date'), cells: (object, nowMs) => [nameOf(object), age(object, nowMs)] };
  }
  const readers = printerColumns.map((column) => ({
    type: stringAt(column, 'type'),
    path: parsePath(stringAt(column, 'jsonPath')),
  }));
  return {
    columns: [
      ...columns('Name/name'),
      ...printerColumns.map((column) => ({
        name: stringAt(column, 'name'),
        type: stringAt(column, 'type'),
        format: stringAt(column, 'format'),
        description: stringAt(column, 'description'),
        priority: Number(column['priority'] ?? 0),
      })),
    ],
    cells: (object, nowMs) => [
      nameOf(object),
      ...readers.map(({ type, path }) => cell(type, evaluate(object, path), nowMs)),
    ],
  };
}

type Step = string | { field: string; value: string } | number | '*';

/** `.status.conditions[?(@.type=="Ready")].status`, `.spec.a['b.c/d']`, `.items[0].x`, `.items[*].x`. */
function parsePath(text: string): Step[] {
  const steps: Step[] = [];
  const pattern =
    /\.([^.[\]\\]*(?:\\.[^.[\]\\]*)*)|\[\?\(@\.([^=\s]+)\s*==\s*["']([^"']*)["']\)\]|\[["']([^"']+)["']\]|\[(\d+)\]|\[(\*)\]/g;
  for (const [, field, filterField, filterValue, quoted, index, star] of text.matchAll(pattern)) {
    if (field !== undefined) {
      if (field !== '') steps.push(field.replaceAll('\\', ''));
    } else if (filterField !== undefined) steps.push({ field: filterField, value: filterValue ?? '' });
    else if (quoted !== undefined) steps.push(quoted);
    else if (index !== undefined) steps.push(Number(index));
    else if (star !== undefined) steps.push('*');
  }
  return steps;
}

function evaluate(object: unknown, path: Step[]): unknown {
  let values: unknown[] = [object];
  for (const step of path) {
    values = values.flatMap((value): unknown[] => {
      if (typeof step === 'object')
        return Array.isArray(value)
          ? value.filter((item) => isObject(item) && String(item[step.field]) === step.value)
          : [];
      if (typeof step === 'number') return Array.isArray(value) && value[step] !== undefined ? [value[step]] : [];
      if (step === '*') return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
      return isObject(value) && value[step] !== undefined ? [value[step]] : [];
    });
  }
  return values[0];
}

function cell(type: string, value: unknown, nowMs: number): unknown {
  if (value === undefined || value === null) return type === 'date' ? '<unknown>' : null;
  switch (type) {
    case 'date':
      return since(value, nowMs);
    case 'integer':
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    default:
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
}
