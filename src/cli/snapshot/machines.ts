// What a controller would know about each machine, worked out from the objects alone: which Node and NodeClaim are one
// machine, whether it is ready to take pods, whether it is on its way out.
import { label, taint } from '../../api/names.ts';
import {
  isClaimLeaving,
  isInitialized,
  isLeaving,
  joinMachines,
  type MachineClaim,
  type MachineNode,
  type NodeStateEntry,
  type SnapshotObject,
} from '../../core/index.ts';

interface NodeObject extends SnapshotObject, MachineNode {
  metadata: SnapshotObject['metadata'] & MachineNode['metadata'] & { name: string };
  spec?: { providerID?: string; taints?: { key: string; effect?: string }[] };
}

interface ClaimObject extends SnapshotObject, MachineClaim {
  metadata: SnapshotObject['metadata'] & MachineClaim['metadata'] & { name: string };
}

/** One entry per Node, and per NodeClaim that has no Node yet, launched or not. `nominated`: as the controller says. */
export function machinesOf(
  objects: readonly SnapshotObject[],
  nominated: ReadonlySet<string> = new Set(),
): NodeStateEntry[] {
  return entriesOf(objects).map((entry) =>
    nominated.has(entry.node ?? entry.nodeClaim ?? '') ? { ...entry, nominated: true } : entry,
  );
}

function entriesOf(objects: readonly SnapshotObject[]): NodeStateEntry[] {
  const nodes = objects.filter(({ kind }) => kind === 'Node') as NodeObject[];
  const claims = objects.filter(({ kind }) => kind === 'NodeClaim') as ClaimObject[];
  const entries = joinMachines(nodes, claims).map(({ node, claim }) => entryOf(node, claim));
  // Made for pods that wait, and not launched yet: their pods need no second node.
  for (const claim of claims) {
    if (!claim.status?.providerID && !isClaimLeaving(claim)) entries.push(entryOf(undefined, claim));
  }
  return entries;
}

function entryOf(node: NodeObject | undefined, claim: ClaimObject | undefined): NodeStateEntry {
  const providerID = node?.spec?.providerID ?? claim?.status?.providerID;
  return {
    ...(node === undefined ? {} : { node: node.metadata.name }),
    ...(claim === undefined ? {} : { nodeClaim: claim.metadata.name }),
    ...(providerID ? { providerID } : {}),
    initialized: node !== undefined && isReady(node, claim),
    markedForDeletion: isLeaving({ node, claim }) || isOnItsWayOut(node),
  };
}

/** A Node of a pool whose NodeClaim was not read is ready when it is labelled so. */
function isReady(node: NodeObject, claim: ClaimObject | undefined): boolean {
  const { labels } = node.metadata;
  if (claim === undefined && labels?.[label.nodePool] !== undefined) return labels[label.initialized] === 'true';
  return isInitialized({ node, claim });
}

/** What a controller would remember of a command it started is seen on the Node. */
function isOnItsWayOut(node: NodeObject | undefined): boolean {
  if (node?.metadata.deletionTimestamp !== undefined) return true;
  return node?.spec?.taints?.some(({ key }) => key === taint.disrupted.key) ?? false;
}
