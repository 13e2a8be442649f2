// A class while its steps work on it: each adds to the status and sets its condition; written once, at the end.
import {
  type ConditionChange,
  type ConditionSet,
  clearCondition,
  type EC2NodeClass,
  initConditions,
  setCondition,
} from '../../api/index.ts';

export type NodeClassStatus = NonNullable<EC2NodeClass['status']>;

export class Draft {
  /** The class as it will be written. */
  nodeClass: EC2NodeClass;
  private readonly conditions: ConditionSet;
  private readonly nowMs: number;

  constructor(nodeClass: EC2NodeClass, conditions: ConditionSet, nowMs: number) {
    this.conditions = conditions;
    this.nowMs = nowMs;
    this.nodeClass = nodeClass;
    this.keep(initConditions(conditions, nodeClass.status?.conditions, this.context()));
  }

  get status(): NodeClassStatus {
    return this.nodeClass.status ?? {};
  }

  /** Undefined takes a field away. */
  update(fields: { [K in keyof NodeClassStatus]?: NodeClassStatus[K] | undefined }): void {
    const status = { ...this.status, ...fields };
    for (const [key, value] of Object.entries(fields)) {
      if (value === undefined) delete status[key as keyof NodeClassStatus];
    }
    this.nodeClass = { ...this.nodeClass, status: status as NodeClassStatus };
  }

  set(change: ConditionChange): void {
    this.keep(setCondition(this.conditions, this.status.conditions, change, this.context()));
  }

  /** Takes a condition away that is not one of those a class always has. */
  clear(type: string): void {
    this.keep(clearCondition(this.conditions, this.status.conditions, type, this.context()));
  }

  private keep(conditions: ReturnType<typeof setCondition>): void {
    if (conditions !== this.nodeClass.status?.conditions)
      this.update({ conditions: [...conditions] } as NodeClassStatus);
  }

  private context() {
    const { generation = 0, creationTimestamp = '' } = this.nodeClass.metadata;
    return { generation, creationTimestamp, nowMs: this.nowMs };
  }
}

/** One concern of a class. Returns when it wants to be looked at again. */
export type Step = (draft: Draft) => Promise<number | undefined>;

export const minuteMs = 60_000;
