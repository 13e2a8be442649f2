// nodeclaim.hydration: claims made before the node class label existed get it, so that they count as ours everywhere.
import { done } from '../../runtime/index.ts';
import type { Controller, ControllerContext } from '../context.ts';
import { nodeClassLabel } from '../managed.ts';
import { nodeClaims } from '../own-resources.ts';
import { patchObject } from '../writes.ts';
import { claimController } from './claim-controller.ts';

export function claimHydrationController(context: ControllerContext): Controller {
  const { cluster, kube } = context;
  return claimController('nodeclaim.hydration', context, async (claim) => {
    const key = nodeClassLabel(claim.spec.nodeClassRef);
    if (claim.metadata.labels?.[key] !== undefined) return done;
    const labels = { ...claim.metadata.labels, [key]: claim.spec.nodeClassRef.name };
    const next = { ...claim, metadata: { ...claim.metadata, labels } };
    cluster.setClaim(await patchObject(kube, nodeClaims, claim, next));
    return done;
  });
}
