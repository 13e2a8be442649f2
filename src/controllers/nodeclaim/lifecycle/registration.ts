// Second step: the Node that joined gets what the claim says about it, and loses the taint that kept pods away. Happens
// once: later changes of claim or node are not synced, so startup taints that were removed stay removed.
import {
  type ConditionChange,
  conditionReason,
  conditionType,
  finalizer,
  label,
  type NodeClaim,
  taint,
} from '../../../api/index.ts';
import { messageOf, parseTime } from '../../../base/index.ts';
import { isKubeError, type Node, type RegistrationHook, resources } from '../../../ports/index.ts';
import type { ControllerContext } from '../../context.ts';
import { aboutClaim } from '../../event-subjects.ts';
import { patchObject } from '../../writes.ts';
import { claimCondition, nodeNotFoundMessage, restamped, withCondition } from '../claim-conditions.ts';
import type { ClaimMetrics } from '../claim-metrics.ts';
import type { HealthReporter } from '../health-reporter.ts';
import { daemonRoom } from './daemon-room.ts';
import { whyForeignNode } from './foreign-node.ts';
import type { Step, StepResult } from './step.ts';

type Taint = { key: string; value?: string; effect: string };

/** Machines join within two minutes: after three it is worth asking the provider why one has not, and again later. */
const joinPatienceMs = 180_000;
const askAgainMs = 120_000;
/** What an event may hold, and how often the same is reported of a claim that is given up after a quarter of an hour. */
const longestEvent = 1_024;
const tellAgainMs = 600_000;
/** For hooks that do not say when to ask again. */
const hookRetryMs = 5_000;

export function registration(context: ControllerContext, metrics: ClaimMetrics, health: HealthReporter): Step {
  const { clock, cloud, cluster, kube, log, recorder } = context;
  const room = daemonRoom(context);
  const hooks = cloud.registrationHooks ?? [];

  const set = (claim: NodeClaim, change: Omit<ConditionChange, 'type'>): NodeClaim =>
    withCondition(claim, { type: conditionType.registered, ...change }, clock.now());

  const write = async (before: Node, after: Node): Promise<Node> => {
    const written = await patchObject(kube, resources.nodes, before, after, { locked: true });
    if (written !== before) cluster.setNode(written);
    return written;
  };

  const tellMissingTaint = (claim: NodeClaim, node: Node): void => {
    const message = `Missing ${taint.unregistered.key} taint which prevents registration related race conditions on Karpenter-managed nodes`;
    log.error(message, taint.unregistered.key, {
      controller: 'nodeclaim.lifecycle',
      NodeClaim: { name: claim.metadata.name },
      Node: { name: node.metadata.name },
    });
    recorder.publish({ subject: aboutClaim(claim), type: 'Warning', reason: 'UnregisteredTaintMissing', message });
  };

  const register = async (found: NodeClaim, joined: Node): Promise<StepResult> => {
    let [claim, node] = [found, joined];
    const isNew = node.metadata.labels?.[label.registered] === undefined;
    if (isNew && !hasTaint(node, taint.unregistered)) tellMissingTaint(claim, node);
    if (hooks.length > 0) {
      // Written before the hooks are asked, so that they and everybody else see a node that is owned and tainted.
      node = await write(node, synced(node, claim));
      const answers = await askHooks(hooks, claim);
      claim = withLabels(claim, answers.labels);
      if (answers.pending.length > 0) {
        const reason = conditionReason.registrationHookPending;
        return {
          claim: set(claim, { status: 'Unknown', reason, message: answers.pending.join(', ') }),
          ...(answers.retryMs === undefined ? {} : { againMs: answers.retryMs }),
          ...(answers.error === undefined ? {} : { error: answers.error }),
        };
      }
    }
    const joinedNode = registered(synced(node, claim));
    await write(node, isNew ? room.held(joinedNode) : joinedNode);
    const named: NodeClaim = { ...claim, status: { ...claim.status, nodeName: node.metadata.name ?? '' } };
    const afterWrite = async (): Promise<void> => {
      log.info('registered nodeclaim', {
        controller: 'nodeclaim.lifecycle',
        NodeClaim: { name: claim.metadata.name },
        Node: { name: node.metadata.name },
        'provider-id': claim.status?.providerID,
      });
      const { nodepool, zone } = metrics.labelsOf(claim);
      metrics.nodesCreated.add({ nodepool, zone });
      await health.succeeded(claim);
    };
    return { claim: set(named, { status: 'True' }), afterWrite };
  };

  const missing = async (claim: NodeClaim): Promise<StepResult> => {
    const reported = (message: string): NodeClaim =>
      set(claim, { status: 'Unknown', reason: conditionReason.nodeNotFound, message });
    const launched = claimCondition(claim, conditionType.launched);
    const launchedMs = launched?.status === 'True' ? parseTime(launched.lastTransitionTime) : undefined;
    if (launchedMs === undefined || cloud.whyNotJoined === undefined) return { claim: reported(nodeNotFoundMessage) };
    const patienceMs = launchedMs + joinPatienceMs - clock.now();
    if (patienceMs > 0) return { claim: reported(nodeNotFoundMessage), againMs: patienceMs };
    const why = await cloud.whyNotJoined(claim).catch((error: unknown) => {
      log.debug('cannot tell why a node has not joined', {
        NodeClaim: { name: claim.metadata.name },
        error: messageOf(error),
      });
      return undefined;
    });
    if (why === undefined) return { claim: reported(nodeNotFoundMessage), againMs: askAgainMs };
    const message = `${nodeNotFoundMessage}: ${why}`;
    recorder.publish({
      subject: aboutClaim(claim),
      type: 'Warning',
      reason: 'NodeNotRegistered',
      message: message.slice(0, longestEvent),
      dedupeMs: tellAgainMs,
    });
    return { claim: reported(message), againMs: askAgainMs };
  };

  return async (claim) => {
    if (claimCondition(claim, conditionType.registered)?.status !== 'Unknown') {
      return { claim: restamped(claim, conditionType.registered, clock.now()) };
    }
    const nodes = cluster.nodes.filedUnder(claim.status?.providerID ?? '');
    const [node] = nodes;
    if (node === undefined) return missing(claim);
    if (nodes.length > 1) {
      const { multipleNodesFound } = conditionReason;
      const message = 'Invariant violated, matched multiple nodes';
      return { claim: set(claim, { status: 'False', reason: multipleNodesFound, message }) };
    }
    // While the provider does not answer, what joins is taken for what it says: a cluster works on without its cloud.
    const why = await whyForeignNode(context, claim, node).catch((error: unknown) => {
      if (isKubeError(error)) throw error;
      return undefined;
    });
    if (why !== undefined) {
      const reason = conditionReason.instanceForeign;
      return { claim: set(claim, { status: 'Unknown', reason, message: why }), againMs: askAgainMs };
    }
    return register(claim, node);
  };
}

interface HookAnswers {
  /** Names of hooks that are not ready or failed, in the provider's order. */
  pending: string[];
  /** The shortest wait any of them asked for. */
  retryMs?: number;
  error?: unknown;
  labels: Record<string, string>;
}

async function askHooks(hooks: readonly RegistrationHook[], claim: NodeClaim): Promise<HookAnswers> {
  const answers: HookAnswers = { pending: [], labels: {} };
  const results = await Promise.allSettled(hooks.map((hook) => hook.isReady(claim)));
  for (const [index, result] of results.entries()) {
    const name = hooks[index]?.name ?? '';
    if (result.status === 'rejected') {
      answers.pending.push(name);
      answers.error ??= result.reason;
      continue;
    }
    const { ready, retryMs, labels } = result.value;
    Object.assign(answers.labels, labels);
    if (ready) continue;
    answers.pending.push(name);
    answers.retryMs = Math.min(answers.retryMs ?? Number.POSITIVE_INFINITY, retryMs ?? hookRetryMs);
  }
  return answers;
}

function withLabels(claim: NodeClaim, labels: Record<string, string>): NodeClaim {
  if (Object.keys(labels).length === 0) return claim;
  return { ...claim, metadata: { ...claim.metadata, labels: { ...claim.metadata.labels, ...labels } } };
}

/** What the claim knows, on the node: finalizer, owner, taints, labels, annotations. The claim wins. */
function synced(node: Node, claim: NodeClaim): Node {
  const { metadata } = node;
  const owners = metadata.ownerReferences ?? [];
  const isOwned = owners.some((owner) => owner.uid === claim.metadata.uid);
  const owner = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    name: claim.metadata.name ?? '',
    uid: claim.metadata.uid ?? '',
    blockOwnerDeletion: true,
  };
  const finalizers = metadata.finalizers ?? [];
  const keepsTaints = metadata.labels?.[label.doNotSyncTaints] === 'true';
  const added = keepsTaints ? [] : [...(claim.spec.taints ?? []), ...(claim.spec.startupTaints ?? [])];
  return {
    ...node,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...claim.metadata.labels },
      annotations: { ...metadata.annotations, ...claim.metadata.annotations },
      finalizers: finalizers.includes(finalizer.termination) ? finalizers : [...finalizers, finalizer.termination],
      ownerReferences: isOwned ? owners : [...owners, owner],
    },
    spec: {
      ...node.spec,
      taints: mergedTaints(node.spec?.taints ?? [], added),
    },
  };
}

function registered(node: Node): Node {
  const { key, effect } = taint.unregistered;
  const taints = (node.spec?.taints ?? []).filter((each) => each.key !== key || each.effect !== effect);
  return {
    ...node,
    metadata: { ...node.metadata, labels: { ...node.metadata.labels, [label.registered]: 'true' } },
    spec: { ...node.spec, taints },
  };
}

function mergedTaints(present: readonly Taint[], added: readonly Taint[]): Taint[] {
  const isPresent = (taint: Taint): boolean =>
    present.some((each) => each.key === taint.key && each.effect === taint.effect);
  return [...present, ...added.filter((each) => !isPresent(each))];
}

function hasTaint(node: Node, wanted: { key: string; effect: string }): boolean {
  return node.spec?.taints?.some((each) => each.key === wanted.key && each.effect === wanted.effect) ?? false;
}
