// Whether a body is an answer to what was asked. A proxy, a load balancer or a broken aggregation layer may say 200 to
// anything, with `{}`, `[]` or a page about itself; taken for a list, that is an empty cluster, and machines are terminated
// for having no owner. So an answer counts only if it says that it is one: its kind, its version, names in its objects.
import { KubeError, type KubeObject, type ObjectRef } from '../ports/index.ts';

interface RawList {
  kind?: unknown;
  metadata?: { resourceVersion?: unknown; continue?: unknown; remainingItemCount?: unknown };
  items?: unknown;
}

export interface CheckedList {
  items: KubeObject[];
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

/** The parts of a list of exactly this kind; anything else is not an answer. */
export function checkedList(answer: unknown, kind: string, call: string): CheckedList {
  const { kind: said, metadata, items = null } = (isRecord(answer) ? answer : {}) as RawList;
  const wanted = `a ${kind}List`;
  const version =
    (isRecord(metadata) ? metadata.resourceVersion : undefined) ?? (isMeasured(kind) ? measured : undefined);
  if (said !== `${kind}List` || typeof version !== 'string' || version === '') throw notAnAnswer(answer, wanted, call);
  // Go writes an empty list as null.
  if (items !== null && !Array.isArray(items)) throw notAnAnswer(answer, wanted, call);
  const list: unknown[] = items ?? [];
  for (const item of list) if (!isNamed(item, kind)) throw notAnAnswer(item, wanted, call);
  const { continue: next, remainingItemCount } = metadata ?? {};
  // A last page that leaves objects out is a list that was cut on the way.
  if (typeof remainingItemCount === 'number' && remainingItemCount > 0 && !next)
    throw notAnAnswer(answer, wanted, call);
  return {
    items: list as KubeObject[],
    resourceVersion: version,
    ...(typeof next === 'string' && next !== '' ? { continue: next } : {}),
    ...(typeof remainingItemCount === 'number' ? { remainingItemCount } : {}),
  };
}

/** Measurements (NodeMetrics, PodMetrics) are not stored and have no version; nothing is decided by them. */
const isMeasured = (kind: string): boolean => kind.endsWith('Metrics');
const measured = '0';

/** One object of this kind, as reads and writes return it; the one at `ref`, where one was asked for. */
export function checkedObject(answer: unknown, kind: string, call: string, ref?: ObjectRef): KubeObject {
  if (!isRecord(answer) || answer['kind'] !== kind || !(isReview(answer, kind) || isNamed(answer, kind)))
    throw notAnAnswer(answer, `a ${kind}`, call);
  const object = answer as unknown as KubeObject;
  // What is between us may swap answers of one connection.
  if (ref !== undefined && (object.metadata.name !== ref.name || object.metadata.namespace !== ref.namespace))
    throw notAnAnswer(answer, `the ${kind} that was asked for`, call);
  return object;
}

/** The answer to a question (SubjectAccessReview and the like) is not stored and has no name, but a status. */
function isReview(object: Record<string, unknown>, kind: string): boolean {
  return kind.endsWith('Review') && isRecord(object['status']);
}

/** An object with a name; inside lists of built-in kinds objects do not repeat their kind. */
export function isNamed(object: unknown, kind: string): object is KubeObject {
  if (!isRecord(object) || !isRecord(object['metadata'])) return false;
  const { name } = object['metadata'];
  return typeof name === 'string' && name !== '' && (object['kind'] === undefined || object['kind'] === kind);
}

/** As if no answer had come: the call may be tried again, and nothing is concluded from it. */
export function notAnAnswer(body: unknown, wanted: string, call: string): KubeError {
  const text = (JSON.stringify(body) ?? 'nothing').slice(0, 200);
  return new KubeError({
    status: 0,
    reason: 'Transport',
    message: `cannot ${call}: the answer is not ${wanted} but ${text}; check what is between us and the API server`,
    call,
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
