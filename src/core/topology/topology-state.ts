// Topology while planning: counts that grow with every placed pod, and the question where one more pod may go. Spread and
// affinity count a new node only once its domain is certain; anti-affinity counts every domain it might still end up in,
// which is why pods that depend on an undecided node wait for the next plan.

import type { Taint } from '../kube/objects.ts';
import { grants, placeholderHostname } from '../requirements/node-wish.ts';
import { allows, type Requirement, requirementOf } from '../requirements/requirement.ts';
import type { RequirementSet, RequirementTable, UndefinedKeys } from '../requirements/requirement-set.ts';
import { filterToleratesTaints, type TopologyGroup } from './topology-groups.ts';
import type { KeyDomains, StartingCounts, TopologyIndex } from './topology-index.ts';
import type { DomainRule, KeyRules, TopologyRules } from './topology-rules.ts';

/** Where a pod was put, for counting. */
export interface Placement {
  /** What is known about the node's labels, without the host name. */
  readonly set: RequirementSet;
  readonly hostname: string;
  readonly host: number;
  readonly taints: readonly Taint[];
}

/** Counts of one group; hosts are numbered like everywhere in the state, other domains by the key's numbers. */
interface Counts {
  domains: number[];
  hosts: Int32Array;
  /** Domains with at least one pod. */
  occupied: number;
}

export class TopologyState {
  /** Hosts of nodes that exist have smaller numbers; new nodes follow. */
  readonly firstNewHost: number;
  private readonly index: TopologyIndex;
  private readonly table: RequirementTable;
  private readonly starting: readonly StartingCounts[];
  private readonly counts: (Counts | undefined)[] = [];
  private readonly masks = new Map<KeyDomains, Map<Requirement, Uint8Array>>();
  private readonly choices = new Map<KeyDomains, Map<string, RequirementSet>>();
  private readonly admitted: (Map<RequirementSet, Map<readonly Taint[], boolean>> | undefined)[] = [];

  /** `starting` replaces the counts of the index: a what-if counts some pods and nodes as gone. */
  constructor(
    table: RequirementTable,
    index: TopologyIndex,
    hosts: KeyDomains,
    starting: readonly StartingCounts[] = index.starting,
  ) {
    this.table = table;
    this.index = index;
    this.firstNewHost = hosts.names.length;
    this.starting = starting;
  }

  /** Copied when it is first asked for: a what-if is about few of many groups. */
  private countsOf(group: TopologyGroup): Counts {
    let own = this.counts[group.id];
    if (own === undefined) {
      const { counts, hosts: occupied } = this.starting[group.id] as StartingCounts;
      const hosts = new Int32Array(occupied.size === 0 ? 0 : this.firstNewHost);
      for (const [host, count] of occupied) hosts[host] = count;
      const domains = [...counts];
      own = { domains, hosts, occupied: occupied.size + domains.filter((count) => count > 0).length };
      this.counts[group.id] = own;
    }
    return own;
  }

  /** The number of a host nothing has been placed on. */
  freshHost(): number {
    return Number.MAX_SAFE_INTEGER;
  }

  /** Whether the host has room under every bound; a "no" here is final. */
  hostHasRoom(rules: TopologyRules, host: number): boolean {
    for (const { group, most } of rules.hostBounds) {
      if (this.hostCount(group, host) > most) return false;
    }
    return true;
  }

  hostAttracts(rules: TopologyRules, host: number, hostname: string): boolean {
    for (const { group, self } of rules.hostAffinities) {
      if (rules.hostRequirement !== undefined && !allows(rules.hostRequirement, hostname)) return false;
      if (this.hostCount(group, host) > 0) continue;
      if (!self || this.someHostOccupied(group, rules.hostRequirement)) return false;
    }
    return true;
  }

  /** Works out, for each key, which domains are open to the pod at all. False if some key has none. */
  prepare(rules: TopologyRules): boolean {
    for (const key of rules.keys) {
      this.findOptions(key);
      if (key.options.length === 0) return false;
    }
    return true;
  }

  /**
   * What the prepared rules make of a node with these labels: the narrowed set, or undefined if it is not acceptable.
   * Nodes that exist must have the label; on new ones a well-known label that no one has narrowed is a choice still open.
   */
  narrow(rules: TopologyRules, set: RequirementSet, labels: UndefinedKeys): RequirementSet | undefined {
    let result = set;
    for (const key of rules.keys) {
      if (!this.table.defines(set, key.domains.key, labels)) return undefined;
      const requirement = set.byKey.get(key.domains.key);
      const choice = this.choose(key, requirement);
      if (choice === undefined) return undefined;
      if (choice !== this.table.empty) result = this.table.meet(result, choice);
    }
    return result;
  }

  /** Whether a new node with these labels can be in a domain the prepared rules leave open. */
  isOpen(rules: TopologyRules, set: RequirementSet): boolean {
    for (const key of rules.keys) {
      if (!this.table.defines(set, key.domains.key, 'wellKnown')) return false;
      const requirement = set.byKey.get(key.domains.key);
      if (requirement === undefined) continue;
      const mask = this.maskOf(key.domains, requirement);
      if (!key.options.some((id) => mask[id] === 1)) return false;
    }
    return true;
  }

  /** Like `narrow` for a new node, whose domain must be the emptiest for every spread; or, as a last resort, be available. */
  narrowTo(
    rules: TopologyRules,
    set: RequirementSet,
    canBeHad: ((narrowed: RequirementSet) => boolean) | undefined,
  ): RequirementSet | undefined {
    let result = set;
    for (const key of rules.keys) {
      if (!this.table.defines(set, key.domains.key, 'wellKnown')) return undefined;
      const requirement = set.byKey.get(key.domains.key);
      if (key.collapse) {
        const mask = requirement === undefined ? undefined : this.maskOf(key.domains, requirement);
        const taken = canBeHad === undefined ? this.emptiest(key, mask) : this.obtainable(key, mask, result, canBeHad);
        if (taken < 0) return undefined;
        result = this.table.meet(result, key.domains.only[taken] as RequirementSet);
        continue;
      }
      const choice = this.choose(key, requirement);
      if (choice === undefined) return undefined;
      if (choice !== this.table.empty) result = this.table.meet(result, choice);
    }
    return result;
  }

  /** The domain that all rules accept and all spreads find emptiest; -1 if they do not agree on one. */
  private emptiest(key: KeyRules, mask: Uint8Array | undefined): number {
    for (const id of key.options) {
      if (!isAllowed(mask, id)) continue;
      return key.rules.length === 1 || key.spreads.every((group) => this.isLeast(group, id, mask)) ? id : -1;
    }
    return -1;
  }

  private isLeast(group: TopologyGroup, id: number, mask: Uint8Array | undefined): boolean {
    const own = this.countsOf(group).domains;
    return !own.some((count, at) => count >= 0 && count < (own[id] as number) && isAllowed(mask, at));
  }

  /** The best domain that is available; if none is, the best. */
  private obtainable(
    key: KeyRules,
    mask: Uint8Array | undefined,
    set: RequirementSet,
    canBeHad: (narrowed: RequirementSet) => boolean,
  ): number {
    let best = -1;
    for (const id of key.options) {
      if (!isAllowed(mask, id)) continue;
      if (best < 0) best = id;
      if (canBeHad(this.table.meet(set, key.domains.only[id] as RequirementSet))) return id;
    }
    return best;
  }

  record(rules: TopologyRules, placement: Placement): void {
    for (const group of rules.counted) {
      if (!this.admits(group, placement)) continue;
      if (group.isHostname) this.addToHost(group, placement.host);
      else this.addToDomains(group, placement.set, group.kind === 'antiAffinity');
    }
    for (const group of rules.ownedInverse) {
      if (group.isHostname) this.addToHost(group, placement.host);
      else this.addToDomains(group, placement.set, true);
    }
  }

  /** Counts by domain name, for messages. */
  describe(group: TopologyGroup): Map<string, number> {
    const counts = this.countsOf(group);
    const { names } = this.index.domainsOf(group.key);
    const result = new Map<string, number>();
    if (group.isHostname) {
      counts.hosts.forEach((count, host) => {
        if (count > 0) result.set(names[host] ?? `${placeholderHostname}-${host - this.firstNewHost + 1}`, count);
      });
    } else {
      counts.domains.forEach((count, id) => {
        if (count >= 0) result.set(names[id] as string, count);
      });
    }
    return result;
  }

  private findOptions(key: KeyRules): void {
    const { domains, rules, podRequirement, options } = key;
    const allowed = podRequirement === undefined ? undefined : this.maskOf(domains, podRequirement);
    options.length = 0;
    key.collapse = false;
    for (const id of domains.sorted()) options.push(id);
    for (const rule of rules) this.keepValid(rule, options, allowed, key);
    if (options.length > 1 && key.spreads.length > 0) this.rank(options, key.spreads);
  }

  /** Emptiest first, by the first spread, then the next; equals stay in name order. Insertion sort: options are few. */
  private rank(options: number[], spreads: readonly TopologyGroup[]): void {
    for (let at = 1; at < options.length; at++) {
      const id = options[at] as number;
      let place = at;
      while (place > 0 && this.isEmptier(id, options[place - 1] as number, spreads)) {
        options[place] = options[place - 1] as number;
        place -= 1;
      }
      options[place] = id;
    }
  }

  private isEmptier(id: number, than: number, spreads: readonly TopologyGroup[]): boolean {
    for (const group of spreads) {
      const own = this.countsOf(group).domains;
      const difference = (own[id] as number) - (own[than] as number);
      if (difference !== 0) return difference < 0;
    }
    return false;
  }

  private keepValid(rule: DomainRule, options: number[], allowed: Uint8Array | undefined, key: KeyRules): void {
    const { group, self } = rule;
    const own = this.countsOf(group).domains;
    let kept = 0;
    if (group.kind === 'spread') {
      key.collapse = true;
      const least = this.leastCount(group, own, allowed);
      const extra = self ? 1 : 0;
      for (const id of options) {
        const count = own[id] ?? -1;
        if (count >= 0 && count + extra - least <= group.maxSkew) options[kept++] = id;
      }
    } else if (group.kind === 'antiAffinity') {
      for (const id of options) if (own[id] === 0 && isAllowed(allowed, id)) options[kept++] = id;
    } else {
      const inhabited = own.some((count, id) => count > 0 && isAllowed(allowed, id));
      // No one to join yet: a pod that would attract itself may open one domain.
      const opens = !inhabited && self;
      if (opens) key.collapse = true;
      for (const id of options) {
        const count = own[id] ?? -1;
        if (isAllowed(allowed, id) && (opens ? count >= 0 : inhabited && count > 0)) options[kept++] = id;
      }
    }
    options.length = kept;
  }

  /** The lowest count over domains the pod may use; with fewer of them than minDomains, an empty one is imagined. */
  private leastCount(group: TopologyGroup, own: readonly number[], allowed: Uint8Array | undefined): number {
    let least = Number.MAX_SAFE_INTEGER;
    let usable = 0;
    for (let id = 0; id < own.length; id++) {
      const count = own[id] as number;
      if (count < 0 || !isAllowed(allowed, id)) continue;
      usable += 1;
      if (count < least) least = count;
    }
    return group.minDomains !== undefined && usable < group.minDomains ? 0 : least;
  }

  private choose(key: KeyRules, requirement: Requirement | undefined): RequirementSet | undefined {
    const { domains, options, collapse } = key;
    const mask = requirement === undefined ? undefined : this.maskOf(domains, requirement);
    if (collapse) {
      for (const id of options) if (isAllowed(mask, id)) return domains.only[id];
      return undefined;
    }
    const chosen = options.filter((id) => isAllowed(mask, id));
    if (chosen.length === 0) return undefined;
    // Nothing to add if the node can only be in these domains anyway.
    if (requirement !== undefined && !requirement.complement && chosen.length === requirement.values.length) {
      return this.table.empty;
    }
    return this.anyOf(domains, chosen);
  }

  private anyOf(domains: KeyDomains, ids: readonly number[]): RequirementSet {
    if (ids.length === 1) return domains.only[ids[0] as number] as RequirementSet;
    let known = this.choices.get(domains);
    if (known === undefined) {
      known = new Map();
      this.choices.set(domains, known);
    }
    const identity = ids.join();
    let set = known.get(identity);
    if (set === undefined) {
      const names = ids.map((id) => domains.names[id] as string);
      set = this.table.setOf([requirementOf(domains.key, 'In', names)]);
      known.set(identity, set);
    }
    return set;
  }

  private maskOf(domains: KeyDomains, requirement: Requirement): Uint8Array {
    let known = this.masks.get(domains);
    if (known === undefined) {
      known = new Map();
      this.masks.set(domains, known);
    }
    let mask = known.get(requirement);
    if (mask === undefined || mask.length < domains.names.length) {
      mask = Uint8Array.from(domains.names, (name) => (allows(requirement, name) ? 1 : 0));
      known.set(requirement, mask);
    }
    return mask;
  }

  private hostCount(group: TopologyGroup, host: number): number {
    return this.countsOf(group).hosts[host] ?? 0;
  }

  private someHostOccupied(group: TopologyGroup, requirement: Requirement | undefined): boolean {
    const counts = this.countsOf(group);
    if (requirement === undefined || counts.occupied === 0) return counts.occupied > 0;
    const { names } = this.index.domainsOf(group.key);
    return counts.hosts.some((count, host) => count > 0 && allows(requirement, names[host] ?? placeholderHostname));
  }

  private addToHost(group: TopologyGroup, host: number): void {
    const counts = this.countsOf(group);
    if (host >= counts.hosts.length) {
      const larger = new Int32Array(Math.max(host + 1, 2 * counts.hosts.length, 16));
      larger.set(counts.hosts);
      counts.hosts = larger;
    }
    const before = counts.hosts[host] as number;
    if (before === 0) counts.occupied += 1;
    counts.hosts[host] = before + 1;
  }

  private addToDomains(group: TopologyGroup, set: RequirementSet, everyPossible: boolean): void {
    const requirement = set.byKey.get(group.key);
    if (requirement === undefined || requirement.complement) return;
    if (requirement.values.length !== 1 && !everyPossible) return;
    const counts = this.countsOf(group);
    const domains = this.index.domainsOf(group.key);
    for (const value of requirement.values) {
      const id = domains.id(value);
      while (counts.domains.length <= id) counts.domains.push(-1);
      const before = Math.max(0, counts.domains[id] as number);
      if (before === 0) counts.occupied += 1;
      counts.domains[id] = before + 1;
    }
  }

  /** A spread counts a pod only on nodes its filter accepts, judged strictly by what is known about them. */
  private admits(group: TopologyGroup, placement: Placement): boolean {
    if (group.filter === undefined) return true;
    const { set, taints, hostname } = placement;
    const wishes = group.filter.wishes ?? [];
    // With a host name in play the answer differs from node to node and is not worth remembering.
    const test = (): boolean =>
      filterToleratesTaints(group, taints) &&
      (wishes.length === 0 || wishes.some((wish) => grants(this.table, set, hostname, wish, 'strict')));
    if (wishes.some((wish) => wish.hostname !== undefined)) return test();
    let memo = this.admitted[group.id];
    if (memo === undefined) {
      memo = new Map();
      this.admitted[group.id] = memo;
    }
    let byTaints = memo.get(set);
    if (byTaints === undefined) {
      byTaints = new Map();
      memo.set(set, byTaints);
    }
    let answer = byTaints.get(taints);
    if (answer === undefined) {
      answer = test();
      byTaints.set(taints, answer);
    }
    return answer;
  }
}

function isAllowed(mask: Uint8Array | undefined, id: number): boolean {
  return mask === undefined || mask[id] === 1;
}
