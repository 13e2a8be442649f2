// Writes snapshots down as changes, and makes them again from the changes. Objects of a snapshot are never changed in place,
// so one that is the same object as before is the same content.
import type { Sliced } from '../../base/index.ts';
import type { InstanceTypeSpec, Snapshot, SnapshotObject } from '../../core/index.ts';
import {
  type LookLine,
  type ObjectsLine,
  type OfferedTypes,
  objectKey,
  type PassLine,
  type RecordingLine,
  type WholeParts,
  wholeParts,
} from './recording-lines.ts';

type PassParts = Pick<PassLine, 'order' | 'offered'> & WholeParts;

/** So many objects per line: a line is what is read at once. */
const objectsPerLine = 500;

export class SnapshotChanges {
  private objects = new Map<string, SnapshotObject>();
  private readonly numbers = new Map<InstanceTypeSpec, number>();
  private readonly texts = new Map<string, string>();

  /** Hands the changes to `write`; the result belongs into the line of the pass. */
  *next(snapshot: Snapshot, write: (line: RecordingLine) => void): Sliced<PassParts> {
    const order = yield* this.writeObjects(snapshot.objects.items, write);
    const offered = this.changed('offered', yield* this.writeTypes(snapshot, write));
    const whole: Record<string, unknown> = {};
    for (const part of wholeParts) Object.assign(whole, this.changed(part, snapshot[part]));
    return { ...(order !== undefined && { order }), ...offered, ...(whole as WholeParts) };
  }

  private *writeObjects(
    items: readonly SnapshotObject[],
    write: (line: RecordingLine) => void,
  ): Sliced<number[] | undefined> {
    const now = new Map<string, SnapshotObject>();
    let set: SnapshotObject[] = [];
    const flush = (gone?: ObjectsLine['gone']): void => {
      if (set.length > 0 || gone !== undefined) write({ kind: 'Objects', set, ...(gone !== undefined && { gone }) });
      set = [];
    };
    // Where each object is once its changes are made: those that were there first, then the new ones as they come.
    const positions = new Map<string, number>();
    const before = this.objects;
    for (const item of items) now.set(objectKey(item), item);
    yield;
    const gone: string[] = [];
    for (const key of before.keys()) {
      if (now.has(key)) positions.set(key, positions.size);
      else gone.push(key);
      yield;
    }
    if (gone.length > 0) flush(gone);
    const order: number[] = [];
    let isInOrder = true;
    for (const [key, item] of now) {
      if (before.get(key) !== item) set.push(withoutFieldOwners(item));
      if (set.length === objectsPerLine) flush();
      let position = positions.get(key);
      if (position === undefined) positions.set(key, (position = positions.size));
      isInOrder &&= position === order.length;
      order.push(position);
      yield;
    }
    flush();
    this.objects = now;
    return isInOrder ? undefined : order;
  }

  private *writeTypes(
    { instanceTypes }: Snapshot,
    write: (line: RecordingLine) => void,
  ): Sliced<OfferedTypes | undefined> {
    if (instanceTypes === undefined) return undefined;
    const added: InstanceTypeSpec[] = [];
    const numberOf = (type: InstanceTypeSpec): number => {
      let number = this.numbers.get(type);
      if (number === undefined) {
        this.numbers.set(type, (number = this.numbers.size));
        added.push(type);
      }
      return number;
    };
    const offered: OfferedTypes = [];
    for (const { items, ...pool } of instanceTypes) {
      offered.push({ ...pool, ...(items !== undefined && { items: items.map(numberOf) }) });
      yield;
    }
    if (added.length > 0) write({ kind: 'InstanceTypes', items: added });
    return offered;
  }

  private changed(part: string, value: unknown): Record<string, unknown> {
    const text = JSON.stringify(value ?? null);
    if (this.texts.get(part) === text) return {};
    this.texts.set(part, text);
    return { [part]: value ?? null };
  }
}

/** Who wrote which field decides nothing, and is the longest part of many objects. */
function withoutFieldOwners(object: SnapshotObject): SnapshotObject {
  const { managedFields, annotations, ...metadata } = object.metadata as SnapshotObject['metadata'] & {
    annotations?: Record<string, string>;
  };
  const { [lastApplied]: copy, ...kept } = annotations ?? {};
  if (managedFields === undefined && copy === undefined) return object;
  return { ...object, metadata: { ...metadata, ...(annotations !== undefined && { annotations: kept }) } };
}

/** Written by `kubectl apply`: a second copy of the whole object, environment included. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

export class SnapshotsAgain {
  private objects = new Map<string, SnapshotObject>();
  private readonly types: InstanceTypeSpec[] = [];
  private offered: OfferedTypes | undefined;
  private parts: Record<string, unknown> = {};

  take(line: RecordingLine): void {
    if (line.kind === 'Objects') {
      for (const key of line.gone ?? []) this.objects.delete(key);
      for (const object of line.set ?? []) this.objects.set(objectKey(object), object);
    } else if (line.kind === 'InstanceTypes') this.types.push(...line.items);
  }

  /** What a pass or a look saw; its objects are in the order they had. Each must be asked for, in the order of the lines. */
  snapshotOf(pass: PassLine | LookLine): Snapshot {
    if (pass.offered !== undefined) this.offered = pass.offered ?? undefined;
    for (const part of wholeParts) {
      if (pass[part] === null) delete this.parts[part];
      else if (pass[part] !== undefined) this.parts[part] = pass[part];
    }
    if (pass.order !== undefined) {
      const entries = [...this.objects];
      this.objects = new Map(pass.order.map((position) => entries[position] as [string, SnapshotObject]));
    }
    const instanceTypes = this.offered?.map(({ items, ...pool }) => ({
      ...pool,
      ...(items !== undefined && { items: items.map((number) => this.types[number] as InstanceTypeSpec) }),
    }));
    return {
      apiVersion: 'kerf/v1',
      kind: 'Snapshot',
      time: pass.time,
      ...this.parts,
      objects: { apiVersion: 'v1', kind: 'List', items: [...this.objects.values()] },
      ...(instanceTypes !== undefined && { instanceTypes }),
    };
  }
}
