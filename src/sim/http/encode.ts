// Objects as clients see them: whole, as rows of a Table, or only their metadata.
import { apiVersionOf, type ResourceDefinition } from '../api/definition.ts';
import { plainLayout } from '../api/tables/index.ts';
import type { JsonObject } from '../json.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { Form, MetaVersion } from './negotiate.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface View {
  form: Form;
  includeObject: IncludeObject;
  nowMs: number;
  /** Another name of the same kind, and what its objects look like then. */
  renamed?: { apiVersion: string; show(object: StoredObject): StoredObject };
  /** What this reader is shown instead of the object as it is stored. */
  toReader?: ((object: StoredObject) => StoredObject) | undefined;
}

export const partial = (object: StoredObject, { form }: View): JsonObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: form.metaVersion,
  metadata: object.metadata,
});

/** One object as the body of an answer. */
export function encodeObject(definition: ResourceDefinition, object: StoredObject, view: View): JsonObject {
  if (view.form.as === 'PartialObjectMetadata') return partial(object, view);
  if (view.form.as === 'Table') {
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    return table(definition, [row(definition, object, view)], { metadata, apiVersion: view.form.metaVersion });
  }
  return shown(object, view);
}

export function shown(object: StoredObject, { renamed, toReader }: View): StoredObject {
  const seen = toReader === undefined ? object : toReader(object);
  return renamed === undefined ? seen : renamed.show(seen);
}

interface TableFrame {
  metadata: JsonObject;
  apiVersion: MetaVersion;
  withColumns?: boolean;
}

export function table(
  definition: ResourceDefinition,
  rows: JsonObject[],
  { metadata, apiVersion, withColumns = true }: TableFrame,
): JsonObject {
  const { columns } = definition.table ?? plainLayout;
  return {
    kind: 'Table',
    apiVersion,
    metadata,
    columnDefinitions: withColumns
      ? columns.map(({ name, type, format = '', description = '', priority = 0 }) => ({
          name,
          type,
          format,
          description,
          priority,
        }))
      : null,
    rows,
  };
}

export function row(definition: ResourceDefinition, object: StoredObject, view: View): JsonObject {
  const layout = definition.table ?? plainLayout;
  const phase = definition.kind === 'Pod' ? (object['status'] as JsonObject | undefined)?.['phase'] : undefined;
  return {
    cells: layout.cells(object, view.nowMs),
    ...((phase === 'Succeeded' || phase === 'Failed') && { conditions: [finished(phase)] }),
    object:
      view.includeObject === 'None'
        ? null
        : view.includeObject === 'Object'
          ? shown(object, view)
          : partial(object, view),
  };
}

const finished = (phase: 'Succeeded' | 'Failed'): JsonObject => ({
  type: 'Completed',
  status: 'True',
  reason: phase,
  message: phase === 'Succeeded' ? 'The pod has completed successfully.' : 'The pod failed.',
});

/** One item of a list, as JSON text. Items of built-in lists carry no apiVersion and kind on the wire. */
export function encodeItem(definition: ResourceDefinition, object: StoredObject, view: View): string {
  if (view.form.as === 'Table') return JSON.stringify(row(definition, object, view));
  if (view.form.as === 'PartialObjectMetadata') return JSON.stringify(partial(object, view));
  if (definition.custom !== undefined) return JSON.stringify(object);
  const { apiVersion: _a, kind: _k, ...rest } = shown(object, view);
  return JSON.stringify(rest);
}

/** What surrounds the items of a list. */
export function listFrame(
  definition: ResourceDefinition,
  view: View,
  metadata: JsonObject,
): { open: string; close: string } {
  if (view.form.as === 'Table') {
    const { rows: _rows, ...frame } = table(definition, [], { metadata, apiVersion: view.form.metaVersion });
    return { open: `${JSON.stringify(frame).slice(0, -1)},"rows":[`, close: ']}\n' };
  }
  const frame =
    view.form.as === 'PartialObjectMetadata'
      ? { kind: 'PartialObjectMetadataList', apiVersion: view.form.metaVersion, metadata }
      : { kind: definition.listKind, apiVersion: view.renamed?.apiVersion ?? apiVersionOf(definition), metadata };
  return { open: `${JSON.stringify(frame).slice(0, -1)},"items":[`, close: ']}\n' };
}
