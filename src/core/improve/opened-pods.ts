// What the pods of packed nodes ask for by themselves, once their domains are settled: the nodes are opened, and each pod
// keeps only the labels it needs. A pod that a rule over zones (or any label but the host name) speaks of stays in the
// domain it was counted in, so that every count of the packing holds; where its node was in no certain domain, it stays
// among nodes with exactly the same labels.
//
// Pods may be bought from any of the pools that are opened together, if they tolerate its taints and their rules count
// them there as they did on the node they were packed on.

import { isEmptyBitset } from '../../base/index.ts';
import { toleratesAll } from '../kube/taints.ts';
import type { NewNode } from '../packing/new-node.ts';
import type { Template } from '../pools/templates.ts';
import { grants, placeholderHostname } from '../requirements/node-wish.ts';
import type { Requirement } from '../requirements/requirement.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import { filterToleratesTaints, type TopologyGroup } from '../topology/topology-groups.ts';
import type { Attachments } from '../volumes/pod-volumes.ts';
import type { Constraint, GroupStep, Need, PlannedPod, PodGroup } from '../workload.ts';
import type { World } from '../world.ts';
import { canBeUnit } from './companions.ts';
import { HostRuleBook } from './host-rules.ts';
import type { HostRules } from './pile.ts';

/** Pods that ask for the same, wherever they were packed. */
export interface PodKind {
  readonly need: Pick<Need, 'columns' | 'amounts'>;
  /** Volumes by CSI driver; where two pods share one it is counted twice. */
  readonly volumes: ReadonlyMap<string, number>;
  readonly host: HostRules | undefined;
  /** By pool, in the order they are opened in: the labels its node must have; undefined where it may not be. */
  readonly sets: readonly (RequirementSet | undefined)[];
  /** Nothing but nodes with exactly these labels will do. */
  readonly exact: boolean;
  /** So many pods each time that keep together on a host; mostly one. */
  readonly size: number;
  /** Positions in the workload, ascending once all are in; those that keep together follow each other. */
  readonly pods: number[];
}

/** Whether its pods can be taken apart: what their node offers them is labels, room and the company of others. */
export function canBeOpened(world: World, newNode: NewNode, stepOf: (pod: number) => number): boolean {
  if (newNode.held.size > 0 || newNode.minValuesRelaxed || newNode.drivers.size > 0 || isEmptyBitset(newNode.rows))
    return false;
  return newNode.pods.every((pod) => {
    const { group } = world.workload.pods[pod] as PlannedPod;
    if (group.devices !== undefined) return false;
    const { constraint } = group.steps[stepOf(pod)] as GroupStep;
    return canBeUnit(constraint) && !(constraint.ports.length > 0 && newNode.template.hasDaemonPorts);
  });
}

export class OpenedPods {
  readonly kinds: PodKind[] = [];
  /** By the labels of packed nodes, which kinds of pods were on them. */
  readonly kindsOn = new Map<RequirementSet, Set<PodKind>>();
  private readonly world: World;
  private readonly templates: readonly Template[];
  private readonly limitsAttachments: boolean;
  private readonly rules = new HostRuleBook();
  private readonly byIdentity = new Map<string, PodKind>();
  private readonly byGroup = new Map<PodGroup, Map<RequirementSet, PodKind[]>>();

  constructor(world: World, templates: readonly Template[]) {
    this.world = world;
    this.templates = templates;
    this.limitsAttachments = templates.some((template) => template.limitsAttachments);
  }

  add(newNode: NewNode, pod: number, step: number): void {
    const { group } = this.world.workload.pods[pod] as PlannedPod;
    let bySet = this.byGroup.get(group);
    if (bySet === undefined) {
      bySet = new Map();
      this.byGroup.set(group, bySet);
    }
    let bySteps = bySet.get(newNode.set);
    if (bySteps === undefined) {
      bySteps = [];
      bySet.set(newNode.set, bySteps);
    }
    let kind = bySteps[step];
    if (kind === undefined) {
      kind = this.kindOf(newNode, group, (group.steps[step] as GroupStep).constraint);
      bySteps[step] = kind;
    }
    kind.pods.push(pod);
  }

  /** Pods that keep together: they stay in their pool. */
  addTogether({ template, set: labels }: NewNode, pods: readonly number[], stepOf: (pod: number) => number): void {
    const amounts = new Map<number, number>();
    const volumes = new Map<string, number>();
    let own: RequirementSet | undefined = template.set;
    for (const pod of pods) {
      const { group } = this.world.workload.pods[pod] as PlannedPod;
      const set = this.ownLabels(template, labels, (group.steps[stepOf(pod)] as GroupStep).constraint);
      own = own === undefined || set === undefined ? undefined : this.world.table.meet(own, set);
      group.need.columns.forEach((column, at) => {
        amounts.set(column, (amounts.get(column) ?? 0) + (group.need.amounts[at] as number));
      });
      if (!this.limitsAttachments) continue;
      for (const [driver, count] of volumeCounts(group.attachments))
        volumes.set(driver, (volumes.get(driver) ?? 0) + count);
    }
    const sets = this.templates.map((each) => (each === template ? (own ?? labels) : undefined));
    const columns = [...amounts.keys()].sort((left, right) => left - right);
    const need = { columns, amounts: columns.map((column) => amounts.get(column) as number) };
    const name = `${columns.join()} ${need.amounts.join()}`;
    const kind = this.named(
      { need, volumes, host: undefined, sets, exact: own === undefined, size: pods.length, pods: [] },
      name,
      '',
      labels,
    );
    kind.pods.push(...pods);
  }

  private kindOf({ template, set: labels }: NewNode, { need, attachments }: PodGroup, constraint: Constraint): PodKind {
    const { rules: host, identity } = this.rules.of(constraint);
    const own = this.ownLabels(template, labels, constraint);
    const exact = own === undefined;
    const sets = this.templates.map((each) => {
      if (each === template) return own ?? labels;
      return exact ? undefined : this.labelsElsewhere(each, template, labels, constraint);
    });
    const volumes = this.limitsAttachments ? volumeCounts(attachments) : noVolumes;
    return this.named({ need, volumes, host, sets, exact, size: 1, pods: [] }, String(need.id), identity, labels);
  }

  /** The kind of pods that are like these, which were on a node with these labels. */
  private named(own: PodKind, need: string, identity: string, labels: RequirementSet): PodKind {
    const { sets, exact, size, volumes } = own;
    const labelIds = sets.map((set) => set?.id ?? '-').join();
    const name = `${need} ${labelIds} ${exact} ${identity} ${[...volumes].join()} ${size}`;
    let kind = this.byIdentity.get(name);
    if (kind === undefined) {
      kind = own;
      this.byIdentity.set(name, kind);
      this.kinds.push(kind);
    }
    let there = this.kindsOn.get(labels);
    if (there === undefined) this.kindsOn.set(labels, (there = new Set()));
    there.add(kind);
    return kind;
  }

  /** What the pod asks of a node's labels, its settled domains included; undefined where all of them matter. */
  private ownLabels(template: Template, labels: RequirementSet, constraint: Constraint): RequirementSet | undefined {
    const wanted = this.wantedOf(labels, constraint);
    if (wanted === undefined) return undefined;
    const set = this.world.table.meet(template.set, wanted);
    if (!countingOf(constraint).every((group) => this.isCountedAnywhere(group, set))) return undefined;
    return this.implies(labels, set) ? set : undefined;
  }

  /** The same for a node of another pool; undefined where it would not be the same to the pod or to others' rules. */
  private labelsElsewhere(
    template: Template,
    home: Template,
    labels: RequirementSet,
    constraint: Constraint,
  ): RequirementSet | undefined {
    const { table } = this.world;
    const { wish, ports, tolerations, rules } = constraint;
    if (!toleratesAll(template.taints, tolerations) || (ports.length > 0 && template.hasDaemonPorts)) return undefined;
    const wanted = this.wantedOf(labels, constraint);
    if (wanted === undefined || !table.compatible(template.set, wanted, 'wellKnown')) return undefined;
    const set = table.meet(template.set, wanted);
    if (!grants(table, set, placeholderHostname, wish, 'wellKnown')) return undefined;
    const isCountedAlike = [...rules.counted, ...rules.ownedInverse].every(
      (group) =>
        filterToleratesTaints(group, template.taints) === filterToleratesTaints(group, home.taints) &&
        this.isCountedAnywhere(group, set),
    );
    return isCountedAlike ? set : undefined;
  }

  /** What the pod wants of labels whatever its pool, its settled domains and its volumes' place included. */
  private wantedOf(labels: RequirementSet, constraint: Constraint): RequirementSet | undefined {
    const { table } = this.world;
    const { wish, volumes, rules } = constraint;
    let set = wish.set;
    if (volumes.length > 0) {
      const chosen = volumes.find((volume) => volume.hostname === undefined && this.implies(labels, volume.set));
      if (chosen === undefined) return undefined;
      set = table.meet(set, chosen.set);
    }
    const counting = countingOf(constraint);
    const keys = new Set([...rules.keys.map(({ domains }) => domains.key), ...counting.map(({ key }) => key)]);
    for (const key of keys) {
      const settled = labels.byKey.get(key);
      if (settled === undefined || !isOneValue(settled)) return undefined;
      set = table.meet(set, table.setOf([settled]));
    }
    return set;
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

/** The rules over labels that count the pod; those about hosts are kept apart. */
function countingOf({ rules }: Constraint): TopologyGroup[] {
  return [...rules.counted, ...rules.ownedInverse].filter((group) => !group.isHostname);
}

const noVolumes: ReadonlyMap<string, number> = new Map();

function volumeCounts(attachments: Attachments): ReadonlyMap<string, number> {
  if (attachments.size === 0) return noVolumes;
  return new Map([...attachments].map(([driver, names]): [string, number] => [driver, names.size]).sort());
}

function isOneValue({ complement, values }: Requirement): boolean {
  return !complement && values.length === 1;
}
