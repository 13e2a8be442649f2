// The scale subresource: one number, whatever kind it belongs to.
import { ensureObject, isObject, type JsonObject, objectAt, thaw } from '../../json.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import type { ResourceDefinition, ScalePaths } from '../definition.ts';
import { invalidValue } from '../field-error.ts';
import { get, type Machinery, type WriteCall } from '../machinery.ts';
import { jsonPatch } from '../patch/json-patch.ts';
import { applyMergePatch } from '../patch/merge.ts';
import { cannotHandle } from '../schema.ts';
import { formatLabelSelector } from '../selectors.ts';
import { badRequest, invalid, modified } from '../status.ts';
import type { PatchBody } from './patch.ts';
import { replaceCurrent } from './update.ts';

const scaleSubject = { group: 'autoscaling', plural: 'scales', kind: 'Scale' };
const steps = (path: string): string[] => path.split('.').filter((step) => step !== '');

function read(object: JsonObject, path: string): unknown {
  let value: unknown = object;
  for (const step of steps(path)) value = isObject(value) ? value[step] : undefined;
  return value;
}

export function scaleOf(definition: ResourceDefinition, object: StoredObject): JsonObject {
  const paths = definition.scale as ScalePaths;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const built = definition.custom === undefined;
  const selector = built
    ? formatLabelSelector(objectAt(object, 'spec')['selector']).replace('<none>', '')
    : paths.labelSelectorPath === undefined
      ? undefined
      : read(object, paths.labelSelectorPath);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace !== undefined && { namespace }), uid, resourceVersion, creationTimestamp },
    spec: {
      ...(Number(read(object, paths.specReplicasPath) ?? 0) > 0 && { replicas: read(object, paths.specReplicasPath) }),
    },
    status: {
      replicas: Number(read(object, paths.statusReplicasPath) ?? 0),
      ...(typeof selector === 'string' && selector !== '' && { selector }),
    },
  };
}

export function getScale(
  machinery: Machinery,
  definition: ResourceDefinition,
  namespace: string | undefined,
  name: string,
): JsonObject {
  return scaleOf(definition, get(machinery, definition, namespace, name));
}

export function updateScale(
  machinery: Machinery,
  definition: ResourceDefinition,
  namespace: string | undefined,
  name: string,
  body: unknown,
  call: WriteCall,
): JsonObject {
  const current = get(machinery, definition, namespace, name);
  if (!isObject(body)) throw badRequest('a Scale must be an object');
  const version = objectAt(body, 'metadata')['resourceVersion'];
  if (typeof version === 'string' && version !== '' && version !== current.metadata.resourceVersion)
    throw modified(definition, name);
  const replicas = objectAt(body, 'spec')['replicas'] ?? 0;
  if (!Number.isInteger(replicas)) {
    throw cannotHandle(
      'Scale',
      'v1',
      `json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`,
    );
  }
  if (Number(replicas) < 0) {
    throw invalid(scaleSubject, name, [invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0')]);
  }
  const draft = thaw(current) as JsonObject;
  const path = steps((definition.scale as ScalePaths).specReplicasPath);
  let parent = draft;
  for (const step of path.slice(0, -1)) parent = ensureObject(parent, step);
  parent[path.at(-1) as string] = replicas;
  return scaleOf(definition, replaceCurrent(machinery, { definition, namespace, name }, current, draft, call));
}

export function patchScale(
  machinery: Machinery,
  definition: ResourceDefinition,
  namespace: string | undefined,
  name: string,
  { type, body }: PatchBody,
  call: WriteCall,
): JsonObject {
  const scale = getScale(machinery, definition, namespace, name);
  const next = type === 'json' ? jsonPatch(scale, body) : (applyMergePatch(scale, body) as JsonObject);
  return updateScale(machinery, definition, namespace, name, next, call);
}
