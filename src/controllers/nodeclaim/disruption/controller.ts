// nodeclaim.disruption: keeps the conditions up to date that disruption goes by, Drifted and Consolidatable.
import { label, type NodeClaim } from '../../../api/index.ts';
import type { KubeObject } from '../../../ports/index.ts';
import { done } from '../../../runtime/index.ts';
import { again, type Controller, type ControllerContext, source, untrustedClockMs } from '../../context.ts';
import { nodeClaims, nodePools } from '../../own-resources.ts';
import { patchStatus } from '../../writes.ts';
import { claimController } from '../claim-controller.ts';
import { markConsolidatable } from './consolidatable.ts';
import { DriftMarking } from './drift.ts';

/** Providers and pools may change without anybody telling the claim. */
const recheckMs = 300_000;

export function claimDisruptionController(context: ControllerContext): Controller {
  const { clock, cloud, cluster, kube, time } = context;
  const drift = new DriftMarking(context);

  const claimsWhere = (isMeant: (claim: NodeClaim) => boolean): string[] =>
    cluster.claims
      .list()
      .filter(isMeant)
      .map((claim) => claim.metadata.name ?? '');

  /** Whoever asks for something else, or selects something else, may leave machines behind. */
  const ofPool = source(nodePools, ({ before, after }) => {
    if (isSame(before, after)) return [];
    const name = (after ?? before)?.metadata.name;
    return claimsWhere(({ metadata }) => metadata.labels?.[label.nodePool] === name);
  });
  const ofClasses = cloud.nodeClasses.map((resource) =>
    source(resource, ({ before, after }) => {
      if (isSame(before, after) && isEqual(selected(before), selected(after))) return [];
      const name = (after ?? before)?.metadata.name;
      return claimsWhere(({ spec: { nodeClassRef: ref } }) => ref.name === name && ref.kind === resource.kind);
    }),
  );

  return claimController(
    'nodeclaim.disruption',
    context,
    async (claim: NodeClaim) => {
      if (claim.metadata.deletionTimestamp !== undefined) {
        drift.forget(claim.metadata.uid ?? '');
        return done;
      }
      if (time.problem() !== undefined) return again(untrustedClockMs);
      const pool = cluster.nodePools.get(claim.metadata.labels?.[label.nodePool] ?? '');
      const judged = await drift.mark(claim, pool);
      const marked = markConsolidatable(judged, pool, clock.now());
      const written = await patchStatus(kube, nodeClaims, claim, marked.claim);
      if (written !== claim) {
        cluster.setClaim(written);
        // A node that may be consolidated from now on is news to consolidation.
        cluster.changed();
      }
      return again(Math.min(recheckMs, marked.againMs ?? recheckMs));
    },
    [ofPool, ...ofClasses],
  );
}

/** Only what the object asks for matters, not how full or how ready it is. */
function isSame(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  return (
    before !== undefined &&
    after !== undefined &&
    before.metadata.generation === after.metadata.generation &&
    isEqual(before.metadata.annotations, after.metadata.annotations)
  );
}

/** What a class says it found. */
function selected(nodeClass: (KubeObject & { status?: object }) | undefined): object {
  return { ...nodeClass?.status, conditions: undefined };
}

const isEqual = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right);
