// From the body of a request to a draft in the kind's form: right group, version and kind, unknown fields gone.
import { isObject, type JsonObject } from '../../json.ts';
import { apiVersionOf, type ResourceDefinition } from '../definition.ts';
import type { WriteCall } from '../machinery.ts';
import { cannotHandle, decode } from '../schema.ts';
import { badRequest, type StatusError } from '../status.ts';

/** Takes ownership of `body`. */
export function decodeBody(definition: ResourceDefinition, body: unknown, call: WriteCall): JsonObject {
  const { kind } = definition;
  if (!isObject(body)) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: json: cannot unmarshal ${Array.isArray(body) ? 'array' : typeof body} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (${Buffer.from(JSON.stringify(body)).subarray(0, 32).toString('hex')})`,
    );
  }
  const apiVersion = apiVersionOf(definition);
  const { apiVersion: givenVersion = apiVersion, kind: givenKind = kind } = body;
  if (givenVersion !== apiVersion || givenKind !== kind)
    throw otherKind(definition, String(givenVersion), String(givenKind));
  body['apiVersion'] = apiVersion;
  body['kind'] = kind;
  const unknown = normalise(definition, body);
  report(definition, unknown, call);
  if (!isObject(body['metadata'])) body['metadata'] = {};
  return body;
}

/** The real server tells kinds it knows from kinds it does not, and names the place in its source that says so. */
function otherKind(
  { group, kind, version, custom }: ResourceDefinition,
  givenVersion: string,
  givenKind: string,
): StatusError {
  const shortVersion = givenVersion.split('/').at(-1) as string;
  if (custom !== undefined) {
    return badRequest(
      `the API version in the data (${givenVersion}) does not match the expected API version (${group}/${version})`,
    );
  }
  const known = givenVersion === (group === '' ? version : `${group}/${version}`);
  const why = known
    ? `converting (${version}.${givenKind}) to (${group === '' ? 'core' : group.split('.')[0]}.${kind}): unknown conversion`
    : `no kind ${JSON.stringify(givenKind)} is registered for version ${JSON.stringify(givenVersion)} in scheme "pkg/runtime/scheme.go:111"`;
  return badRequest(`${givenKind} in version ${JSON.stringify(shortVersion)} cannot be handled as a ${kind}: ${why}`);
}

/** Brings a draft into form, in place; returns unknown fields. */
export function normalise(definition: ResourceDefinition, draft: JsonObject): string[] {
  if (definition.schema !== undefined) return decode(definition.kind, definition.version, definition.schema, draft);
  const unknown = isObject(draft['metadata'])
    ? decode(definition.kind, definition.version, 'apimachinery.pkg.apis.meta.v1.ObjectMeta', draft['metadata']).map(
        (field) => `metadata.${field}`,
      )
    : [];
  if (definition.custom === undefined) return unknown;
  unknown.push(...definition.custom.prune(draft));
  definition.custom.applyDefaults(draft);
  return unknown;
}

function report(definition: ResourceDefinition, unknown: string[], call: WriteCall): void {
  if (unknown.length === 0 || call.fieldValidation === 'Ignore') return;
  const messages = unknown.map((field) => `unknown field ${JSON.stringify(field)}`);
  if (call.fieldValidation === 'Strict') {
    throw cannotHandle(definition.kind, definition.version, `strict decoding error: ${messages.join(', ')}`);
  }
  for (const message of messages) call.warn?.(message);
}
