// The naive planner: the scheduling loop of the specification, word by word, on plain objects and one pod at a time. Far
// too slow for real work and deliberately so: it is the second opinion on what can be placed.
import type { Snapshot } from '../../../src/core/index.ts';
import {
  type InstanceType,
  missedMinValues,
  type Template,
  templateOf,
  usableOfferings,
  usablePools,
} from '../rules/catalogue.ts';
import { type Cluster, readCluster } from '../rules/cluster.ts';
import { daemonsOf } from '../rules/daemons.ts';
import { type Pod, type PodSpec, podKey } from '../rules/objects.ts';
import { validatePod } from '../rules/pod-validation.ts';
import { needsDevices, podRequests, preferringRequirements, strictRequirements } from '../rules/pods.ts';
import { type Amounts, amounts, larger, minus } from '../rules/quantity.ts';
import { conflict, contradiction, type Requirements } from '../rules/requirement.ts';
import { volumeAlternatives } from '../rules/volumes.ts';
import type { Asking } from './asking.ts';
import { MachineRoom } from './machine-room.ts';
import { NewClaim, type Surroundings } from './new-claim.ts';
import { relax } from './relax.ts';
import { Reservations } from './reservations.ts';
import { Topology } from './topology.ts';

export interface NaiveNode {
  nodePool: string;
  pods: string[];
  types: string[];
  requirements: Requirements;
  minValuesRelaxed: boolean;
}

export interface NaivePlan {
  newNodes: NaiveNode[];
  existing: Map<string, string[]>;
  unplaced: Map<string, string>;
}

export function naivePlan(snapshot: Snapshot): NaivePlan {
  const cluster = readCluster(snapshot);
  const unplaced = new Map<string, string>();
  const pools = usablePools(cluster);
  const pods: Pod[] = [];
  for (const pod of cluster.waiting) {
    const verdict = validatePod(pod, cluster);
    if (verdict.kind !== 'valid') unplaced.set(podKey(pod), verdict.kind);
    else if (pools.length === 0) unplaced.set(podKey(pod), 'NoNodePools');
    else pods.push(pod);
  }
  if (pools.length === 0) return { newNodes: [], existing: new Map(), unplaced };
  return new Pass(cluster, pods, unplaced).run();
}

class Pass {
  private readonly cluster: Cluster;
  private readonly pods: Pod[];
  private readonly unplaced: Map<string, string>;
  private readonly templates: Template[];
  private readonly machines: MachineRoom[];
  private readonly around: Surroundings;
  private readonly remaining = new Map<string, Amounts>();
  private readonly softTaints: boolean;
  private claims: NewClaim[] = [];
  private hostnames = 0;

  constructor(cluster: Cluster, pods: Pod[], unplaced: Map<string, string>) {
    this.cluster = cluster;
    this.pods = pods;
    this.unplaced = unplaced;
    const pools = usablePools(cluster);
    const all = pools.flatMap((pool) => templateOf(pool, cluster) ?? []);
    this.templates = all
      .map((template) => ({ ...template, types: prefiltered(template, cluster) }))
      .filter((template) => template.types.length > 0);
    this.softTaints = pools.some((p) =>
      (p.spec.template.spec.taints ?? []).some((t) => t.effect === 'PreferNoSchedule'),
    );
    const daemons = daemonsOf(cluster);
    this.around = {
      cluster,
      daemons,
      reservations: new Reservations(all),
      topology: new Topology(cluster, pods),
      lastResort: false,
    };
    const staying = cluster.machines.filter((machine) => !machine.leaving);
    this.machines = staying
      .map((machine) => new MachineRoom(machine, daemons, cluster))
      .sort(
        (a, b) =>
          Number(b.machine.initialized) - Number(a.machine.initialized) || (a.machine.name < b.machine.name ? -1 : 1),
      );
    for (const pool of pools) {
      if (pool.spec.limits === undefined) continue;
      let remaining = amounts(pool.spec.limits);
      for (const machine of staying) {
        if (machine.labels['karpenter.sh/nodepool'] !== pool.metadata.name) continue;
        remaining = limited(remaining, new Map([...machine.capacity, ...amounts({ nodes: 1 })]));
      }
      this.remaining.set(pool.metadata.name, remaining);
    }
  }

  run(): NaivePlan {
    for (const pod of this.pods) this.around.topology.own(pod, pod.spec);
    const inOrder = [...this.pods].sort(byQueueOrder);
    this.drain([...inOrder]);
    this.around.lastResort = true;
    this.drain(inOrder.filter((pod) => isStuck(this.unplaced.get(podKey(pod)))));
    return this.finish();
  }

  /** Until a whole round brings nothing. */
  private drain(queue: Pod[]): void {
    const lastLength = new Map<Pod, number>();
    for (;;) {
      const pod = queue[0];
      if (pod === undefined || lastLength.get(pod) === queue.length) return;
      queue.shift();
      const failure = this.place(pod);
      if (failure === undefined) {
        this.unplaced.delete(podKey(pod));
        continue;
      }
      this.unplaced.set(podKey(pod), failure);
      this.around.topology.own(pod, pod.spec);
      queue.push(pod);
      lastLength.set(pod, queue.length);
    }
  }

  /** Relaxes step by step until the pod has a place; the failure of the last attempt if nothing is left to relax. */
  private place(pod: Pod): string | undefined {
    if (this.cluster.settings.ignoreDRARequests && needsDevices(pod.spec)) return 'DynamicResourcesUnsupported';
    let spec = pod.spec;
    for (;;) {
      const failure = this.attempt(pod, spec);
      if (failure === undefined || failure === 'ReservedCapacityDeferred') return failure;
      const relaxed = relax(spec, this.softTaints);
      if (relaxed === undefined) return failure;
      spec = relaxed;
      this.around.topology.own(pod, spec);
    }
  }

  private attempt(pod: Pod, spec: PodSpec): string | undefined {
    const { spelling, settings } = this.cluster;
    const preferring = settings.preferencePolicy === 'Respect';
    const strict = strictRequirements(spec, spelling);
    const wished = preferring ? preferringRequirements(spec, spelling) : strict;
    // A pod that contradicts itself fits nowhere, even where the label in question is unknown.
    if (contradiction(wished) !== undefined) return 'Unschedulable';
    const asking: Asking = {
      pod,
      spec,
      requests: podRequests(spec),
      strict,
      requirements: wished,
      volumes: volumeAlternatives(pod, this.cluster),
    };
    for (const machine of this.machines) if (machine.take(asking, this.around.topology)) return undefined;
    this.claims.sort((a, b) => a.pods.length - b.pods.length);
    for (const claim of this.claims) if (claim.take(asking, false) === 'taken') return undefined;
    if (this.templates.length === 0) return 'NoInstanceTypes';
    let failure = 'Unschedulable';
    for (const template of this.templates) {
      const types = this.withinLimits(template);
      if (types.length === 0) continue;
      this.hostnames += 1;
      const hostname = `hostname-placeholder-${String(this.hostnames).padStart(4, '0')}`;
      const claim = new NewClaim(template, types, hostname, this.around);
      const answer = claim.take(asking, settings.minValuesPolicy === 'BestEffort');
      if (answer === 'taken') {
        this.claims.push(claim);
        this.spend(claim);
        return undefined;
      }
      if (answer === 'reserved') return 'ReservedCapacityDeferred';
      if (answer === 'minValues') failure = 'MinValuesUnsatisfied';
    }
    return failure;
  }

  private withinLimits(template: Template): InstanceType[] {
    const remaining = this.remaining.get(template.name);
    if (remaining === undefined) return template.types;
    if (remaining.get('nodes') === 0n) return [];
    return template.types.filter((type) =>
      [...remaining].every(([name, left]) => (type.capacity.get(name) ?? 0n) <= left),
    );
  }

  private spend(claim: NewClaim): void {
    const remaining = this.remaining.get(claim.template.name);
    if (remaining === undefined) return;
    const most = claim.types.map((type) => type.capacity).reduce(larger);
    this.remaining.set(claim.template.name, limited(remaining, new Map([...most, ...amounts({ nodes: 1 })])));
  }

  private finish(): NaivePlan {
    const newNodes: NaiveNode[] = [];
    for (const claim of this.claims) {
      const { requirements, types, minValuesMissed } = claim.finish();
      const pods = claim.pods.map(podKey);
      if (minValuesMissed) for (const pod of pods) this.unplaced.set(pod, 'MinValuesUnsatisfied');
      else
        newNodes.push({
          nodePool: claim.template.name,
          pods,
          types,
          requirements,
          minValuesRelaxed: claim.minValuesRelaxed,
        });
    }
    const existing = new Map(
      this.machines.filter((m) => m.pods.length > 0).map((m) => [m.machine.name, m.pods.map(podKey)]),
    );
    return { newNodes, existing, unplaced: this.unplaced };
  }
}

/** Not placed, and not asked to wait. */
function isStuck(failure: string | undefined): boolean {
  return failure !== undefined && failure !== 'ReservedCapacityDeferred' && failure !== 'DynamicResourcesUnsupported';
}

/** Only the resources that have a limit. */
function limited(remaining: Amounts, spent: Amounts): Amounts {
  return minus(remaining, new Map([...spent].filter(([name]) => remaining.has(name))));
}

function prefiltered(template: Template, cluster: Cluster): InstanceType[] {
  const types = template.types.filter(
    (type) =>
      conflict(type.requirements, template.requirements) === undefined &&
      usableOfferings(type, template.requirements, cluster).length > 0,
  );
  const strict = cluster.settings.minValuesPolicy === 'Strict';
  return strict && missedMinValues(types, template.requirements).size > 0 ? [] : types;
}

/** Most cpu first, then most memory, then oldest, then by uid. */
function byQueueOrder(a: Pod, b: Pod): number {
  const [left, right] = [podRequests(a.spec), podRequests(b.spec)];
  for (const name of ['cpu', 'memory']) {
    const difference = (right.get(name) ?? 0n) - (left.get(name) ?? 0n);
    if (difference !== 0n) return difference > 0n ? 1 : -1;
  }
  const ages = [a, b].map((pod) => Date.parse(pod.metadata.creationTimestamp ?? '1970-01-01T00:00:00Z'));
  if (ages[0] !== ages[1]) return (ages[0] ?? 0) - (ages[1] ?? 0);
  return (a.metadata.uid ?? '') < (b.metadata.uid ?? '') ? -1 : 1;
}
