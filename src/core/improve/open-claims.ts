// What the pods of packed nodes ask for by themselves, once their domains are settled: the nodes are opened, and each pod
// keeps only the labels it needs. A pod that a rule over zones (or any label but the host name) speaks of stays in the
// domain it was counted in, so that every count of the packing holds; where its node was in no certain domain, it stays
// among nodes with exactly the same labels.

import { isEmptyBitset } from '../../base/index.ts';
import type { Claim } from '../packing/claim.ts';
import type { Template } from '../pools/templates.ts';
import type { Requirement } from '../requirements/requirement.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import type { TopologyGroup } from '../topology/topology-groups.ts';
import type { Constraint, GroupStep, Need, PlannedPod, PodGroup } from '../workload.ts';
import type { World } from '../world.ts';
import { HostRuleBook } from './host-rules.ts';
import type { HostRules } from './pile.ts';

/** Pods that ask for the same, wherever they were packed. */
export interface PodKind {
  readonly need: Need;
  readonly host: HostRules | undefined;
  /** The labels its node must have. */
  readonly set: RequirementSet;
  /** Nothing but nodes with exactly these labels will do. */
  readonly exact: boolean;
  /** Positions in the workload, ascending once all are in. */
  readonly pods: number[];
}

/** Whether its pods can be taken apart: what their node offers them is labels, room and the company of others. */
export function canBeOpened(world: World, claim: Claim, stepOf: (pod: number) => number): boolean {
  if (claim.held.size > 0 || claim.minValuesRelaxed || claim.drivers.size > 0 || isEmptyBitset(claim.rows))
    return false;
  return claim.pods.every((pod) => {
    const { group } = world.workload.pods[pod] as PlannedPod;
    if (group.devices !== undefined) return false;
    if (group.attachments.size > 0 && claim.template.limitsAttachments) return false;
    const { rules, ports } = (group.steps[stepOf(pod)] as GroupStep).constraint;
    return (
      rules.hostAffinities.length === 0 &&
      !rules.counted.some((own) => own.isHostname && own.kind === 'affinity') &&
      !(ports.length > 0 && claim.template.hasDaemonPorts)
    );
  });
}

export class OpenedPods {
  readonly kinds: PodKind[] = [];
  private readonly world: World;
  private readonly template: Template;
  private readonly rules = new HostRuleBook();
  private readonly byIdentity = new Map<string, PodKind>();
  private readonly byGroup = new Map<PodGroup, Map<RequirementSet, PodKind[]>>();

  constructor(world: World, template: Template) {
    this.world = world;
    this.template = template;
  }

  add(claim: Claim, pod: number, step: number): void {
    const { group } = this.world.workload.pods[pod] as PlannedPod;
    let bySet = this.byGroup.get(group);
    if (bySet === undefined) {
      bySet = new Map();
      this.byGroup.set(group, bySet);
    }
    let bySteps = bySet.get(claim.set);
    if (bySteps === undefined) {
      bySteps = [];
      bySet.set(claim.set, bySteps);
    }
    let kind = bySteps[step];
    if (kind === undefined) {
      kind = this.kindOf(claim.set, group.need, (group.steps[step] as GroupStep).constraint);
      bySteps[step] = kind;
    }
    kind.pods.push(pod);
  }

  private kindOf(labels: RequirementSet, need: Need, constraint: Constraint): PodKind {
    const { rules: host, identity } = this.rules.of(constraint);
    const own = this.ownLabels(labels, constraint);
    const exact = own === undefined;
    const set = own ?? labels;
    const name = `${need.id} ${set.id} ${exact} ${identity}`;
    let kind = this.byIdentity.get(name);
    if (kind === undefined) {
      kind = { need, host, set, exact, pods: [] };
      this.byIdentity.set(name, kind);
      this.kinds.push(kind);
    }
    return kind;
  }

  /** What the pod asks of a node's labels, its settled domains included; undefined where all of them matter. */
  private ownLabels(labels: RequirementSet, { wish, volumes, rules }: Constraint): RequirementSet | undefined {
    const { table } = this.world;
    let set = table.meet(this.template.set, wish.set);
    if (volumes.length > 0) {
      const chosen = volumes.find((volume) => volume.hostname === undefined && this.implies(labels, volume.set));
      if (chosen === undefined) return undefined;
      set = table.meet(set, chosen.set);
    }
    const counting = [...rules.counted, ...rules.ownedInverse].filter((group) => !group.isHostname);
    const keys = new Set([...rules.keys.map(({ domains }) => domains.key), ...counting.map(({ key }) => key)]);
    for (const key of keys) {
      const settled = labels.byKey.get(key);
      if (settled === undefined || !isOneValue(settled)) return undefined;
      set = table.meet(set, table.setOf([settled]));
    }
    if (!counting.every((group) => this.isCountedAnywhere(group, set))) return undefined;
    return this.implies(labels, set) ? set : undefined;
  }

  /** Whichever node of these labels it is on, the spread looks at that node. */
  private isCountedAnywhere({ filter }: TopologyGroup, set: RequirementSet): boolean {
    const wishes = filter?.wishes;
    return (
      wishes === undefined ||
      wishes.some(
        (wish) =>
          !wish.contradictory &&
          wish.hostname === undefined &&
          wish.present.length === 0 &&
          this.implies(set, wish.set),
      )
    );
  }

  /** Every node with these labels has those too. */
  implies(labels: RequirementSet, others: RequirementSet): boolean {
    const { table } = this.world;
    return table.compatible(labels, others, 'wellKnown') && table.meet(labels, others) === labels;
  }
}

function isOneValue({ complement, values }: Requirement): boolean {
  return !complement && values.length === 1;
}
