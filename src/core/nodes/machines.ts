// The machines of the cluster: a Node, the NodeClaim it came from, or both, joined. Until a managed node is registered its
// claim speaks for it, and until it is initialised its start-up taints and unreported resources are taken as they will be.

import { annotation, label, taint } from '../../api/names.ts';
import { type Sliced, sortInSlices } from '../../base/index.ts';
import type { ClusterObjects } from '../kube/cluster-objects.ts';
import { conditionIsTrue, type Labels, type Node, type NodeClaim, type Taint } from '../kube/objects.ts';
import { isEphemeral, sameTaint } from '../kube/taints.ts';
import type { NodeStateEntry, ResourceQuantities, Snapshot } from '../snapshot.ts';
import { isInitialized, isLeaving, isRegistered, joinMachines, reportedResources } from './joined-machine.ts';

const { rebooting, unschedulable } = taint;

export interface Machine {
  readonly node: Node | undefined;
  readonly claim: NodeClaim | undefined;
  /** The Node's name, or the claim's while no registered Node is there. */
  readonly name: string;
  readonly hostname: string;
  readonly initialized: boolean;
  /** Takes no pods; those on it that can move are planned too. */
  readonly leaving: boolean;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly allocatable: ResourceQuantities;
  readonly capacity: ResourceQuantities;
}

/** Every machine that can take pods or is about to go: initialised ones first, then by name. */
export function* machinesOf(snapshot: Snapshot, objects: ClusterObjects): Sliced<Machine[]> {
  const entries = snapshot.nodeState ?? derivedState(objects);
  yield;
  const machines: Machine[] = [];
  for (const entry of yield* joined(entries, objects)) {
    const machine = machineOf(entry, objects);
    if (machine !== undefined) machines.push(machine);
    yield;
  }
  return yield* sortInSlices(
    machines,
    (left, right) => Number(right.initialized) - Number(left.initialized) || (left.name < right.name ? -1 : 1),
  );
}

function derivedState(objects: ClusterObjects): NodeStateEntry[] {
  const machines = joinMachines(objects.nodes.values(), objects.nodeClaims.values());
  return machines.map(({ node, claim }) => ({
    ...(node === undefined ? {} : { node: node.metadata.name }),
    ...(claim === undefined ? {} : { nodeClaim: claim.metadata.name }),
  }));
}

/** Entries about the same machine become one; a Node without a named claim finds it by provider id. */
function* joined(entries: readonly NodeStateEntry[], objects: ClusterObjects): Sliced<NodeStateEntry[]> {
  const claimed = new Set(entries.map((entry) => entry.nodeClaim));
  const claimOf = new Map<string, string>();
  for (const claim of objects.nodeClaims.values()) {
    const providerID = claim.status?.providerID;
    if (providerID && !claimed.has(claim.metadata.name)) claimOf.set(providerID, claim.metadata.name);
  }
  const byProvider = new Map<string, NodeStateEntry>();
  const result: NodeStateEntry[] = [];
  for (const original of entries) {
    yield;
    const providerID =
      original.providerID ??
      objects.nodes.get(original.node ?? '')?.spec?.providerID ??
      objects.nodeClaims.get(original.nodeClaim ?? '')?.status?.providerID;
    const entry: NodeStateEntry = { ...original };
    const other = providerID ? byProvider.get(providerID) : undefined;
    if (
      other &&
      (other.node === undefined || entry.node === undefined) &&
      (other.nodeClaim === undefined || entry.nodeClaim === undefined)
    ) {
      Object.assign(other, entry);
      continue;
    }
    if (entry.nodeClaim === undefined && providerID && claimOf.has(providerID)) {
      entry.nodeClaim = claimOf.get(providerID) as string;
    }
    if (providerID) byProvider.set(providerID, entry);
    result.push(entry);
  }
  return result;
}

function machineOf(entry: NodeStateEntry, objects: ClusterObjects): Machine | undefined {
  const node = entry.node === undefined ? undefined : objects.nodes.get(entry.node);
  const claim = entry.nodeClaim === undefined ? undefined : objects.nodeClaims.get(entry.nodeClaim);
  if (node === undefined && claim === undefined) return undefined;
  const registered = isRegistered({ node, claim });
  const initialized =
    claim === undefined || node === undefined || entry.initialized === undefined
      ? isInitialized({ node, claim })
      : entry.initialized;
  const speaker = node !== undefined && registered ? node : (claim as NodeClaim);
  const labels = speaker.metadata.labels ?? {};
  const name = speaker.metadata.name;
  return {
    node,
    claim,
    name,
    hostname: labels[label.hostname] || name,
    initialized,
    leaving: entry.markedForDeletion === true || isLeaving({ node, claim }),
    labels,
    taints: taintsOf(node !== undefined && registered ? node : undefined, claim, initialized),
    allocatable: reportedResources(node?.status?.allocatable, claim?.status?.allocatable, initialized),
    capacity: reportedResources(node?.status?.capacity, claim?.status?.capacity, initialized),
  };
}

/** A machine that reboots comes back: what keeps pods off it meanwhile does not count. */
function taintsOf(node: Node | undefined, claim: NodeClaim | undefined, initialized: boolean): readonly Taint[] {
  const taints = node === undefined ? (claim?.spec?.taints ?? []) : (node.spec?.taints ?? []);
  if (claim === undefined || (initialized && !conditionIsTrue(claim.status?.conditions, 'Rebooting'))) return taints;
  // Held back for its DaemonSets, it is open for others in a moment.
  const isHeld = node?.metadata.annotations?.[annotation.daemonSetRoom] !== undefined;
  const passing = [...(claim.spec?.startupTaints ?? []), rebooting, ...(isHeld ? [unschedulable] : [])];
  return taints.filter((each) => !isEphemeral(each) && !passing.some((known) => sameTaint(known, each)));
}
