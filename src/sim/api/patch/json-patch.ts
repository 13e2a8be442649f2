// RFC 6902, with the API server's answers to operations that do not work.
import { applyPatch, type Operation } from 'rfc6902';
import { type JsonObject, thaw } from '../../json.ts';
import { badRequest, StatusError } from '../status.ts';

/** More operations than this are refused, as there. */
const operationLimit = 10_000;

export function jsonPatch(original: JsonObject, operations: unknown): JsonObject {
  if (!Array.isArray(operations)) {
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
  }
  if (operations.length > operationLimit) {
    throw new StatusError(
      413,
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${operationLimit}, got ${operations.length}`,
    );
  }
  const copy = thaw(original);
  for (const operation of operations as (Operation & { path?: unknown })[]) {
    if (typeof operation?.path !== 'string' || typeof operation.op !== 'string') {
      throw badRequest('error decoding patch: an operation needs "op" and "path"');
    }
    const [problem] = applyPatch(copy, [operation]);
    if (problem !== null && problem !== undefined) throw unprocessable();
  }
  return copy;
}

/** The real server says no more than this either. */
const unprocessable = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
