// Topology for the naive planner: one group per distinct constraint, counts per domain in a plain map, recounted from
// nothing and updated after every placement. Where several domains are equally good the first by name wins.
import { label, taint } from '../../../src/api/index.ts';
import { type Template, templateOf, usablePools } from '../rules/catalogue.ts';
import type { Cluster } from '../rules/cluster.ts';
import type { LabelSelector, Pod, PodSpec, PodTerm, Spread, Taint } from '../rules/objects.ts';
import { isTerminal, isTerminating, requiredTerms, termRequirements } from '../rules/pods.ts';
import {
  both,
  fromLabels,
  get,
  has,
  incompatible,
  oneOf,
  type Requirement,
  type Requirements,
  requirements as toRequirements,
} from '../rules/requirement.ts';
import { namespacesOf, selects, untolerated } from '../rules/selector.ts';

type Kind = 'spread' | 'affinity' | 'anti-affinity';

interface Group {
  kind: Kind;
  key: string;
  namespaces: Set<string>;
  selector: LabelSelector | undefined;
  maxSkew: number;
  minDomains: number | undefined;
  /** Whether a node with these labels and taints counts. */
  admits: (node: Requirements, taints: readonly Taint[]) => boolean;
  counts: Map<string, number>;
  owners: Set<Pod>;
}

export interface Where {
  requirements: Requirements;
  taints: readonly Taint[];
}

export class Topology {
  private readonly cluster: Cluster;
  private readonly batch: Set<Pod>;
  private readonly ignorePreferences: boolean;
  private readonly templates: Template[];
  private readonly groups = new Map<string, Group>();
  private readonly inverse = new Map<string, Group>();
  /** In the order in which the pod states them. */
  private readonly owned = new Map<Pod, Group[]>();
  private readonly hostnames: string[] = [];
  private readonly placed: { pod: Pod; where: Where }[] = [];

  constructor(cluster: Cluster, batch: readonly Pod[]) {
    this.cluster = cluster;
    this.batch = new Set(batch);
    this.ignorePreferences = cluster.settings.preferencePolicy === 'Ignore';
    this.templates = usablePools(cluster).flatMap((pool) => templateOf(pool, cluster) ?? []);
    for (const machine of cluster.machines) {
      if (!machine.leaving) this.hostnames.push(machine.hostname);
      if (machine.node === undefined) continue;
      for (const pod of machine.pods) {
        if (!this.batch.has(pod)) this.addInverse(pod, pod, machine.node.metadata.labels ?? {});
      }
    }
  }

  registerHostname(hostname: string): void {
    this.hostnames.push(hostname);
    for (const group of [...this.groups.values(), ...this.inverse.values()]) {
      if (group.key === label.hostname && !group.counts.has(hostname)) group.counts.set(hostname, 0);
    }
  }

  /** Makes `pod` the owner of exactly the constraints that `spec`, its present (perhaps relaxed) form, has. */
  own(pod: Pod, spec: PodSpec): void {
    const owned: Group[] = [];
    this.owned.set(pod, owned);
    this.addInverse(pod, { ...pod, spec }, undefined);
    for (const spread of spec.topologySpreadConstraints ?? []) {
      if (this.ignorePreferences && spread.whenUnsatisfiable !== 'DoNotSchedule') continue;
      owned.push(this.group(this.groups, pod, this.spreadGroup(pod, spec, spread)));
    }
    for (const [kind, affinity] of [
      ['affinity', spec.affinity?.podAffinity],
      ['anti-affinity', spec.affinity?.podAntiAffinity],
    ] as const) {
      const preferred = (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((w) => w.podAffinityTerm);
      const terms = [
        ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
        ...(this.ignorePreferences ? [] : preferred),
      ];
      for (const term of terms) owned.push(this.group(this.groups, pod, this.termGroup(pod, term, kind)));
    }
  }

  /**
   * `where` narrowed by every constraint on the pod, or the key on which they cannot all be met. Where one domain has to
   * be taken, it is the one that every spread finds emptiest. As a last resort, with `canBeHad`, it is the emptiest that
   * is available, and if none is, the emptiest.
   */
  narrow(
    pod: Pod,
    strict: Requirements,
    where: Where,
    canBeHad?: (narrowed: Requirements) => boolean,
  ): { narrowed: Requirements } | { refused: string } {
    const concerned = [...(this.owned.get(pod) ?? [])];
    concerned.push(...[...this.inverse.values()].filter((group) => selectsPod(group, pod)));
    let narrowed = where.requirements;
    for (const key of new Set(concerned.map((group) => group.key))) {
      const groups = concerned.filter((group) => group.key === key);
      const { domains, decide } = domainsFor(groups, pod, get(strict, key), get(where.requirements, key));
      if (domains.length === 0) return { refused: key };
      if (decide && canBeHad === undefined && !isEmptiest(domains[0] ?? '', groups, get(where.requirements, key)))
        return { refused: key };
      const choices = decide ? domains.map((domain) => [domain]) : [domains];
      const candidates = choices.map((values) => both(narrowed, new Map([[key, oneOf(key, values)]])));
      narrowed = (decide && canBeHad ? candidates.find(canBeHad) : undefined) ?? candidates[0] ?? narrowed;
    }
    return { narrowed };
  }

  record(pod: Pod, where: Where): void {
    this.placed.push({ pod, where });
    for (const group of this.groups.values()) recordIn(group, pod, where);
    for (const group of this.inverse.values()) {
      if (group.owners.has(pod)) bump(group, possible(group, where.requirements));
    }
  }

  private group(groups: Map<string, Group>, owner: Pod, made: { identity: string; group: Group }): Group {
    let group = groups.get(made.identity);
    if (group === undefined) {
      group = made.group;
      groups.set(made.identity, group);
      this.addNodeDomains(group);
      if (groups === this.groups) this.count(group);
      if (group.key === label.hostname) {
        for (const name of this.hostnames) if (!group.counts.has(name)) group.counts.set(name, 0);
      }
      // A constraint that appears only by relaxation has to know who was placed before it did.
      if (groups === this.groups) for (const { pod, where } of this.placed) recordIn(group, pod, where);
    }
    group.owners.add(owner);
    return group;
  }

  private addInverse(owner: Pod, pod: Pod, labels: Record<string, string> | undefined): void {
    for (const term of pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
      const group = this.group(this.inverse, owner, this.termGroup(pod, term, 'anti-affinity'));
      const domain = labels?.[group.key];
      if (domain !== undefined) bump(group, [domain]);
    }
  }

  private termGroup(pod: Pod, term: PodTerm, kind: Kind): { identity: string; group: Group } {
    const namespaces = namespacesOf(term, pod.metadata.namespace ?? 'default', this.cluster.namespaces);
    const identity = JSON.stringify([kind, term.topologyKey, [...namespaces].sort(), canonical(term.labelSelector)]);
    return {
      identity,
      group: {
        kind,
        key: term.topologyKey,
        namespaces,
        selector: term.labelSelector,
        maxSkew: 0,
        minDomains: undefined,
        admits: () => true,
        counts: this.universe(term.topologyKey, () => true),
        owners: new Set(),
      },
    };
  }

  private spreadGroup(pod: Pod, spec: PodSpec, spread: Spread): { identity: string; group: Group } {
    const { spelling } = this.cluster;
    const selector = withMatchLabelKeys(spread, pod);
    const byAffinity = (spread.nodeAffinityPolicy ?? 'Honor') === 'Honor';
    const byTaints = (spread.nodeTaintsPolicy ?? 'Ignore') === 'Honor';
    const terms = requiredTerms(spec);
    const own = fromLabels(spec.nodeSelector ?? {}, spelling);
    const wanted = terms.length === 0 ? [own] : terms.map((term) => both(own, termRequirements(term, spelling)));
    const tolerated = (taints: readonly Taint[]): boolean => untolerated(taints, spec.tolerations) === undefined;
    const namespace = pod.metadata.namespace ?? 'default';
    const identity = JSON.stringify([
      'spread',
      spread.topologyKey,
      namespace,
      spread.maxSkew,
      canonical(selector),
      byAffinity,
      byTaints,
      spec.nodeSelector,
      terms,
      byTaints ? spec.tolerations : null,
    ]);
    return {
      identity,
      group: {
        kind: 'spread',
        key: spread.topologyKey,
        namespaces: new Set([namespace]),
        selector,
        maxSkew: spread.maxSkew,
        minDomains: spread.minDomains,
        admits: (node, taints) =>
          (!byAffinity || wanted.some((w) => incompatible(node, w, new Set()) === undefined)) &&
          (!byTaints || tolerated(taints)),
        counts: this.universe(spread.topologyKey, (taints) => !byTaints || tolerated(taints)),
        owners: new Set(),
      },
    };
  }

  /** Domains that pools can offer, at zero. */
  private universe(key: string, tolerated: (taints: readonly Taint[]) => boolean): Map<string, number> {
    const domains = new Map<string, number>();
    for (const { pool, taints, types } of this.templates) {
      if (!tolerated(taints)) continue;
      const { template } = pool.spec;
      const own = both(
        toRequirements(template.spec.requirements, this.cluster.spelling),
        fromLabels(template.metadata?.labels ?? {}, this.cluster.spelling),
      );
      for (const set of [own, ...types.map((type) => both(own, type.requirements))]) {
        const r = set.get(key);
        if (r !== undefined && !r.complement) for (const value of r.values) domains.set(value, 0);
      }
    }
    return domains;
  }

  /** Domains of nodes that stay, at zero. */
  private addNodeDomains(group: Group): void {
    for (const machine of this.cluster.machines) {
      const { node } = machine;
      if (machine.leaving || node === undefined) continue;
      const domain = machine.labels[group.key];
      if (domain === undefined || group.counts.has(domain)) continue;
      const labels = fromLabels(node.metadata.labels ?? {}, this.cluster.spelling);
      if (group.admits(labels, machine.taints)) group.counts.set(domain, 0);
    }
  }

  private count(group: Group): void {
    const { spelling } = this.cluster;
    for (const { node, pods, leaving, taints: own } of this.cluster.machines) {
      if (node === undefined) continue;
      const taints = [...own, ...(leaving ? [taint.disrupted] : [])];
      const labels = node.metadata.labels ?? {};
      const domain = labels[group.key] ?? (group.key === label.hostname ? node.metadata.name : undefined);
      if (domain === undefined || !group.admits(fromLabels(labels, spelling), taints)) continue;
      for (const pod of pods) {
        if (this.batch.has(pod) || isTerminal(pod) || isTerminating(pod)) continue;
        if (!group.namespaces.has(pod.metadata.namespace ?? 'default')) continue;
        if (group.selector === undefined || selects(group.selector, pod.metadata.labels)) bump(group, [domain]);
      }
    }
  }
}

const canonical = (selector: LabelSelector | undefined): unknown =>
  selector === undefined
    ? null
    : [
        Object.entries(selector.matchLabels ?? {}).sort(),
        (selector.matchExpressions ?? [])
          .map((e) => JSON.stringify([e.key, e.operator, [...(e.values ?? [])].sort()]))
          .sort(),
      ];

function withMatchLabelKeys(spread: Spread, pod: Pod): LabelSelector | undefined {
  if (spread.labelSelector === undefined) return undefined;
  const extra = (spread.matchLabelKeys ?? []).flatMap((key) => {
    const value = pod.metadata.labels?.[key];
    return value === undefined ? [] : [{ key, operator: 'In', values: [value] }];
  });
  return { ...spread.labelSelector, matchExpressions: [...(spread.labelSelector.matchExpressions ?? []), ...extra] };
}

const selectsPod = (group: Group, pod: Pod): boolean =>
  group.namespaces.has(pod.metadata.namespace ?? 'default') && selects(group.selector, pod.metadata.labels);

function recordIn(group: Group, pod: Pod, where: Where): void {
  if (!selectsPod(group, pod) || !group.admits(where.requirements, where.taints)) return;
  const domains = possible(group, where.requirements);
  if (group.kind === 'anti-affinity' || domains.length === 1) bump(group, domains);
}

function bump(group: Group, domains: readonly string[]): void {
  for (const domain of domains) group.counts.set(domain, (group.counts.get(domain) ?? 0) + 1);
}

/** The domains the node may end up in, as far as they are spelled out: an open label counts nowhere yet. */
function possible(group: Group, where: Requirements): string[] {
  const r = get(where, group.key);
  return r.complement ? [] : [...r.values];
}

/** Domains that suit all groups of one key, the emptiest first; `decide` if one of them has to be taken now. */
function domainsFor(
  groups: Group[],
  pod: Pod,
  podDomains: Requirement,
  nodeDomains: Requirement,
): { domains: string[]; decide: boolean } {
  const key = groups[0]?.key ?? '';
  const hostname = key === label.hostname && !nodeDomains.complement && nodeDomains.values.size === 1;
  const known = hostname ? [...nodeDomains.values] : [...new Set(groups.flatMap((group) => [...group.counts.keys()]))];
  let decide = false;
  let open = known.filter((domain) => has(nodeDomains, domain));
  for (const group of groups) {
    const valid = validDomains(group, pod, podDomains, hostname);
    decide ||= valid.decide;
    open = open.filter((domain) => valid.accepts(domain));
  }
  const spreads = groups.filter((group) => group.kind === 'spread');
  open.sort((a, b) => {
    for (const { counts } of spreads) {
      const difference = (counts.get(a) ?? 0) - (counts.get(b) ?? 0);
      if (difference !== 0) return difference;
    }
    return a < b ? -1 : 1;
  });
  return { domains: open, decide };
}

function isEmptiest(domain: string, groups: Group[], nodeDomains: Requirement): boolean {
  return groups
    .filter(({ kind }) => kind === 'spread')
    .every(({ counts }) => {
      const own = counts.get(domain) ?? 0;
      return [...counts].every(([other, count]) => count >= own || !has(nodeDomains, other));
    });
}

function validDomains(
  group: Group,
  pod: Pod,
  podDomains: Requirement,
  hostname: boolean,
): { decide: boolean; accepts: (domain: string) => boolean } {
  const count = (domain: string): number => group.counts.get(domain) ?? 0;
  // A new node's own host name is a domain before anybody has heard of it.
  const isKnown = (domain: string): boolean => hostname || group.counts.has(domain);
  const self = selectsPod(group, pod) ? 1 : 0;
  if (group.kind === 'anti-affinity') {
    return { decide: false, accepts: (d) => isKnown(d) && count(d) === 0 && (hostname || has(podDomains, d)) };
  }
  if (group.kind === 'spread') {
    const allowed = [...group.counts].filter(([domain]) => has(podDomains, domain));
    let least = allowed.length === 0 ? 0 : Math.min(...allowed.map(([, c]) => c));
    if (group.minDomains !== undefined && allowed.length < group.minDomains) least = 0;
    if (group.key === label.hostname) least = 0;
    return { decide: true, accepts: (d) => isKnown(d) && count(d) + self - least <= group.maxSkew };
  }
  const inhabited = [...group.counts].some(([domain, c]) => c > 0 && has(podDomains, domain));
  if (inhabited || self === 0) return { decide: false, accepts: (d) => count(d) > 0 && has(podDomains, d) };
  return { decide: true, accepts: (d) => isKnown(d) && has(podDomains, d) };
}
