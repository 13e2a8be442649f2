// Topology groups of one workload with their starting counts: which domains exist, how many selected pods each holds
// today, and which groups select or are owned by which pods. Computed once; planning copies the counts and goes on from
// there. Domains of a key are numbered, so that all groups on the key share the numbers.

import { label } from '../../api/names.ts';
import { type Sliced, sortInSlices } from '../../base/index.ts';
import { requiredLabel } from '../kube/label-selector.ts';
import {
  type Labels,
  namespacedKey,
  namespaceOf,
  type Pod,
  type PodAffinityTerm,
  type Taint,
} from '../kube/objects.ts';
import { isTerminal, isTerminating } from '../pods/pod-classes.ts';
import { grants } from '../requirements/node-wish.ts';
import { requirementOf } from '../requirements/requirement.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import type { PoolDomains } from './pool-domains.ts';
import { filterToleratesTaints, type TopologyGroup, type TopologyGroups } from './topology-groups.ts';

/** A Node object as topology sees it. */
export interface TopologyNode {
  readonly name: string;
  readonly labels: Labels;
  readonly set: RequirementSet;
  readonly taints: readonly Taint[];
}

/** The numbered domains of one topology key, and the requirement `key In [domain]` of each. */
export class KeyDomains {
  readonly key: string;
  readonly names: string[] = [];
  readonly only: RequirementSet[] = [];
  private readonly ids = new Map<string, number>();
  private readonly table: RequirementTable;
  private byName: number[] = [];

  constructor(table: RequirementTable, key: string) {
    this.table = table;
    this.key = key;
  }

  id(name: string): number {
    let id = this.ids.get(name);
    if (id === undefined) {
      id = this.names.length;
      this.ids.set(name, id);
      this.names.push(name);
      this.only.push(this.table.setOf([requirementOf(this.key, 'In', [name])]));
    }
    return id;
  }

  /** All numbers, by name. */
  sorted(): readonly number[] {
    if (this.byName.length !== this.names.length) {
      this.byName = [...this.names.keys()].sort((left, right) =>
        (this.names[left] as string) < (this.names[right] as string) ? -1 : 1,
      );
    }
    return this.byName;
  }
}

/**
 * A group's counts before planning. `counts[id]` is -1 for domains the group does not know. Host names are too many to
 * list for every group, and every node is one anyway: there only what is not zero is kept.
 */
export interface StartingCounts {
  readonly domains: KeyDomains;
  readonly counts: readonly number[];
  readonly hosts: ReadonlyMap<number, number>;
}

interface Counting extends StartingCounts {
  readonly counts: number[];
  readonly hosts: Map<number, number>;
}

export interface TopologyIndexContext {
  readonly table: RequirementTable;
  readonly groups: TopologyGroups;
  readonly poolDomains: PoolDomains;
  /** Every Node object, by name. */
  readonly nodes: ReadonlyMap<string, TopologyNode>;
  /** Machines that can take pods, with the labels they are known by. */
  readonly destinations: readonly {
    readonly node: TopologyNode | undefined;
    readonly labels: Labels;
  }[];
  /** Pods with a node, not counting those being planned. */
  readonly boundPods: readonly Pod[];
}

const noGroups: readonly TopologyGroup[] = [];

export class TopologyIndex {
  readonly groups: readonly TopologyGroup[];
  readonly starting: readonly StartingCounts[];
  private readonly counting: Counting[] = [];
  private readonly byKey = new Map<string, KeyDomains>();
  private readonly selectedBy = new Map<string, readonly TopologyGroup[]>();
  private readonly selections = new Map<string, readonly TopologyGroup[]>();
  private readonly byLabel = new Map<string, TopologyGroup[]>();
  private readonly unlabelled: TopologyGroup[] = [];
  private readonly counted = new Map<Pod, readonly TopologyGroup[]>();
  private readonly offered: (ReadonlySet<string> | undefined)[] = [];
  private readonly context: TopologyIndexContext;

  /** Yields after every group and every pod that was counted. */
  static *inSlices(context: TopologyIndexContext): Sliced<TopologyIndex> {
    const bound: Pod[] = [];
    for (const pod of context.boundPods) {
      if (context.nodes.has(pod.spec?.nodeName ?? '')) bound.push(pod);
      yield;
    }
    const owners = yield* boundOwners(context, bound);
    const index = new TopologyIndex(context);
    yield* index.startCounting();
    for (const { group, node } of owners) {
      index.count(group, node, index.counting);
      yield;
    }
    yield* index.countBound(bound);
    return index;
  }

  private constructor(context: TopologyIndexContext) {
    this.context = context;
    this.starting = this.counting;
    this.groups = context.groups.all;
    for (const group of this.groups) {
      const required = requiredLabel(group.selector);
      if (required === undefined) this.unlabelled.push(group);
      else this.listFor(required).push(group);
    }
  }

  domainsOf(key: string): KeyDomains {
    let domains = this.byKey.get(key);
    if (domains === undefined) {
      domains = new KeyDomains(this.context.table, key);
      this.byKey.set(key, domains);
    }
    return domains;
  }

  /** Groups whose selector and namespaces take in a pod with these labels; equal answers are the same object. */
  selecting(namespace: string, labels: Labels): readonly TopologyGroup[] {
    if (this.groups.length === 0) return noGroups;
    let identity = namespace;
    for (const key in labels) identity += `\n${key}=${labels[key]}`;
    let selected = this.selectedBy.get(identity);
    if (selected === undefined) {
      const candidates = [...this.unlabelled];
      for (const [key, value] of Object.entries(labels))
        candidates.push(...(this.byLabel.get(`${key}=${value}`) ?? []));
      const found = candidates
        .filter((group) => group.namespaces.has(namespace) && group.matches(labels))
        .sort((left, right) => left.id - right.id);
      const ids = found.map((group) => group.id).join();
      selected = this.selections.get(ids) ?? found;
      this.selections.set(ids, selected);
      this.selectedBy.set(identity, selected);
    }
    return selected;
  }

  /**
   * The starting counts as they would be without these machines and the pods that leave them. A domain that only they
   * had is no longer one, unless pools can make it.
   */
  without(nodeNames: readonly string[], leaving: readonly Pod[]): readonly StartingCounts[] {
    if (this.groups.length === 0) return this.starting;
    const counts: Counting[] = [...this.starting] as Counting[];
    const own = new Set<number>();
    const writable = (group: TopologyGroup): Counting => {
      if (!own.has(group.id)) {
        own.add(group.id);
        const { domains, counts: old, hosts } = counts[group.id] as Counting;
        counts[group.id] = { domains, counts: [...old], hosts: new Map(hosts) };
      }
      return counts[group.id] as Counting;
    };
    for (const pod of leaving) {
      const node = this.context.nodes.get(pod.spec?.nodeName ?? '');
      if (node === undefined) continue;
      for (const group of this.countedIn(pod)) {
        // No one asks about hosts that are gone, but for whether a pod to be near is anywhere at all.
        if (!group.isHostname || group.kind === 'affinity') this.uncount(writable(group), group, node);
      }
    }
    const gone = new Set(nodeNames);
    for (const name of nodeNames) {
      const node = this.context.nodes.get(name);
      for (const group of node === undefined ? [] : this.groups) {
        if (!group.isHostname) this.forget(writable, group, node as TopologyNode, gone);
      }
    }
    return counts;
  }

  /** The groups a pod that runs is counted in. */
  private countedIn(pod: Pod): readonly TopologyGroup[] {
    let counted = this.counted.get(pod);
    if (counted === undefined) {
      counted = this.computeCountedIn(pod);
      this.counted.set(pod, counted);
    }
    return counted;
  }

  private computeCountedIn(pod: Pod): readonly TopologyGroup[] {
    if (isTerminal(pod)) return noGroups;
    const namespace = namespaceOf(pod);
    const counted: TopologyGroup[] = [];
    if (!isTerminating(pod)) {
      for (const group of this.selecting(namespace, pod.metadata.labels ?? {})) {
        if (!group.inverse) counted.push(group);
      }
      for (const group of this.groups) {
        if (group.selector === undefined && !group.inverse && group.namespaces.has(namespace)) counted.push(group);
      }
    }
    for (const term of keepAwayTerms(pod)) {
      counted.push(this.context.groups.affinity('antiAffinity', term, namespace, true));
    }
    return counted.length === 0 ? noGroups : counted;
  }

  private uncount(own: Counting, group: TopologyGroup, node: TopologyNode): void {
    const value = node.labels[group.key] ?? (group.isHostname ? node.name : undefined);
    if (value === undefined || !this.admits(group, node)) return;
    const id = own.domains.id(value);
    if (!group.isHostname) own.counts[id] = (own.counts[id] as number) - 1;
    else if (own.hosts.get(id) === 1) own.hosts.delete(id);
    else own.hosts.set(id, (own.hosts.get(id) ?? 1) - 1);
  }

  private forget(
    writable: (group: TopologyGroup) => Counting,
    group: TopologyGroup,
    node: TopologyNode,
    gone: ReadonlySet<string>,
  ): void {
    const value = node.labels[group.key];
    if (value === undefined) return;
    const { domains, counts } = this.starting[group.id] as Counting;
    const id = domains.id(value);
    if ((counts[id] ?? -1) < 0 || this.isOffered(group, value)) return;
    const { destinations } = this.context;
    const isShared = destinations.some(
      (other) =>
        other.node !== undefined &&
        other.labels[group.key] === value &&
        !gone.has(other.node.name) &&
        this.admits(group, other.node),
    );
    if (isShared) return;
    const own = writable(group);
    if (own.counts[id] === 0) own.counts[id] = -1;
  }

  private isOffered(group: TopologyGroup, value: string): boolean {
    let offered = this.offered[group.id];
    if (offered === undefined) {
      offered = new Set(this.context.poolDomains.domainsOf(group.key, group.filter?.tolerations));
      this.offered[group.id] = offered;
    }
    return offered.has(value);
  }

  private listFor([key, value]: [string, string]): TopologyGroup[] {
    const text = `${key}=${value}`;
    let list = this.byLabel.get(text);
    if (list === undefined) {
      list = [];
      this.byLabel.set(text, list);
    }
    return list;
  }

  private *startCounting(): Sliced<void> {
    for (const group of this.groups) {
      this.counting.push(this.emptyCounts(group));
      yield;
    }
  }

  private emptyCounts(group: TopologyGroup): Counting {
    const { poolDomains, destinations } = this.context;
    const domains = this.domainsOf(group.key);
    const counts: number[] = [];
    const hosts = new Map<number, number>();
    if (group.isHostname) return { domains, counts, hosts };
    const know = (name: string): void => {
      const id = domains.id(name);
      while (counts.length <= id) counts.push(-1);
      counts[id] = 0;
    };
    for (const name of poolDomains.domainsOf(group.key, group.filter?.tolerations)) know(name);
    for (const { node, labels } of destinations) {
      const value = labels[group.key];
      if (node !== undefined && value !== undefined && this.admits(group, node)) know(value);
    }
    return { domains, counts, hosts };
  }

  private *countBound(bound: readonly Pod[]): Sliced<void> {
    const counts = this.starting;
    const anyNamespace = this.groups.filter((group) => group.selector === undefined);
    for (const pod of bound) {
      yield;
      if (isTerminal(pod) || isTerminating(pod)) continue;
      const node = this.context.nodes.get(pod.spec?.nodeName ?? '') as TopologyNode;
      const namespace = namespaceOf(pod);
      for (const group of this.selecting(namespace, pod.metadata.labels ?? {})) {
        if (!group.inverse) this.count(group, node, counts);
      }
      // A rule without a selector selects no one new, yet counts everybody who is there.
      for (const group of anyNamespace) {
        if (!group.inverse && group.namespaces.has(namespace)) this.count(group, node, counts);
      }
    }
  }

  private count(group: TopologyGroup, node: TopologyNode, counts: readonly StartingCounts[]): void {
    const own = counts[group.id] as Counting;
    const value = node.labels[group.key] ?? (group.isHostname ? node.name : undefined);
    if (value === undefined || !this.admits(group, node)) return;
    const id = own.domains.id(value);
    if (group.isHostname) {
      own.hosts.set(id, (own.hosts.get(id) ?? 0) + 1);
      return;
    }
    while (own.counts.length <= id) own.counts.push(-1);
    own.counts[id] = Math.max(0, own.counts[id] as number) + 1;
  }

  private admits(group: TopologyGroup, node: TopologyNode): boolean {
    if (!filterToleratesTaints(group, node.taints)) return false;
    const wishes = group.filter?.wishes;
    if (wishes === undefined || wishes.length === 0) return true;
    const hostname = node.labels[label.hostname] ?? node.name;
    return wishes.some((wish) => grants(this.context.table, node.set, hostname, wish, 'strict'));
  }
}

/** Required anti-affinity of pods that run keeps selected pods away from their domains. */
function* boundOwners(
  { groups, nodes }: TopologyIndexContext,
  bound: readonly Pod[],
): Sliced<{ group: TopologyGroup; node: TopologyNode }[]> {
  const owners: { group: TopologyGroup; node: TopologyNode }[] = [];
  const keepingAway: { pod: Pod; key: string }[] = [];
  for (const pod of bound) {
    yield;
    if (keepAwayTerms(pod).length > 0 && !isTerminal(pod)) keepingAway.push({ pod, key: namespacedKey(pod.metadata) });
  }
  // By name: the first group that refuses a pod is the reason that is reported, and must not depend on the order of objects.
  for (const { pod } of yield* sortInSlices(keepingAway, (left, right) => (left.key < right.key ? -1 : 1))) {
    yield;
    const node = nodes.get(pod.spec?.nodeName ?? '') as TopologyNode;
    for (const term of keepAwayTerms(pod)) {
      owners.push({ group: groups.affinity('antiAffinity', term, namespaceOf(pod), true), node });
    }
  }
  return owners;
}

function keepAwayTerms(pod: Pod): readonly PodAffinityTerm[] {
  return pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}
