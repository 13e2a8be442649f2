// The machines of the cluster: a Node, the NodeClaim it came from, or both, joined. Until a managed node is registered its
// claim speaks for it, and until it is initialised its start-up taints and unreported resources are taken as they will be.

import { annotation, label, taint } from '../../api/names.ts';
import type { ClusterObjects } from '../kube/cluster-objects.ts';
import { conditionIsTrue, type Labels, type Node, type NodeClaim, type Taint } from '../kube/objects.ts';
import { isEphemeral, sameTaint } from '../kube/taints.ts';
import type { ResourceTable } from '../resources/resource-table.ts';
import type { NodeStateEntry, ResourceQuantities, Snapshot } from '../snapshot.ts';

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
export function machinesOf(snapshot: Snapshot, objects: ClusterObjects, resources: ResourceTable): Machine[] {
  const entries = snapshot.nodeState ?? derivedState(objects);
  const machines = joined(entries, objects).map((entry) => machineOf(entry, objects, resources));
  return machines
    .filter((machine) => machine !== undefined)
    .sort((left, right) => Number(right.initialized) - Number(left.initialized) || (left.name < right.name ? -1 : 1));
}

function derivedState(objects: ClusterObjects): NodeStateEntry[] {
  const byProvider = new Map<string, NodeStateEntry>();
  const entries: NodeStateEntry[] = [];
  for (const claim of objects.nodeClaims.values()) {
    const providerID = claim.status?.providerID;
    if (!providerID) continue;
    const entry: NodeStateEntry = { nodeClaim: claim.metadata.name, providerID };
    byProvider.set(providerID, entry);
    entries.push(entry);
  }
  for (const node of objects.nodes.values()) {
    const known = node.spec?.providerID ? byProvider.get(node.spec.providerID) : undefined;
    if (known && known.node === undefined) known.node = node.metadata.name;
    else entries.push({ node: node.metadata.name });
  }
  return entries;
}

/** Entries about the same machine become one; a Node without a named claim finds it by provider id. */
function joined(entries: readonly NodeStateEntry[], objects: ClusterObjects): NodeStateEntry[] {
  const claimed = new Set(entries.map((entry) => entry.nodeClaim));
  const claimOf = new Map<string, string>();
  for (const claim of objects.nodeClaims.values()) {
    const providerID = claim.status?.providerID;
    if (providerID && !claimed.has(claim.metadata.name)) claimOf.set(providerID, claim.metadata.name);
  }
  const byProvider = new Map<string, NodeStateEntry>();
  const result: NodeStateEntry[] = [];
  for (const original of entries) {
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

function machineOf(entry: NodeStateEntry, objects: ClusterObjects, resources: ResourceTable): Machine | undefined {
  const node = entry.node === undefined ? undefined : objects.nodes.get(entry.node);
  const claim = entry.nodeClaim === undefined ? undefined : objects.nodeClaims.get(entry.nodeClaim);
  if (node === undefined && claim === undefined) return undefined;
  const registered = claim === undefined || node?.metadata.labels?.[label.registered] === 'true';
  const initialized =
    claim === undefined ||
    (node !== undefined && (entry.initialized ?? node.metadata.labels?.[label.initialized] === 'true'));
  const speaker = node !== undefined && registered ? node : (claim as NodeClaim);
  const labels = speaker.metadata.labels ?? {};
  const name = speaker.metadata.name;
  return {
    node,
    claim,
    name,
    hostname: labels[label.hostname] || name,
    initialized,
    leaving: entry.markedForDeletion === true || isGoing(node, claim),
    labels,
    taints: taintsOf(node !== undefined && registered ? node : undefined, claim, initialized),
    allocatable: reported(node?.status?.allocatable, claim?.status?.allocatable, initialized, resources),
    capacity: reported(node?.status?.capacity, claim?.status?.capacity, initialized, resources),
  };
}

function isGoing(node: Node | undefined, claim: NodeClaim | undefined): boolean {
  if (claim !== undefined) {
    return (
      Boolean(claim.metadata.deletionTimestamp) || conditionIsTrue(claim.status?.conditions, 'InstanceTerminating')
    );
  }
  return Boolean(node?.metadata.deletionTimestamp);
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

/** A kubelet reports zero for devices whose plugin is not up yet; until initialised the claim's figures fill in. */
function reported(
  own: ResourceQuantities | undefined,
  claimed: ResourceQuantities | undefined,
  initialized: boolean,
  resources: ResourceTable,
): ResourceQuantities {
  if (initialized || claimed === undefined) return own ?? {};
  const result: ResourceQuantities = { ...own };
  for (const [name, quantity] of Object.entries(claimed)) {
    const known = result[name];
    if (known === undefined || resources.amount(name, known) === 0) result[name] = quantity;
  }
  return result;
}
