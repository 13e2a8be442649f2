// Admission of our own kinds: finds the schema of a manifest and treats `status` as the API server does, where it is a
// subresource: writes to the object leave it alone, writes to the status change nothing else.
import { objectSchema } from './crd.ts';
import type { KindDefinition } from './kinds/definition.ts';
import { kinds } from './kinds/index.ts';
import { type Admission, admit, type CompiledSchema, compileSchema } from './schema/admission.ts';
import { applyDefaults } from './schema/defaults.ts';
import { cloneJson, isObject, type JsonObject } from './schema/json.ts';

const compiledByKind = new Map<KindDefinition, CompiledSchema>();

/** The kind with that `apiVersion` and `kind`, if it is one of ours. */
export function kindOf(apiVersion: unknown, kind: unknown): KindDefinition | undefined {
  return kinds.find((each) => each.kind === kind && `${each.group}/${each.version}` === apiVersion);
}

/** The kind's schema, compiled on first use. */
export function compiledKind(definition: KindDefinition): CompiledSchema {
  let compiled = compiledByKind.get(definition);
  if (compiled === undefined) {
    compiled = compileSchema(objectSchema(definition));
    compiledByKind.set(definition, compiled);
  }
  return compiled;
}

export interface AdmitOptions {
  /** The stored object, for an update. */
  old?: unknown;
  /** The write goes to the status. */
  subresource?: 'status';
}

/** Admits a manifest of one of our kinds as an API server would. */
export function admitKind(definition: KindDefinition, manifest: unknown, options: AdmitOptions = {}): Admission {
  const compiled = compiledKind(definition);
  const object = cloneJson(manifest);
  if (!isObject(object)) return admit(compiled, object);
  const old = cloneJson(options.old);
  if (old !== undefined) applyDefaults(compiled.schema, old);
  const written = isObject(old) && options.subresource === 'status' ? { ...old, status: object['status'] } : object;
  if (options.subresource !== 'status') replaceStatus(written, isObject(old) ? old : {});
  return admit(compiled, written, old);
}

function replaceStatus(object: JsonObject, old: JsonObject): void {
  if (old['status'] === undefined) delete object['status'];
  else object['status'] = old['status'];
}
