// A name for a snapshot: equal for equal content, whatever the order of its objects. An object of an API server is named by
// its version there, which stands for its content, and each version is hashed once; everything else by its own content.
import { createHash } from 'node:crypto';
import { type Clock, inSlices, type Sliced } from '../base/index.ts';
import type { Snapshot, SnapshotObject } from '../core/index.ts';

/** Added up as two halves, so that order does not matter and no number gets too large to be exact. */
type Sum = [number, number];

const known = new WeakMap<object, Sum>();

export function snapshotId(clock: Clock, snapshot: Snapshot): Promise<string> {
  return inSlices(clock, snapshotIdInSlices(snapshot));
}

export function* snapshotIdInSlices(snapshot: Snapshot): Sliced<string> {
  const { objects, instanceTypes = [], nodeState = [], ...rest } = snapshot;
  const total: Sum = [0, 0];
  const add = ([high, low]: Sum): void => {
    total[0] = (total[0] + high) % 0x1_0000_00;
    total[1] = (total[1] + low) % 0x1_0000_00;
  };
  for (const object of objects.items) {
    add(remembered(object, versionOf));
    yield;
  }
  for (const entry of nodeState) {
    add(hashed(JSON.stringify(entry)));
    yield;
  }
  for (const { nodePool, error = '', items = [] } of instanceTypes) {
    add(hashed(`${nodePool}\n${error}`));
    for (const type of items) add(remembered(type, (value) => `${nodePool}\n${JSON.stringify(value)}`));
    yield;
  }
  add(hashed(JSON.stringify(rest)));
  return `s-${total.map((half) => half.toString(16).padStart(6, '0')).join('')}`;
}

function versionOf(object: SnapshotObject): string {
  const { name, namespace = '', uid = '', resourceVersion } = object.metadata;
  // Without a version it came from a file.
  if (typeof resourceVersion !== 'string') return JSON.stringify(object);
  return [object.kind, namespace, name, uid, resourceVersion].join('\n');
}

function remembered<T extends object>(value: T, textOf: (value: T) => string): Sum {
  let sum = known.get(value);
  if (sum === undefined) known.set(value, (sum = hashed(textOf(value))));
  return sum;
}

function hashed(text: string): Sum {
  const bytes = createHash('sha256').update(text).digest();
  return [bytes.readUIntBE(0, 3), bytes.readUIntBE(3, 3)];
}
