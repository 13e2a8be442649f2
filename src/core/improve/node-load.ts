// One node while it is filled: which kinds of pods it has how many of, the room that is left, and what the rules about hosts
// still allow. Everything can be taken back, because fillings are tried.

import type { HostRules, Kind } from './pile.ts';

export class NodeLoad {
  /** What one pod of each kind takes, kind by kind. */
  readonly needs: Float64Array;
  readonly columns: number;
  readonly hasHostRules: boolean;
  /** By column. */
  readonly rest: Float64Array;
  /** How many of each kind there are. */
  readonly takes: Int32Array;
  private readonly hosts: readonly (HostRules | undefined)[];
  /** The kinds there are some of, in no order. */
  private readonly there: Int32Array;
  private kindsThere = 0;
  /** By rule: pods counted on the host, and the most that those there allow. */
  private readonly counted: Int32Array;
  private readonly most: Float64Array;

  constructor(kinds: readonly Kind[], columns: number) {
    this.columns = columns;
    this.needs = new Float64Array(kinds.length * columns);
    kinds.forEach(({ need }, kind) => this.needs.set(need, kind * columns));
    this.hosts = kinds.map(({ host }) => host);
    this.hasHostRules = kinds.some(({ host }) => host !== undefined);
    this.rest = new Float64Array(columns);
    this.takes = new Int32Array(kinds.length);
    this.there = new Int32Array(kinds.length);
    let rules = 0;
    for (const host of this.hosts) {
      for (const { rule } of host?.owns ?? []) rules = Math.max(rules, rule + 1);
      for (const rule of host?.countedIn ?? []) rules = Math.max(rules, rule + 1);
    }
    this.counted = new Int32Array(rules);
    this.most = new Float64Array(rules).fill(Number.POSITIVE_INFINITY);
  }

  /** Pods that are there. */
  get pods(): number {
    let sum = 0;
    for (let at = 0; at < this.kindsThere; at++) sum += this.takes[this.there[at] as number] as number;
    return sum;
  }

  /** The kinds that are there, as a view that changes with the load. */
  get present(): Int32Array {
    return this.there.subarray(0, this.kindsThere);
  }

  clear(): void {
    while (this.kindsThere > 0) {
      const kind = this.there[0] as number;
      this.put(kind, -(this.takes[kind] as number));
    }
  }

  /** How many more of a kind fit, of so many that are left. */
  howMany(kind: number, left: number): number {
    const { columns, needs, rest } = this;
    let most = left - (this.takes[kind] as number);
    const start = kind * columns;
    for (let column = 0; column < columns; column++) {
      const need = needs[start + column] as number;
      if (need > 0) most = Math.min(most, Math.floor((rest[column] as number) / need));
    }
    const host = this.hosts[kind];
    return host === undefined || most <= 0 ? most : Math.min(most, this.howManyOnHost(host));
  }

  hasRoomFor(kind: number): boolean {
    const { columns, needs, rest } = this;
    for (let column = 0, at = kind * columns; column < columns; column++, at++) {
      if ((needs[at] as number) > (rest[column] as number)) return false;
    }
    return true;
  }

  private howManyOnHost({ owns, countedIn }: HostRules): number {
    let most = Number.POSITIVE_INFINITY;
    for (const rule of countedIn) {
      const bound = this.most[rule] as number;
      if (bound !== Number.POSITIVE_INFINITY) most = Math.min(most, bound - (this.counted[rule] as number));
    }
    for (const { rule, most: bound } of owns) {
      const free = bound - (this.counted[rule] as number);
      if (countedIn.includes(rule)) most = Math.min(most, free);
      else if (free < 0) most = 0;
    }
    return Math.max(0, most);
  }

  /** Changes how many of a kind are there, in the room and in the host's counts. */
  put(kind: number, count: number): void {
    const before = this.takes[kind] as number;
    this.takes[kind] = before + count;
    if (before === 0) this.there[this.kindsThere++] = kind;
    else if (before + count === 0) {
      this.kindsThere -= 1;
      this.there[this.there.indexOf(kind)] = this.there[this.kindsThere] as number;
    }
    this.change(kind, -count);
    const host = this.hosts[kind];
    if (host === undefined) return;
    for (const rule of host.countedIn) this.counted[rule] = (this.counted[rule] as number) + count;
    for (const { rule } of host.owns) this.most[rule] = this.boundOf(rule);
  }

  /** The least any kind that is on the host allows. */
  private boundOf(rule: number): number {
    let most = Number.POSITIVE_INFINITY;
    for (let at = 0; at < this.kindsThere; at++) {
      for (const own of this.hosts[this.there[at] as number]?.owns ?? [])
        if (own.rule === rule) most = Math.min(most, own.most);
    }
    return most;
  }

  /** Gives back the room of so many, or takes it. */
  change(kind: number, count: number): void {
    const { columns, needs, rest } = this;
    const start = kind * columns;
    for (let column = 0; column < columns; column++) {
      rest[column] = (rest[column] as number) + count * (needs[start + column] as number);
    }
  }

  /** Pods come onto the host, last in and first out; what the bounds were before, for taking them off again. */
  board(kind: number, count: number): readonly number[] | undefined {
    const host = this.hosts[kind];
    if (host === undefined) return undefined;
    for (const rule of host.countedIn) this.counted[rule] = (this.counted[rule] as number) + count;
    return host.owns.map(({ rule, most }) => {
      const before = this.most[rule] as number;
      this.most[rule] = Math.min(before, most);
      return before;
    });
  }

  leave(kind: number, count: number, before: readonly number[]): void {
    const { owns, countedIn } = this.hosts[kind] as HostRules;
    for (const rule of countedIn) this.counted[rule] = (this.counted[rule] as number) - count;
    owns.forEach(({ rule }, at) => {
      this.most[rule] = before[at] as number;
    });
  }
}
