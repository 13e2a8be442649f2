// What a controller would know about each machine, worked out from the objects alone: which Node and NodeClaim are one
// machine, whether it is ready to take pods, whether it is on its way out.
import { label, taint } from '../../api/names.ts';
import type { NodeStateEntry, SnapshotObject } from '../../core/index.ts';

interface NodeShape {
  spec?: { providerID?: string; taints?: { key: string; effect?: string }[] };
}

interface ClaimShape {
  status?: { providerID?: string; nodeName?: string; conditions?: { type: string; status?: string }[] };
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
  const claims = new Map<string, SnapshotObject>();
  for (const object of objects) {
    const providerID = object.kind === 'NodeClaim' ? claimStatus(object).providerID : undefined;
    if (providerID) claims.set(providerID, object);
  }
  const entries: NodeStateEntry[] = [];
  for (const node of objects) {
    if (node.kind !== 'Node') continue;
    const providerID = (node as NodeShape).spec?.providerID;
    const claim = providerID === undefined ? undefined : claims.get(providerID);
    if (providerID !== undefined) claims.delete(providerID);
    entries.push(entryOf(node, claim, providerID));
  }
  for (const [providerID, claim] of claims) entries.push(entryOf(undefined, claim, providerID));
  // Made for pods that wait, and not launched yet: their pods need no second node.
  for (const claim of objects) {
    const isLaunching = claim.kind === 'NodeClaim' && !claimStatus(claim).providerID;
    if (isLaunching && claim.metadata['deletionTimestamp'] === undefined)
      entries.push(entryOf(undefined, claim, undefined));
  }
  return entries;
}

function entryOf(
  node: SnapshotObject | undefined,
  claim: SnapshotObject | undefined,
  providerID: string | undefined,
): NodeStateEntry {
  const labels = node?.metadata['labels'] as Record<string, string> | undefined;
  const managed = claim !== undefined || labels?.[label.nodePool] !== undefined;
  return {
    ...(node === undefined ? {} : { node: node.metadata.name }),
    ...(claim === undefined ? {} : { nodeClaim: claim.metadata.name }),
    ...(providerID === undefined ? {} : { providerID }),
    initialized: node !== undefined && (!managed || labels?.[label.initialized] === 'true'),
    markedForDeletion: isLeaving(node, claim),
  };
}

function isLeaving(node: SnapshotObject | undefined, claim: SnapshotObject | undefined): boolean {
  if (node?.metadata['deletionTimestamp'] !== undefined || claim?.metadata['deletionTimestamp'] !== undefined)
    return true;
  return (node as NodeShape | undefined)?.spec?.taints?.some(({ key }) => key === taint.disrupted.key) ?? false;
}

function claimStatus(claim: SnapshotObject): NonNullable<ClaimShape['status']> {
  return (claim as ClaimShape).status ?? {};
}
