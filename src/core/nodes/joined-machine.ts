// A machine as its Node and its NodeClaim describe it together: which of them belong together, and what the pair says.
// The model of the controller, the planner and snapshots taken from outside all ask here.
//
// 1. A Node and a NodeClaim with one provider id are one machine.
// 2. A Node without a claim counts as registered and initialized: labels that say so will not come.
// 3. A machine leaves when its claim does, or, without a claim, when its Node does.
// 4. Until it is initialized, the claim speaks for resources that the kubelet does not report yet.

import { label } from '../../api/names.ts';
import { conditionOf, parseQuantity, quantityIn } from '../../base/index.ts';
import type { ResourceQuantities } from '../snapshot.ts';

interface Meta {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly deletionTimestamp?: string | undefined;
}

export interface MachineNode {
  readonly metadata: Meta;
  readonly spec?: { readonly providerID?: string | undefined } | undefined;
}

export interface MachineClaim {
  readonly metadata: Meta;
  readonly status?:
    | {
        readonly providerID?: string | undefined;
        readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] | undefined;
      }
    | undefined;
}

export interface JoinedMachine<N = MachineNode, C = MachineClaim> {
  readonly node: N | undefined;
  readonly claim: C | undefined;
}

/** One entry per Node, in their order, then one per launched NodeClaim that no Node has the provider id of. */
export function joinMachines<N extends MachineNode, C extends MachineClaim>(
  nodes: Iterable<N>,
  claims: Iterable<C>,
): JoinedMachine<N, C>[] {
  const launched = new Map<string, C>();
  for (const claim of claims) if (claim.status?.providerID) launched.set(claim.status.providerID, claim);
  const machines: JoinedMachine<N, C>[] = [];
  for (const node of nodes) {
    const providerID = node.spec?.providerID ?? '';
    machines.push({ node, claim: launched.get(providerID) });
    launched.delete(providerID);
  }
  for (const claim of launched.values()) machines.push({ node: undefined, claim });
  return machines;
}

export function isRegistered({ node, claim }: JoinedMachine): boolean {
  return claim === undefined || node?.metadata.labels?.[label.registered] === 'true';
}

export function isInitialized({ node, claim }: JoinedMachine): boolean {
  return claim === undefined || node?.metadata.labels?.[label.initialized] === 'true';
}

export function isLeaving({ node, claim }: JoinedMachine): boolean {
  return claim === undefined ? isDeleted(node) : isClaimLeaving(claim);
}

export function isClaimLeaving(claim: MachineClaim): boolean {
  return isDeleted(claim) || conditionOf(claim.status?.conditions, 'InstanceTerminating')?.status === 'True';
}

function isDeleted(object: { readonly metadata: Meta } | undefined): boolean {
  return Boolean(object?.metadata.deletionTimestamp);
}

/** A kubelet reports zero for devices whose plugin is not up yet; until initialized the claim's figures fill in. */
export function reportedResources(
  own: ResourceQuantities | undefined,
  claimed: ResourceQuantities | undefined,
  initialized: boolean,
): ResourceQuantities {
  if (initialized || claimed === undefined) return own ?? {};
  const result: ResourceQuantities = { ...own };
  for (const [name, quantity] of Object.entries(claimed)) {
    const known = result[name];
    if (known === undefined || quantityIn('milli', parseQuantity(known)) === 0) result[name] = quantity;
  }
  return result;
}
