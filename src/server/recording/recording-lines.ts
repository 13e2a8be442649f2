// The lines of a recording (`kerf/v1 Recording`): what decisions looked at, as changes since the pass before, what came out,
// and the records of the decisions. Every part of a recording begins with everything, so each can be read on its own.
import type { InstanceTypeSpec, Snapshot, SnapshotObject } from '../../core/index.ts';
import type { Decision } from '../../ports/index.ts';

export interface HeaderLine {
  apiVersion: 'kerf/v1';
  kind: 'Recording';
  time: string;
  /** Of the program that wrote it: another one may decide otherwise. */
  version: string;
}

export interface ObjectsLine {
  kind: 'Objects';
  set?: readonly SnapshotObject[];
  /** `Kind/namespace/name`. */
  gone?: readonly string[];
}

/** Instance types, numbered as they come. */
export interface TypesLine {
  kind: 'InstanceTypes';
  items: readonly InstanceTypeSpec[];
}

/** Which types each pool is offered, by number. */
export type OfferedTypes = { nodePool: string; error?: string; items?: number[] }[];

/** Parts of a snapshot that are written whole, when they are not what they were; null says that the part is absent. */
export const wholeParts = ['settings', 'provider', 'nodeState', 'poolState', 'failedOfferings'] as const;
export type WholeParts = { [part in (typeof wholeParts)[number]]?: Snapshot[part] | null };

/** What was asked: a plan for pods that wait, or what becomes of the pods if these nodes go. */
export type Question = { what: 'plan' } | { what: 'move'; reason: string; nodeClaims: readonly string[] };

export interface PassLine extends WholeParts {
  kind: 'Pass';
  time: string;
  /** The snapshot's name, as decisions have it. */
  snapshot: string;
  question: Question;
  offered?: OfferedTypes | null;
  /** Positions, where the objects come in another order than they were written. */
  order?: readonly number[];
  result: unknown;
}

/** The cluster between passes, for the eye: what changed since the line before, and nothing that was decided. */
export interface LookLine extends WholeParts {
  kind: 'Look';
  time: string;
  offered?: OfferedTypes | null;
  order?: readonly number[];
}

/** Passes that are not in the recording because it could not keep up. */
export interface MissedLine {
  kind: 'Missed';
  passes: number;
}

export type RecordingLine = HeaderLine | ObjectsLine | TypesLine | PassLine | LookLine | MissedLine | Decision;

export const objectKey = ({ kind, metadata }: SnapshotObject): string =>
  `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
