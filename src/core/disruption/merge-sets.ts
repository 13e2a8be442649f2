// Which nodes might become one: for each size of new node the set whose pods it could hold and whose nodes together cost
// the most. Plain arithmetic on sums of requests and prices, so that only promising sets are asked about in earnest.

import type { Sliced } from '../../base/index.ts';
import type { Template } from '../pools/templates.ts';
import type { Member } from './fleet.ts';
import type { LaunchPrices } from './launch-prices.ts';
import type { WhatIf } from './what-if.ts';

interface Load {
  readonly member: Member;
  /** What its movable pods ask for, by resource column. */
  readonly amounts: Float64Array;
  readonly pods: number;
}

/** A new node that is available, and nothing as cheap is larger. */
export interface Target {
  readonly poolName: string;
  readonly instanceType: string;
  readonly room: Float64Array;
  readonly price: number;
}

export interface MergeSet {
  readonly members: readonly Member[];
  /** By the sums: what goes less what comes. */
  readonly savings: number;
  readonly pods: number;
}

/** Up to so many loads, exchanging one for others is tried too; beyond, the first choice has to do. */
const mostExchanged = 64;

/**
 * Sets of at least two, of each pool and of each of its zones: pods of different pools, or bound to different zones,
 * would need more than one new node.
 */
export function* mergeSets(
  whatIf: WhatIf,
  prices: LaunchPrices,
  members: readonly Member[],
  mostMembers: number,
): Generator<MergeSet | undefined> {
  const loads: Load[] = [];
  for (const member of members) {
    loads.push({ member, amounts: whatIf.loadOf(member), pods: whatIf.podCount(member) });
    yield undefined;
  }
  const targets = whatIf.fleet.movable.world.templates.flatMap((template) => targetsOf(template, prices));
  for (const [poolName, own] of groupsOf(loads)) {
    for (const target of targets) {
      if (target.poolName !== poolName) continue;
      const set = yield* new Filling(target, own, mostMembers).set();
      yield set.members.length >= 2 && set.savings > 0 ? set : undefined;
    }
  }
}

function groupsOf(loads: readonly Load[]): [string, Load[]][] {
  const groups = new Map<string, [string, Load[]]>();
  for (const load of loads) {
    const { poolName = '', zone = '' } = load.member;
    for (const key of [`${poolName}/`, `${poolName}/${zone}`]) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [poolName, [load]]);
      else group[1].push(load);
    }
  }
  return [...groups.values()].filter(([, own]) => own.length >= 2);
}

export function targetsOf(template: Template, prices: LaunchPrices): Target[] {
  const launch = prices.of(template, template.set);
  const targets: Target[] = [];
  template.rows.typeOf.forEach((type, row) => {
    const instanceType = template.rows.types[type]?.name ?? '';
    const price = launch.get(instanceType)?.worst;
    if (price === undefined) return;
    const room = Float64Array.from(template.room, (amounts) => amounts[row] as number);
    targets.push({ poolName: template.poolName, instanceType, room, price });
  });
  targets.sort((left, right) => left.price - right.price || (left.instanceType < right.instanceType ? -1 : 1));
  const kept: Target[] = [];
  for (const target of targets) {
    const isCovered = kept.some(({ room }) =>
      room.every((amount, column) => amount >= (target.room[column] as number)),
    );
    if (!isCovered) kept.push(target);
  }
  return kept;
}

/** A target being filled: first with what brings most for the room it takes, then by exchanging. */
class Filling {
  private readonly target: Target;
  private readonly mostMembers: number;
  private readonly left: Float64Array;
  private readonly loads: readonly Load[];
  /** By load: 1 if it is in. */
  private readonly isIn: Uint8Array;
  private count = 0;

  constructor(target: Target, loads: readonly Load[], mostMembers: number) {
    this.target = target;
    this.mostMembers = mostMembers;
    this.left = target.room.slice();
    // A node of the target's own type would have to stay: several never become one of themselves.
    this.loads = loads.filter((load) => load.member.instanceType !== target.instanceType && this.worth(load) > 0);
    this.isIn = new Uint8Array(this.loads.length);
  }

  /** Yields after every node that was put in. */
  *set(): Sliced<MergeSet> {
    yield* this.fill();
    if (this.loads.length <= mostExchanged) while (this.exchange()) yield;
    const chosen = this.loads.filter((_, at) => this.isIn[at] === 1);
    const savings = chosen.reduce((sum, load) => sum + load.member.price, -this.target.price);
    const pods = chosen.reduce((sum, load) => sum + load.pods, 0);
    return { members: chosen.map((load) => load.member), savings, pods };
  }

  private *fill(): Sliced<void> {
    while (this.count < this.mostMembers) {
      let best = -1;
      let bestRate = 0;
      for (let at = 0; at < this.loads.length; at++) {
        if (this.isIn[at] === 1) continue;
        const load = this.loads[at] as Load;
        const rate = this.fits(load) ? this.worth(load) / this.share(load) : 0;
        if (rate > bestRate) [best, bestRate] = [at, rate];
      }
      if (best < 0) return;
      this.put(best, 1);
      yield;
    }
  }

  /** One goes, one or two come, and together they are worth more; false if there is no such exchange. */
  private exchange(): boolean {
    for (let out = 0; out < this.loads.length; out++) {
      if (this.isIn[out] === 0) continue;
      this.put(out, 0);
      const come = this.betterThan(out);
      for (const at of come) this.put(at, 1);
      if (come.length > 0) return true;
      this.put(out, 1);
    }
    return false;
  }

  private betterThan(out: number): number[] {
    let best: number[] = [];
    let bestWorth = this.worthAt(out) + 1e-9;
    for (let at = 0; at < this.loads.length; at++) {
      if (at === out || this.isIn[at] === 1 || !this.fits(this.loads[at] as Load)) continue;
      this.put(at, 1);
      const second = this.bestBeside(out);
      this.put(at, 0);
      const worth = this.worthAt(at) + (second < 0 ? 0 : this.worthAt(second));
      if (worth > bestWorth) [best, bestWorth] = [second < 0 ? [at] : [at, second], worth];
    }
    return best;
  }

  /** The one worth most that still fits; -1 if none does. */
  private bestBeside(out: number): number {
    let best = -1;
    let bestWorth = 0;
    for (let at = 0; at < this.loads.length; at++) {
      if (at === out || this.isIn[at] === 1 || this.worthAt(at) <= bestWorth) continue;
      if (this.fits(this.loads[at] as Load)) [best, bestWorth] = [at, this.worthAt(at)];
    }
    return best;
  }

  private worthAt(at: number): number {
    return this.worth(this.loads[at] as Load);
  }

  private worth({ member }: Load): number {
    return member.price;
  }

  private fits({ amounts }: Load): boolean {
    for (let column = 0; column < amounts.length; column++) {
      if ((amounts[column] as number) > (this.left[column] ?? 0)) return false;
    }
    return true;
  }

  /** Of what is left, over all resources: scarce ones count more. */
  private share({ amounts }: Load): number {
    let share = 1e-9;
    for (let column = 0; column < amounts.length; column++) {
      const amount = amounts[column] as number;
      if (amount > 0) share += amount / (this.left[column] as number);
    }
    return share;
  }

  private put(at: number, isIn: 0 | 1): void {
    const { amounts } = this.loads[at] as Load;
    const sign = isIn === 1 ? -1 : 1;
    for (let column = 0; column < amounts.length; column++) {
      this.left[column] = (this.left[column] as number) + sign * (amounts[column] as number);
    }
    this.isIn[at] = isIn;
    this.count -= sign;
  }
}
