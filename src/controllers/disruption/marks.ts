// The marks a command leaves on the nodes it takes: a taint that keeps new pods away and a condition that says why. They
// are put on before anything else happens, and taken off when the command fails or its process died.
import { conditionType, type NodeClaim, taint } from '../../api/index.ts';
import { type Node, resources } from '../../ports/index.ts';
import { isLeaving } from '../../state/index.ts';
import type { ControllerContext } from '../context.ts';
import { claimCondition, withCondition, withoutCondition } from '../nodeclaim/claim-conditions.ts';
import { nodeClaims } from '../own-resources.ts';
import { patchObject, patchStatus } from '../writes.ts';

type Marking = Pick<ControllerContext, 'cluster' | 'kube' | 'clock'>;

const isMark = (each: { key: string; effect?: string }): boolean => each.key === taint.disrupted.key;

export async function putMarks({ cluster, kube, clock }: Marking, claimName: string, reason: string): Promise<void> {
  const machine = cluster.machines.ofClaim(claimName);
  const { node, claim } = machine ?? {};
  if (node === undefined || claim === undefined) throw new Error(`NodeClaim ${claimName} has no node any more`);
  if (!node.spec?.taints?.some(isMark)) {
    const taints = [...(node.spec?.taints ?? []), { ...taint.disrupted }];
    cluster.setNode(await patchTaints(kube, node, taints));
  }
  const change = { type: conditionType.disruptionReason, status: 'True' as const, reason, message: reason };
  const marked = withCondition(claim, change, clock.now());
  cluster.setClaim(await patchStatus(kube, nodeClaims, claim, marked));
}

export async function removeMarks({ cluster, kube, clock }: Marking, claimName: string): Promise<void> {
  const { node, claim } = cluster.machines.ofClaim(claimName) ?? {};
  if (node?.spec?.taints?.some(isMark)) {
    const taints = node.spec.taints.filter((each) => !isMark(each));
    cluster.setNode(await patchTaints(kube, node, taints));
  }
  if (claim !== undefined && claimCondition(claim, conditionType.disruptionReason) !== undefined) {
    const clean = withoutCondition(claim, conditionType.disruptionReason, clock.now());
    cluster.setClaim(await patchStatus(kube, nodeClaims, claim, clean));
  }
}

/** Takes the marks off nodes that no command is about: what a failed command or a process that died left behind. */
export async function removeLeftovers(context: ControllerContext, isQueued: (claim: string) => boolean): Promise<void> {
  for (const machine of context.cluster.machines.all()) {
    const { claim, node } = machine;
    const name = claim?.metadata.name ?? '';
    if (claim === undefined || isQueued(name) || isLeaving(machine) || !isMarked(claim, node)) continue;
    // A reboot is no one's command any more, and its claim says why until it is over.
    if (claimCondition(claim, conditionType.rebooting)?.status === 'True') continue;
    await removeMarks(context, name);
  }
}

function isMarked(claim: NodeClaim, node: Node | undefined): boolean {
  return (
    (node?.spec?.taints?.some(isMark) ?? false) || claimCondition(claim, conditionType.disruptionReason) !== undefined
  );
}

function patchTaints(
  kube: ControllerContext['kube'],
  node: Node,
  taints: { key: string; effect: string }[],
): Promise<Node> {
  const changed = { ...node, spec: { ...node.spec, taints } } as Node;
  return patchObject(kube, resources.nodes, node, changed, { locked: true });
}
