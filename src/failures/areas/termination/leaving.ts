// Nodes and claims that are being deleted and wait for the controller's finalizer.
import { ageMs, type Evidence } from '../../evidence.ts';
import { controllerDeployments, controllerPods } from '../../facts.ts';
import { numberAt, textAt, textsAt } from '../../fields.ts';
import { isDeleting, type Stored } from '../../objects.ts';

export const finalizer = 'karpenter.sh/termination';

export function leaving({ objects }: Evidence): Stored[] {
  return ['NodeClaim', 'Node', 'Machine'].flatMap((kind) =>
    objects
      .of(kind)
      .filter(({ object }) => isDeleting(object) && textsAt(object, 'metadata', 'finalizers').includes(finalizer)),
  );
}

export function deletedMsAgo(evidence: Evidence, { object }: Stored): number | undefined {
  return ageMs(evidence, textAt(object, 'metadata', 'deletionTimestamp'));
}

/** `gone`: looked for and not there; `stopped`: there, without a replica; undefined: not collected. */
export function controllerState(evidence: Evidence): 'running' | 'gone' | 'stopped' | undefined {
  const deployments = controllerDeployments(evidence);
  if (deployments.some(({ object }) => (numberAt(object, 'spec', 'replicas') ?? 1) > 0)) return 'running';
  if (controllerPods(evidence).length > 0) return 'running';
  if (deployments.length > 0) return 'stopped';
  return evidence.objects.isCollected('Deployment') ? 'gone' : undefined;
}
