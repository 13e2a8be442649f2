// What makes an object of one of our kinds impossible to work with: fields of the wrong type, missing ones, operators
// there are not, quantities and durations that cannot be read. The CRDs keep such objects out; clusters whose CRDs are
// older, edited or stripped do not. Limits of size are left to the API server: an object beyond them works all the same.
import {
  applyDefaults,
  compiledKind,
  type FieldError,
  fieldErrorText,
  kindOf,
  validateAgainstSchema,
} from '../../api/index.ts';
import type { KubeObject } from '../../ports/index.ts';

const unworkable: ReadonlySet<FieldError['reason']> = new Set([
  'FieldValueRequired',
  'FieldValueTypeInvalid',
  'FieldValueNotSupported',
  'FieldValueInvalid',
]);

/** In words, each with its field; empty for what can be worked with, and for kinds of others. */
export function specProblems(object: KubeObject): string[] {
  const definition = kindOf(object.apiVersion, object.kind);
  if (definition === undefined) return [];
  const { schema } = compiledKind(definition);
  const { status: _, spec, ...rest } = object as KubeObject & { status?: unknown; spec?: unknown };
  // Where a schema has no defaults for it, an object may do without a spec.
  const checked: Record<string, unknown> = structuredClone(
    spec === undefined ? rest : { ...rest, spec: withFewValues(spec) },
  );
  applyDefaults(schema, checked);
  return validateAgainstSchema({ schema, rules: undefined, problems: [] }, checked)
    .filter(({ reason }) => unworkable.has(reason))
    .map(fieldErrorText);
}

/** Claims name hundreds of instance types: one of them stands for all that are text. */
function withFewValues(spec: unknown): unknown {
  const { requirements } = (spec ?? {}) as { requirements?: unknown };
  if (!Array.isArray(requirements)) return spec;
  return { ...(spec as object), requirements: requirements.map(shortened) };
}

function shortened(requirement: unknown): unknown {
  const { values } = (requirement ?? {}) as { values?: unknown };
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'string')) return requirement;
  return { ...(requirement as object), values: values.slice(0, 1) };
}
