// The same pods, decided about otherwise: pods come and go as a recording has them, on nodes that this simulation launches and
// removes by the planner's own functions. Begins without nodes; they join at once; drift, expiry and interruptions are left
// out. Two such days, one with a change and one without, differ by the change alone.

import type { NodePool } from '../../api/index.ts';
import { label } from '../../api/names.ts';
import { type Clock, formatTime, inSlices, KerfError, parseGoDuration, parseTime } from '../../base/index.ts';
import { compileUntrustedSelector } from '../../controllers/index.ts';
import {
  afterCommand,
  afterPlan,
  firstOutcome,
  methods,
  type PoolInstanceTypes,
  planSnapshotInSlices,
  Round,
  type Snapshot,
  type SnapshotObject,
} from '../../core/index.ts';
import type { Pod } from '../../ports/index.ts';
import { isOwnedByDaemonSet, isTerminal } from '../../state/index.ts';

export const leftOut = ['consolidation', 'spot'] as const;

export interface DayChange {
  /** Written over those of the recording. */
  pools: readonly NodePool[];
  without: ReadonlySet<(typeof leftOut)[number]>;
}

export interface DayCost {
  dollars: number;
  /** Pods moved by consolidation. */
  evictions: number;
  launched: number;
  removed: number;
  mostNodes: number;
  podHoursWithoutPlace: number;
}

const selectors = { compileDeviceSelector: compileUntrustedSelector };
const used = methods.filter(({ name }) => ['Emptiness', 'MultiNode', 'SingleNode'].includes(name));
/** A command is looked at twice and carried out before the next: about so long. */
const commandMs = 30_000;
/** Without pods that come or go, schedules of budgets are looked at again this often. */
const lookMs = 600_000;
const hourMs = 3_600_000;

const keyOf = ({ metadata }: SnapshotObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

export class OtherDay {
  private readonly clock: Clock;
  private readonly change: DayChange;
  private readonly cost: DayCost = {
    dollars: 0,
    evictions: 0,
    launched: 0,
    removed: 0,
    mostNodes: 0,
    podHoursWithoutPlace: 0,
  };
  private recorded: Snapshot | undefined;
  private machines: SnapshotObject[] = [];
  /** Where each pod is. */
  private places = new Map<string, string>();
  /** Pods of a node as one text, and since when it is the same. */
  private readonly quiet = new Map<string, { pods: string; sinceMs: number }>();
  private nowMs = 0;
  private pricePerHour = 0;
  private withoutPlace = 0;
  private number = 0;

  constructor(clock: Clock, change: DayChange) {
    this.clock = clock;
    this.change = change;
  }

  /** Up to this moment; then the pods are those of the snapshot. */
  async take(snapshot: Snapshot): Promise<void> {
    const atMs = parseTime(snapshot.time ?? '') ?? this.nowMs;
    if (this.recorded === undefined) this.nowMs = atMs;
    else await this.pass(atMs);
    this.recorded = this.changed(snapshot);
    const pods = new Set(this.recorded.objects.items.filter(isPlaced).map(keyOf));
    for (const pod of this.places.keys()) if (!pods.has(pod)) this.places.delete(pod);
    await this.plan();
  }

  total(): DayCost {
    return { ...this.cost };
  }

  /** Time passes: nodes cost, and what is not needed goes. */
  private async pass(untilMs: number): Promise<void> {
    let nextMs = this.nowMs + commandMs;
    while (this.nowMs < untilMs) {
      const atMs = Math.min(untilMs, nextMs);
      const hours = Math.max(0, atMs - this.nowMs) / hourMs;
      this.cost.dollars += this.pricePerHour * hours;
      this.cost.podHoursWithoutPlace += this.withoutPlace * hours;
      this.nowMs = Math.max(this.nowMs, atMs);
      if (this.nowMs >= untilMs) return;
      nextMs = this.nowMs + ((await this.disrupt()) ? commandMs : this.untilQuietMs());
    }
  }

  private async plan(): Promise<void> {
    const snapshot = this.snapshot();
    const plan = await inSlices(this.clock, planSnapshotInSlices(snapshot, selectors));
    const round = await this.roundOf(snapshot);
    this.cost.launched += plan.newNodes.length;
    this.withoutPlace = plan.unschedulable.length;
    await this.settle(afterPlan(round.fleet, plan, ++this.number));
  }

  /** True if a command was carried out. */
  private async disrupt(): Promise<boolean> {
    if (this.change.without.has('consolidation')) return false;
    const round = await this.roundOf(this.snapshot());
    const command = (await inSlices(this.clock, firstOutcome(round, used)))?.command;
    if (command === undefined) return false;
    const { snapshot, evictions } = afterCommand(round.fleet, command, ++this.number);
    this.cost.evictions += evictions;
    this.cost.removed += command.members.length;
    this.cost.launched += command.replacements.length;
    await this.settle(snapshot);
    return true;
  }

  /** Takes nodes and places from the snapshot. */
  private async settle(snapshot: Snapshot): Promise<void> {
    const { items } = snapshot.objects;
    this.machines = items.filter((each) => isMachine(each) && isManaged(each));
    this.places = new Map(
      items.filter(isPlaced).flatMap((pod) => {
        const node = (pod as unknown as Pod).spec?.nodeName ?? '';
        return node === '' ? [] : [[keyOf(pod), node] as const];
      }),
    );
    this.noteQuiet();
    const { fleet } = await this.roundOf(this.snapshot());
    const managed = fleet.members.filter(({ machine }) => machine.claim !== undefined);
    this.pricePerHour = managed.reduce((sum, { price }) => sum + price, 0);
    this.cost.mostNodes = Math.max(this.cost.mostNodes, managed.length);
  }

  private noteQuiet(): void {
    const pods = new Map<string, string[]>();
    for (const [pod, node] of this.places) pods.set(node, [...(pods.get(node) ?? []), pod]);
    const names = this.machines.filter(({ kind }) => kind === 'Node').map(({ metadata }) => metadata.name);
    for (const name of this.quiet.keys()) if (!names.includes(name)) this.quiet.delete(name);
    for (const name of names) {
      const text = (pods.get(name) ?? []).sort().join();
      if (this.quiet.get(name)?.pods !== text) this.quiet.set(name, { pods: text, sinceMs: this.nowMs });
    }
  }

  /** Until the next node has been left alone for long enough. */
  private untilQuietMs(): number {
    let least = lookMs;
    for (const { kind, metadata } of this.machines) {
      if (kind !== 'NodeClaim') continue;
      const leftMs = this.quietLeftMs(metadata);
      if (leftMs > 0) least = Math.min(least, leftMs);
    }
    return Math.max(1_000, least);
  }

  private quietLeftMs(metadata: SnapshotObject['metadata']): number {
    const name = (metadata['labels'] as Record<string, string> | undefined)?.[label.nodePool];
    const pool = this.recorded?.objects.items.find((each) => each.kind === 'NodePool' && each.metadata.name === name);
    const { consolidateAfter = '0s' } = (pool as unknown as NodePool | undefined)?.spec.disruption ?? {};
    const afterMs = consolidateAfter === 'Never' ? Number.POSITIVE_INFINITY : (parseGoDuration(consolidateAfter) ?? 0);
    return (this.quiet.get(metadata.name)?.sinceMs ?? this.nowMs) + afterMs - this.nowMs;
  }

  /** The recorded cluster with this simulation's nodes, and its pods where they are here. */
  private snapshot(): Snapshot {
    const recorded = this.recorded as Snapshot;
    const items = recorded.objects.items.flatMap((object) => {
      if (isMachine(object)) return isManaged(object) ? [] : [object];
      if (object.kind !== 'Pod') return [object];
      if (!isPlaced(object)) return isOnManaged(object, recorded) ? [] : [object];
      return [at(object, this.places.get(keyOf(object)))];
    });
    const machines = this.machines.map((machine) =>
      machine.kind === 'NodeClaim' ? withQuiet(machine, this.quietLeftMs(machine.metadata) <= 0) : machine,
    );
    const { poolState: _, ...rest } = recorded;
    const nodeState = machines
      .filter(({ kind }) => kind === 'Node')
      .map(({ metadata: { name } }) => ({ node: name, nodeClaim: name, initialized: true }));
    return {
      ...rest,
      time: formatTime(this.nowMs),
      objects: { ...recorded.objects, items: [...items, ...machines] },
      nodeState,
    };
  }

  private async roundOf(snapshot: Snapshot): Promise<Round> {
    return inSlices(this.clock, Round.inSlices(snapshot, selectors));
  }

  private changed(snapshot: Snapshot): Snapshot {
    const { pools, without } = this.change;
    let { instanceTypes = [] } = snapshot;
    let { items } = snapshot.objects;
    for (const pool of pools) {
      const name = pool.metadata.name ?? '';
      const known = items.find((each) => each.kind === 'NodePool' && each.metadata.name === name);
      const object = { ...known, ...pool, metadata: { ...known?.metadata, ...pool.metadata } } as SnapshotObject;
      if (known === undefined) instanceTypes = [...instanceTypes, typesFor(pool, snapshot)];
      items = [...items.filter((each) => each !== known), withReady(object)];
    }
    if (without.has('spot')) instanceTypes = instanceTypes.map(withoutSpot);
    return { ...snapshot, instanceTypes, objects: { ...snapshot.objects, items } };
  }
}

const isMachine = ({ kind }: SnapshotObject): boolean => kind === 'Node' || kind === 'NodeClaim';
const isManaged = ({ kind, metadata }: SnapshotObject): boolean =>
  kind === 'NodeClaim' || (metadata['labels'] as Record<string, string> | undefined)?.[label.nodePool] !== undefined;

/** Pods that are somewhere, or want to be; daemons come with their nodes. */
function isPlaced(object: SnapshotObject): boolean {
  const pod = object as unknown as Pod;
  return (
    object.kind === 'Pod' &&
    !isTerminal(pod) &&
    !isOwnedByDaemonSet(pod) &&
    pod.metadata.deletionTimestamp === undefined
  );
}

function isOnManaged(object: SnapshotObject, { objects }: Snapshot): boolean {
  const node = (object as unknown as Pod).spec?.nodeName;
  return objects.items.some((each) => each.kind === 'Node' && each.metadata.name === node && isManaged(each));
}

function at(object: SnapshotObject, node: string | undefined): SnapshotObject {
  const { nodeName: _, ...spec } = object['spec'] as Record<string, unknown>;
  if (node !== undefined) return { ...object, spec: { ...spec, nodeName: node } };
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }];
  return { ...object, spec, status: { phase: 'Pending', conditions } };
}

function withQuiet(claim: SnapshotObject, isQuiet: boolean): SnapshotObject {
  const status = claim['status'] as { conditions?: { type: string }[] };
  const others = (status.conditions ?? []).filter(({ type }) => type !== 'Consolidatable');
  const quiet = { type: 'Consolidatable', status: 'True' };
  return { ...claim, status: { ...status, conditions: isQuiet ? [...others, quiet] : others } };
}

function withReady(pool: SnapshotObject): SnapshotObject {
  const status = pool['status'] as { conditions?: unknown[] } | undefined;
  return status?.conditions === undefined
    ? { ...pool, status: { conditions: [{ type: 'Ready', status: 'True' }] } }
    : pool;
}

/** A pool that the recording does not have is offered what another of its node class is. */
function typesFor(pool: NodePool, { objects, instanceTypes = [] }: Snapshot): PoolInstanceTypes {
  const { kind, name } = pool.spec.template.spec.nodeClassRef ?? {};
  const like = objects.items.find((each) => {
    const ref = (each as unknown as NodePool).spec?.template?.spec?.nodeClassRef;
    return each.kind === 'NodePool' && ref?.kind === kind && ref?.name === name;
  });
  const found = instanceTypes.find(({ nodePool }) => nodePool === like?.metadata.name);
  if (found !== undefined) return { ...found, nodePool: pool.metadata.name ?? '' };
  throw new KerfError(
    'FlagsInvalid',
    `NodePool ${pool.metadata.name} of --with names ${kind} ${name}, which no NodePool of the recording names, so what it would be offered is unknown; name a node class of the recording`,
  );
}

function withoutSpot(pool: PoolInstanceTypes): PoolInstanceTypes {
  if (pool.items === undefined) return pool;
  const isSpot = (offering: (typeof pool.items)[number]['offerings'][number]): boolean =>
    offering.requirements.some(({ key, values }) => key === label.capacityType && values?.includes('spot') === true);
  return {
    ...pool,
    items: pool.items.map((type) => ({
      ...type,
      offerings: type.offerings.map((each) => (isSpot(each) ? { ...each, available: false } : each)),
    })),
  };
}
