// A node under construction: the template it comes from, what its labels are narrowed to, which rows (instance types, or
// variants of them) are still in question, and what its pods use. It only fills up and narrows; nothing is ever given
// back, so a row that was too small stays too small.

import type { Bitset } from '../../base/index.ts';
import type { HostPort } from '../pods/host-ports.ts';
import type { InstanceType } from '../pools/instance-types.ts';
import type { Template } from '../pools/templates.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import { type Attachments, noAttachments } from '../volumes/pod-volumes.ts';
import type { Need } from '../workload.ts';
import type { World } from '../world.ts';
import { noneHeld } from './reservations.ts';

export interface NewNode {
  readonly index: number;
  readonly template: Template;
  set: RequirementSet;
  /** Rows not ruled out by limits or daemons' ports; labels, offerings and room are judged on demand. */
  rows: Bitset;
  readonly used: Float64Array;
  /** Resource columns with something in `used`. */
  readonly usedColumns: number[];
  /** A row known to hold what is used now. */
  witness: number;
  ports: readonly HostPort[];
  /** Volumes per CSI driver. */
  attached: Attachments;
  held: ReadonlySet<string>;
  minValuesRelaxed: boolean;
  /** Whose devices its pods get. */
  drivers: ReadonlySet<string>;
  /** Positions in the workload, in order of arrival. */
  readonly pods: number[];
}

/** An empty node that could be any of the rows. */
export function freshNode(world: World, template: Template, rows: Bitset, index: number): NewNode {
  return {
    index,
    template,
    set: template.set,
    rows,
    used: new Float64Array(world.resources.names.length),
    usedColumns: [],
    witness: -1,
    ports: [],
    attached: noAttachments,
    held: noneHeld,
    minValuesRelaxed: false,
    drivers: noneHeld,
    pods: [],
  };
}

/** A row among `rows` and `allowed` with room for what is used and the need on top; -1 if there is none. */
export function rowWithRoom(newNode: NewNode, rows: Bitset, allowed: Bitset, need: Need): number {
  const { witness } = newNode;
  if (witness >= 0) {
    const bit = 1 << (witness & 31);
    const word = witness >>> 5;
    if (((allowed[word] as number) & (rows[word] as number) & bit) !== 0 && needFits(newNode, need, witness)) {
      return witness;
    }
  }
  for (let word = 0; word < rows.length; word++) {
    let rest = (rows[word] as number) & (allowed[word] as number);
    while (rest !== 0) {
      const row = (word << 5) + 31 - Math.clz32(rest & -rest);
      if (needFits(newNode, need, row) && usedFits(newNode, row)) return row;
      rest &= rest - 1;
    }
  }
  return -1;
}

/** All rows among `rows` and `allowed` with room for what is used and the need on top. */
export function rowsWithRoom(newNode: NewNode, rows: Bitset, allowed: Bitset, need: Need | undefined): Bitset {
  const result = new Uint32Array(rows.length);
  for (let word = 0; word < rows.length; word++) {
    let rest = (rows[word] as number) & (allowed[word] as number);
    let kept = 0;
    while (rest !== 0) {
      const lowest = rest & -rest;
      const row = (word << 5) + 31 - Math.clz32(lowest);
      if ((need === undefined || needFits(newNode, need, row)) && usedFits(newNode, row)) kept |= lowest;
      rest &= rest - 1;
    }
    result[word] = kept;
  }
  return result;
}

function needFits(newNode: NewNode, need: Need, row: number): boolean {
  const { room } = newNode.template;
  const { columns, amounts } = need;
  const { used } = newNode;
  for (let at = 0; at < columns.length; at++) {
    const column = columns[at] as number;
    if ((used[column] as number) + (amounts[at] as number) > ((room[column] as Float64Array)[row] as number))
      return false;
  }
  return true;
}

/** Whether the row holds what the node has to hold already. */
export function usedFits(newNode: NewNode, row: number): boolean {
  const { room } = newNode.template;
  for (const column of newNode.usedColumns) {
    if ((newNode.used[column] as number) > ((room[column] as Float64Array)[row] as number)) return false;
  }
  return true;
}

export function addNeed(newNode: NewNode, need: Need): void {
  const { columns, amounts } = need;
  for (let at = 0; at < columns.length; at++) {
    const column = columns[at] as number;
    if (newNode.used[column] === 0) newNode.usedColumns.push(column);
    newNode.used[column] = (newNode.used[column] as number) + (amounts[at] as number);
  }
}

/** The distinct types of a set of rows, in template order. */
export function typesOfRows(template: Template, rows: Bitset): InstanceType[] {
  const types: InstanceType[] = [];
  let last = -1;
  for (let word = 0; word < rows.length; word++) {
    let rest = rows[word] as number;
    while (rest !== 0) {
      const row = (word << 5) + 31 - Math.clz32(rest & -rest);
      const type = template.rows.typeOf[row] as number;
      if (type !== last) {
        last = type;
        types.push(template.rows.types[type] as InstanceType);
      }
      rest &= rest - 1;
    }
  }
  return types;
}
