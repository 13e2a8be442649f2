// Which nodes might become one: for each size of new node the set whose pods it could hold and whose nodes together cost
// the most. Plain arithmetic on sums of requests and prices, so that only promising sets are asked about in earnest.

import type { Template } from '../pools/templates.ts';
import type { Member } from './fleet.ts';
import type { LaunchPrices } from './launch-prices.ts';
import type { WhatIf } from './what-if.ts';

export interface Load {
  readonly member: Member;
  /** What its movable pods ask for, by resource column. */
  readonly amounts: Float64Array;
  readonly pods: number;
}

/** A new node that could be had, and nothing as cheap is larger. */
interface Target {
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
 * would need more than one new node. `podCost` is what moving a pod must earn to be worth it.
 */
export function* mergeSets(
  whatIf: WhatIf,
  prices: LaunchPrices,
  members: readonly Member[],
  podCosts: readonly number[],
  mostMembers: number,
): Generator<MergeSet | undefined> {
  const loads = members.map(
    (member): Load => ({ member, amounts: whatIf.loadOf(member), pods: whatIf.podCount(member) }),
  );
  const targets = whatIf.fleet.movable.world.templates.flatMap((template) => targetsOf(template, prices));
  for (const [poolName, own] of groupsOf(loads)) {
    for (const target of targets) {
      if (target.poolName !== poolName) continue;
      for (const podCost of podCosts) {
        const set = new Filling(target, own, podCost, mostMembers).set();
        yield set.members.length >= 2 && set.savings > 0 ? set : undefined;
      }
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

function targetsOf(template: Template, prices: LaunchPrices): Target[] {
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
  private readonly podCost: number;
  private readonly mostMembers: number;
  private readonly left: Float64Array;
  private chosen: Load[] = [];
  private rest: Load[];

  constructor(target: Target, loads: readonly Load[], podCost: number, mostMembers: number) {
    this.target = target;
    this.podCost = podCost;
    this.mostMembers = mostMembers;
    this.left = target.room.slice();
    // A node of the target's own type would have to stay: several never become one of themselves.
    this.rest = loads.filter((load) => load.member.instanceType !== target.instanceType && this.worth(load) > 0);
    this.fill();
    if (this.rest.length + this.chosen.length <= mostExchanged) while (this.exchange());
  }

  set(): MergeSet {
    const savings = this.chosen.reduce((sum, load) => sum + load.member.price, -this.target.price);
    const pods = this.chosen.reduce((sum, load) => sum + load.pods, 0);
    return { members: this.chosen.map((load) => load.member), savings, pods };
  }

  private fill(): void {
    while (this.chosen.length < this.mostMembers) {
      let best: Load | undefined;
      let bestRate = 0;
      for (const load of this.rest) {
        const rate = this.fits(load) ? this.worth(load) / this.share(load) : 0;
        if (rate > bestRate) [best, bestRate] = [load, rate];
      }
      if (best === undefined) return;
      this.take(best);
    }
  }

  /** One goes, one or two come, and together they are worth more; false if there is no such exchange. */
  private exchange(): boolean {
    for (const out of this.chosen) {
      this.giveBack(out);
      const come = this.betterThan(out);
      if (come.length > 0) {
        for (const load of come) this.take(load);
        return true;
      }
      this.take(out);
    }
    return false;
  }

  private betterThan(out: Load): Load[] {
    let best: Load[] = [];
    let bestWorth = this.worth(out) + 1e-9;
    for (const load of this.rest) {
      if (load === out || !this.fits(load)) continue;
      this.occupy(load, 1);
      let second: Load | undefined;
      for (const other of this.rest) {
        const isMore = this.worth(other) > (second === undefined ? 0 : this.worth(second));
        if (other !== load && other !== out && isMore && this.fits(other)) second = other;
      }
      this.occupy(load, -1);
      const worth = this.worth(load) + (second === undefined ? 0 : this.worth(second));
      if (worth > bestWorth) [best, bestWorth] = [second === undefined ? [load] : [load, second], worth];
    }
    return best;
  }

  private worth({ member, pods }: Load): number {
    return member.price - this.podCost * pods;
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

  private take(load: Load): void {
    this.chosen = [...this.chosen, load];
    this.rest = this.rest.filter((each) => each !== load);
    this.occupy(load, 1);
  }

  private giveBack(load: Load): void {
    this.chosen = this.chosen.filter((each) => each !== load);
    this.rest = [...this.rest, load];
    this.occupy(load, -1);
  }

  private occupy({ amounts }: Load, sign: 1 | -1): void {
    for (let column = 0; column < amounts.length; column++) {
      this.left[column] = (this.left[column] as number) - sign * (amounts[column] as number);
    }
  }
}
