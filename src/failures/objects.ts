// The Kubernetes objects that were collected. A kind without any file was not collected, which is different from a kind of
// which there are none: only the second proves absence.
import type { ObjectRef } from './failure.ts';
import { at, isPlain, listAt, mapAt, type Plain, textAt } from './fields.ts';

/** One object and where it was read. */
export interface Stored {
  object: Plain;
  readonly source: string;
  kind: string;
  name: string;
  namespace: string;
}

export class Objects {
  private readonly byKind = new Map<string, Stored[]>();
  private readonly byName = new Map<string, Stored>();

  /** Notes that a kind was asked for, even if nothing of it came. */
  markCollected(kind: string): void {
    if (!this.byKind.has(kind)) this.byKind.set(kind, []);
  }

  /** An object as `kubectl get -o json` prints it; what has no kind or name is left out. */
  add(object: unknown, source: string | (() => string)): Stored | undefined {
    if (!isPlain(object)) return undefined;
    const kind = textAt(object, 'kind');
    const name = textAt(object, 'metadata', 'name');
    if (kind === '' || name === '') return undefined;
    const stored: Stored = {
      object,
      kind,
      name,
      namespace: textAt(object, 'metadata', 'namespace'),
      // Finding the line of an object costs, and few objects are shown.
      get source() {
        return typeof source === 'string' ? source : source();
      },
    };
    this.markCollected(kind);
    const key = keyOf(kind, name, stored.namespace);
    // The same object in two files: the one read first stays, so that nothing counts twice.
    if (kind !== 'Event' && this.byName.has(key)) return undefined;
    this.byName.set(key, stored);
    this.byKind.get(kind)?.push(stored);
    return stored;
  }

  isCollected(kind: string): boolean {
    return this.byKind.has(kind);
  }

  of(kind: string): readonly Stored[] {
    return this.byKind.get(kind) ?? [];
  }

  find(kind: string, name: string, namespace = ''): Stored | undefined {
    return this.byName.get(keyOf(kind, name, namespace));
  }

  kinds(): string[] {
    return [...this.byKind.keys()];
  }
}

const keyOf = (kind: string, name: string, namespace: string): string => `${kind}/${namespace}/${name}`;

export function refOf({ kind, name, namespace }: Stored): ObjectRef {
  return namespace === '' ? { kind, name } : { kind, name, namespace };
}

export interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  since: string;
}

export function conditionsOf(object: Plain): Condition[] {
  return listAt(object, 'status', 'conditions').map((one) => ({
    type: textAt(one, 'type'),
    status: textAt(one, 'status'),
    reason: textAt(one, 'reason'),
    message: textAt(one, 'message'),
    since: textAt(one, 'lastTransitionTime'),
  }));
}

export function conditionOf(object: Plain, type: string): Condition | undefined {
  return conditionsOf(object).find((condition) => condition.type === type);
}

/** `Ready=False AMINotFound: AMISelector did not match any AMIs`, as evidence. */
export function conditionText({ type, status, reason, message }: Condition): string {
  return `${type}=${status}${reason === '' ? '' : ` ${reason}`}${message === '' ? '' : `: ${message}`}`;
}

export const labelsOf = (object: Plain): Plain => mapAt(object, 'metadata', 'labels');
export const annotationsOf = (object: Plain): Plain => mapAt(object, 'metadata', 'annotations');
export const isDeleting = (object: Plain): boolean => at(object, 'metadata', 'deletionTimestamp') !== undefined;
