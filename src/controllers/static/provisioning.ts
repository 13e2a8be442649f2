// static.provisioning: a pool with `replicas` gets that many nodes, pods or not, as far as its node limit allows.
import { conditionType, isTrue, label, type NodeClaim, type NodePool, normalizedLabels } from '../../api/index.ts';
import type { ProviderFacts, RequirementSpec } from '../../core/index.ts';
import { done } from '../../runtime/index.ts';
import { again, type Controller, type ControllerContext, source } from '../context.ts';
import { nodeClassLabel } from '../managed.ts';
import { poolController } from '../nodepool/pool-controller.ts';
import { nodeClaims } from '../own-resources.ts';
import { createFromTemplate } from '../provisioning/create-node-claim.ts';
import { provisioningMetrics } from '../provisioning/metrics.ts';
import { claimFromTemplate } from '../provisioning/node-claim.ts';
import type { NodeCounts } from './node-counts.ts';
import { Setbacks } from './setbacks.ts';

const recheckMs = 60_000;
const limitReachedMs = 30_000;

export function staticProvisioningController(context: ControllerContext, counts: NodeCounts): Controller {
  const { cluster, cloud, clock, log } = context;
  const name = 'static.provisioning';
  const { created } = provisioningMetrics(context.metrics);
  const setbacks = new Setbacks();

  const create = async (pool: NodePool): Promise<void> => {
    const nodepool = pool.metadata.name ?? '';
    try {
      const author = { controller: name, reason: 'provisioned', created };
      const claim = await createFromTemplate(context, templateClaim(pool, cloud.facts), author);
      setbacks.created(nodepool, claim.metadata.name ?? '');
    } finally {
      counts.release(pool, 1);
    }
  };

  return poolController(
    name,
    context,
    async (pool) => {
      const { replicas } = pool.spec;
      if (replicas === undefined || pool.metadata.deletionTimestamp !== undefined) return done;
      if (!isTrue(pool.status?.conditions, conditionType.ready)) return done;
      if (!cluster.synced) return again(1_000);
      const poolName = pool.metadata.name ?? '';
      const pausedUntilMs = cluster.launchBackoff.pauseOf(pool.metadata.uid ?? '')?.untilMs ?? 0;
      const waitMs = Math.max(
        setbacks.waitMs(poolName, (claim) => cluster.claims.get(claim), clock.elapsed()),
        pausedUntilMs - clock.now(),
      );
      const { active, pendingDisruption } = counts.of(poolName);
      if (active.length + pendingDisruption >= replicas) return again(recheckMs);
      if (waitMs > 0) return again(waitMs);
      const granted = counts.reserve(pool, replicas - active.length);
      if (granted === 0) {
        log.info('nodepool node limit reached', { controller: name, NodePool: { name: poolName } });
        return again(limitReachedMs);
      }
      const outcomes = await Promise.allSettled(Array.from({ length: granted }, () => create(pool)));
      const failed = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return again(recheckMs);
    },
    [source(nodeClaims, ({ before, after }) => (isLoss(before, after) ? poolOf(before) : []))],
  );
}

/** The claim the template alone asks for: its requirements and labels, no pods, nothing chosen. */
export function templateClaim(pool: NodePool, facts: ProviderFacts): NodeClaim {
  const { metadata, spec } = pool.spec.template;
  const aliases: Readonly<Record<string, string>> = { ...normalizedLabels, ...facts.normalizedLabels };
  const labels = {
    ...metadata?.labels,
    [label.nodePool]: pool.metadata.name ?? '',
    [nodeClassLabel(spec.nodeClassRef)]: spec.nodeClassRef.name,
  };
  const requirements: RequirementSpec[] = [
    ...spec.requirements.map((each) => ({ ...each, key: aliases[each.key] ?? each.key })),
    ...Object.entries(labels).map(([key, value]): RequirementSpec => ({ key, operator: 'In', values: [value] })),
  ];
  return claimFromTemplate({ pool, instanceTypes: [], facts }, requirements);
}

/** A claim began to leave, or is gone: someone has to take its place. */
function isLoss(before: NodeClaim | undefined, after: NodeClaim | undefined): boolean {
  const isStaying = (claim: NodeClaim | undefined): boolean =>
    claim !== undefined && claim.metadata.deletionTimestamp === undefined;
  return before !== undefined && (after === undefined || (isStaying(before) && !isStaying(after)));
}

function poolOf(claim: NodeClaim | undefined): string[] {
  const pool = claim?.metadata.labels?.[label.nodePool];
  return pool === undefined ? [] : [pool];
}
