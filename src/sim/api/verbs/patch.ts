// Patching: the patch is applied to the object as it is now, and the result goes the way of an update.
import { isObject, type JsonObject, objectAt, stringAt, thaw } from '../../json.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import type { ResourceDefinition } from '../definition.ts';
import { invalidValue } from '../field-error.ts';
import { find, type Machinery, type WriteCall } from '../machinery.ts';
import { applyServerSide } from '../patch/apply.ts';
import { jsonPatch } from '../patch/json-patch.ts';
import { applyMergePatch } from '../patch/merge.ts';
import { goText, strategicMerge } from '../patch/strategic.ts';
import { canonicalize, definitionOf } from '../schema.ts';
import { badRequest, invalid, notFound, unsupportedMediaType } from '../status.ts';
import { create } from './create.ts';
import { decodeBody } from './decode-body.ts';
import { replaceCurrent, type Updated, type UpdateTarget } from './update.ts';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

export interface PatchBody {
  type: PatchType;
  body: unknown;
  force?: boolean | undefined;
}

const patchOptions = { group: 'meta.k8s.io', plural: 'patchoptions', kind: 'PatchOptions' };

export function patch(
  machinery: Machinery,
  target: UpdateTarget,
  { type, body, force }: PatchBody,
  call: WriteCall,
): Updated {
  const { definition, namespace, name } = target;
  if (type === 'apply') return apply(machinery, target, body, force === true, call);
  if (force !== undefined)
    throw invalid(patchOptions, '', [
      { reason: 'FieldValueForbidden', field: 'force', message: 'Forbidden: may not be specified for non-apply patch' },
    ]);
  const current = find(machinery, definition, namespace, name);
  if (current === undefined) throw notFound(definition, name);
  const draft = decodePatched(
    definition,
    patched(definition, current, type, body),
    type === 'strategic' ? body : undefined,
    call,
  );
  keepName(target, draft);
  return { object: replaceCurrent(machinery, target, current, draft, call), created: false };
}

/** What a strict client hears about unknown fields names the patch, not the object. */
function decodePatched(definition: ResourceDefinition, object: unknown, body: unknown, call: WriteCall): JsonObject {
  if (call.fieldValidation !== 'Strict') return decodeBody(definition, object, call);
  const unknown: string[] = [];
  const quoted = body === undefined ? JSON.stringify(object) : goText(body);
  const draft = decodeBody(definition, object, {
    ...call,
    fieldValidation: 'Warn',
    warn: (text) => unknown.push(text),
  });
  if (unknown.length === 0) return draft;
  const detail = `strict decoding error: ${unknown.sort().join(', ')}`;
  throw invalid({ group: '', plural: '', kind: '' }, '', [invalidValue('patch', quoted, detail)]);
}

/** The current object with the patch applied; nothing of the current one is shared. */
function patched(definition: ResourceDefinition, current: StoredObject, type: PatchType, body: unknown): unknown {
  if (type === 'json') return jsonPatch(current, body);
  if (!isObject(body)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${Array.isArray(body) ? 'array' : typeof body} into Go value of type map[string]interface {}`,
    );
  }
  if (type === 'merge') return thaw(applyMergePatch(current, body));
  if (definition.schema === undefined) {
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml, application/apply-patch+cbor`,
    );
  }
  return thaw(strategicMerge(current, body, definitionOf(definition.schema)));
}

function keepName(target: UpdateTarget, draft: JsonObject): void {
  const meta = objectAt(draft, 'metadata');
  const name = stringAt(meta, 'name');
  if (name !== target.name) {
    if (name === '') meta['name'] = target.name;
    else throw badRequest(`the name of the object (${name}) does not match the name on the URL (${target.name})`);
  }
  const namespace = stringAt(meta, 'namespace');
  if (target.definition.namespaced && namespace !== target.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

function apply(machinery: Machinery, target: UpdateTarget, body: unknown, force: boolean, call: WriteCall): Updated {
  const { definition, namespace, name } = target;
  const manager = call.fieldManager ?? '';
  if (manager === '') {
    throw invalid(patchOptions, '', [
      { reason: 'FieldValueRequired', field: 'fieldManager', message: 'Required value: is required for apply patch' },
    ]);
  }
  if (!isObject(body)) throw badRequest('error decoding YAML: the body must be an object');
  for (const key of ['apiVersion', 'kind']) {
    if (stringAt(body, key) === '') throw badRequest(`invalid object type: /, Kind=`);
  }
  const applied = thaw(body);
  // Compared with what is stored, which is canonical; unknown fields are reported by the decoding that follows.
  if (definition.schema !== undefined && call.fieldValidation !== 'Strict') {
    canonicalize(definition.kind, definition.version, definition.schema, applied);
  }
  const meta = isObject(applied['metadata']) ? applied['metadata'] : {};
  applied['metadata'] = meta;
  if (meta['managedFields'] !== undefined) throw badRequest('metadata.managedFields must be nil');
  if (stringAt(meta, 'name') === '') meta['name'] = name;
  if (definition.namespaced && stringAt(meta, 'namespace') === '') meta['namespace'] = namespace;
  keepName(target, applied);
  const current = find(machinery, definition, namespace, name);
  if (current === undefined && target.subresource !== undefined) throw notFound(definition, name);
  const uid = stringAt(meta, 'uid');
  if (current === undefined && uid !== '')
    throw invalid(definition, name, [invalidValue('metadata.uid', uid, 'no existing object was found')]);
  const merged = applyServerSide({
    definition,
    current,
    applied,
    manager,
    force,
    subresource: target.subresource,
    time: machinery.around.timestamp(),
  });
  const { managedFields } = objectAt(merged, 'metadata');
  // What was merged is partly the stored object's own.
  const draft = decodeBody(definition, thaw(merged), call);
  if (current === undefined) {
    const made = create(machinery, definition, namespace, draft, { ...call, managedFields });
    return { object: made, created: true };
  }
  return { object: replaceCurrent(machinery, target, current, draft, { ...call, managedFields }), created: false };
}
