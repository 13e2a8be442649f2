// What controllers decide, as records: built here, so that every record of a kind says the same things in the same way.
// Nothing is computed where no one keeps records.
import { label, type NodeClaim } from '../api/index.ts';
import type { Command, InstanceTypeSpec, NodeVerdict, Plan, PlannedNode, Snapshot } from '../core/index.ts';
import { decisionOf, isForSale, podCount, verdictCode } from '../core/index.ts';
import type { DecisionAlternative, DecisionDraft, DecisionKind, DecisionReason } from '../ports/index.ts';
import type { ControllerContext } from './context.ts';
import { placeOf, pricesOf } from './nodepool/cost.ts';
import { isWithin } from './provisioning/planned-offerings.ts';

/** Alternatives that are looked up; the rest is only counted. */
const mostAlternatives = 5;
/** Pods whose refusal is remembered, so that the same refusal is one record. */
const mostRefusals = 50_000;

/** What the whole cluster costs per hour, as far as prices are known. */
async function clusterPrice({ cloud, cluster, isManaged }: ControllerContext): Promise<number> {
  let total = 0;
  const prices = new Map<string, ReadonlyMap<string, number>>();
  for (const pool of cluster.nodePools.list()) {
    if (!isManaged(pool.spec.template.spec.nodeClassRef)) continue;
    const types = await cloud.instanceTypes(pool).catch(() => []);
    prices.set(pool.metadata.name ?? '', pricesOf(types));
  }
  for (const claim of cluster.claims.list()) {
    const pool = claim.metadata.labels?.[label.nodePool] ?? '';
    if (claim.metadata.deletionTimestamp === undefined) total += prices.get(pool)?.get(placeOf(claim)) ?? 0;
  }
  return total;
}

export interface LaunchPass {
  plan: Plan;
  snapshot: Snapshot;
  typesOf(nodePool: string): readonly InstanceTypeSpec[];
  tookMs: number;
}

/** One record per claim that was made; their ids by the name of the claim. */
export async function decideLaunches(
  context: ControllerContext,
  { plan, snapshot, typesOf, tookMs }: LaunchPass,
  claims: ReadonlyMap<string, NodeClaim>,
): Promise<void> {
  const { recorder, clock } = context;
  if (recorder.decide === undefined || claims.size === 0) return;
  const id = await context.snapshotId?.(snapshot);
  let price = await clusterPrice(context);
  for (const planned of plan.newNodes) {
    const claim = claims.get(planned.name);
    if (claim === undefined) continue;
    await clock.breathe?.();
    const { chosen, pods } = planned;
    const after = price + chosen.pricePerHour;
    recorder.decide({
      what: 'launch',
      objects: [
        { kind: 'NodeClaim', name: claim.metadata.name ?? '' },
        { kind: 'NodePool', name: planned.nodePool },
      ],
      reasons: [launchReason(pods.length)],
      chosen,
      ...alternativesTo(planned, typesOf(planned.nodePool)),
      pods: { count: pods.length, names: pods },
      pricePerHour: { before: price, after },
      ...(id !== undefined && { snapshot: id }),
      tookMs,
      outcome: { state: 'pending' },
    });
    price = after;
  }
}

const launchReason = (pods: number): DecisionReason => ({
  code: 'InsufficientResources',
  message: `${pods} ${pods === 1 ? 'pod fits' : 'pods fit'} on no node that is there or on its way`,
  params: { pods },
});

function alternativesTo(
  planned: PlannedNode,
  types: readonly InstanceTypeSpec[],
): Pick<DecisionDraft, 'alternatives' | 'alternativesLeftOut'> {
  const { chosen, instanceTypes } = planned;
  const byName = new Map(types.map((type) => [type.name, type]));
  const alternatives: DecisionAlternative[] = [];
  const fitsInto = isWithin(planned);
  const others = instanceTypes.filter((name) => name !== chosen.instanceType);
  for (const name of others.slice(0, mostAlternatives)) {
    const offerings = byName.get(name)?.offerings.filter((each) => isForSale(each) && fitsInto(each)) ?? [];
    const pricePerHour = Math.min(...offerings.map(({ price }) => price));
    if (Number.isFinite(pricePerHour)) alternatives.push({ instanceType: name, pricePerHour, because: 'price' });
  }
  return { alternatives, alternativesLeftOut: others.length - alternatives.length };
}

/** Remembers what each pod was refused for: a pod that waits for hours for the same reason is one decision. */
export class Refusals {
  private readonly known = new Map<string, string>();

  async decide(context: ControllerContext, { plan, snapshot, tookMs }: LaunchPass): Promise<void> {
    const { recorder } = context;
    if (recorder.decide === undefined) return;
    const groups = new Map<string, { reasons: DecisionReason[]; pods: string[] }>();
    const waiting = new Set(plan.unschedulable.map(({ pod }) => pod));
    for (const pod of this.known.keys()) if (!waiting.has(pod)) this.known.delete(pod);
    for (const { pod, reasons } of plan.unschedulable) {
      const gist = reasons.map(({ code, nodePool = '' }) => `${code} ${nodePool}`).join();
      if (this.known.get(pod) === gist || this.known.size >= mostRefusals) continue;
      this.known.set(pod, gist);
      const group = groups.get(gist) ?? { reasons: reasons.map(reasonOf), pods: [] };
      group.pods.push(pod);
      groups.set(gist, group);
    }
    if (groups.size === 0) return;
    const id = await context.snapshotId?.(snapshot);
    for (const { reasons, pods } of groups.values()) {
      recorder.decide({
        what: 'refuse',
        objects: pods.slice(0, 1).map(podObject),
        reasons,
        pods: { count: pods.length, names: pods },
        ...(id !== undefined && { snapshot: id }),
        tookMs,
      });
    }
  }
}

const reasonOf = ({ code, message, nodePool }: Plan['unschedulable'][number]['reasons'][number]): DecisionReason => ({
  code,
  message,
  ...(nodePool !== undefined && { params: { nodePool } }),
});

function podObject(key: string): { kind: string; namespace: string; name: string } {
  const [namespace = '', name = ''] = key.split('/');
  return { kind: 'Pod', namespace, name };
}

/** A command that begins; the id under which its outcome is reported. */
export async function decideDisruption(
  context: ControllerContext,
  command: Command,
  { replacements, snapshot }: { replacements: readonly string[]; snapshot: Snapshot | undefined },
): Promise<string | undefined> {
  const { recorder } = context;
  if (recorder.decide === undefined) return undefined;
  const id = snapshot === undefined ? undefined : await context.snapshotId?.(snapshot);
  const before = await clusterPrice(context);
  const names = command.members.map(({ machine, name }) => machine.claim?.metadata.name ?? name);
  if (snapshot !== undefined) context.recording?.move(snapshot, command.reason, names);
  const planned = command.replacements.find((each) => each.kind === 'planned');
  const pods = command.members.flatMap((member) =>
    member.pods.map(({ metadata }) => `${metadata.namespace ?? 'default'}/${metadata.name}`),
  );
  return recorder.decide({
    what: 'disrupt',
    objects: [...names, ...replacements].map((name) => ({ kind: 'NodeClaim', name })),
    reasons: [
      {
        code: command.reason,
        message: `${decisionOf(command)} ${names.length} ${names.length === 1 ? 'node' : 'nodes'}, saving $${command.savings.toFixed(3)} per hour`,
        params: { nodes: names.length, replacements: replacements.length, savingsPerHour: command.savings },
      },
    ],
    ...(planned?.kind === 'planned' && { chosen: planned.node.chosen }),
    pods: { count: podCount(command), names: pods },
    pricePerHour: { before, after: before - command.savings },
    ...(id !== undefined && { snapshot: id }),
    outcome: { state: 'pending' },
  });
}

/** A claim taken down for another reason than saving. */
export function decideRemoval(
  { recorder }: ControllerContext,
  what: Extract<DecisionKind, 'interrupt' | 'repair' | 'expire'>,
  claim: NodeClaim,
  reason: DecisionReason,
): void {
  recorder.decide?.({ what, objects: [{ kind: 'NodeClaim', name: claim.metadata.name ?? '' }], reasons: [reason] });
}

/** Nodes that stay for another reason than before: one record for all that stay for the same. */
export function decideHolds({ recorder }: ControllerContext, verdicts: readonly NodeVerdict[]): void {
  if (recorder.decide === undefined) return;
  const kept = verdicts.filter(({ verdict }) => verdict === 'keep');
  for (const own of Map.groupBy(kept, verdictCode).values()) {
    const [first] = own as [NodeVerdict];
    recorder.decide({
      what: 'hold',
      objects: own.map(({ nodeClaim, node }) => ({ kind: 'NodeClaim', name: nodeClaim ?? node })),
      reasons: own.length === 1 ? first.blockers.map(bare) : first.blockers.slice(0, 1).map(bare),
    });
  }
}

const bare = ({ code, message }: NodeVerdict['blockers'][number]): DecisionReason => ({ code, message });
