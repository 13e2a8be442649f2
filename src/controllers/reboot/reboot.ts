// nodeclaim.reboot: carries out reboots that were asked for. No new pods, drain within the bound, restart the machine, see
// it come up with another boot id; each step is looked at anew from the API's objects, so a restarted process goes on where
// the last one stopped. A reboot that cannot be issued within five minutes, or seen within twenty, ends the claim.
import { annotation, conditionReason, conditionType, label, type NodeClaim, taint } from '../../api/index.ts';
import { formatTime, messageOf, parseGoDuration, parseTime } from '../../base/index.ts';
import { isCloudError, isKubeError, type Node, resources } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import { again, type Controller, type ControllerContext, ownKey, untrustedClockMs } from '../context.ts';
import { aboutClaim } from '../event-subjects.ts';
import type { EvictionQueue } from '../eviction/eviction-queue.ts';
import { drainOf } from '../node/termination/drain.ts';
import { nodesOfClaim } from '../node-and-claim.ts';
import { claimCondition, withCondition } from '../nodeclaim/claim-conditions.ts';
import { ClaimMemory } from '../nodeclaim/claim-memory.ts';
import { boundDrain } from '../nodeclaim/drain-bound.ts';
import { endClaim } from '../nodeclaim/end-claim.ts';
import { nodeClaims } from '../own-resources.ts';
import { Proofs } from '../ownership/proofs.ts';
import { storedObject } from '../ownership/stored.ts';
import { patchObject, patchStatus } from '../writes.ts';
import { type RebootResult, rebootMetrics } from './metrics.ts';

const name = 'nodeclaim.reboot';
const lookMs = 15_000;
const issueMs = 5 * 60_000;
const recoverMs = 20 * 60_000;
/** Also of an empty node: pods that were bound a moment ago show themselves. */
const leastDrainMs = 5_000;
/** Longer than a reboot: each of its events is reported once. */
const dedupeMs = 30 * 60_000;

export function rebootController(context: ControllerContext, evictions: EvictionQueue): Controller {
  const { cloud, clock, cluster, kube, log, recorder, time } = context;
  const metrics = rebootMetrics(context.metrics);
  /** When the provider was first asked, and when it agreed; lost with the process, and then begun anew. */
  const askedMs = new ClaimMemory<number>();
  const issuedMs = new ClaimMemory<number>();
  const proofs = new Proofs(clock);

  const tell = (claim: NodeClaim, type: 'Normal' | 'Warning', reason: string, message: string): void => {
    const dedupeValues = [claim.metadata.uid ?? '', String(requestedMs(claim))];
    recorder.publish({ subject: aboutClaim(claim), type, reason, message, dedupeValues, dedupeMs });
  };

  const forget = (claimName: string): void => {
    askedMs.forget(claimName);
    issuedMs.forget(claimName);
  };

  const setTaint = async (node: Node, isWanted: boolean): Promise<Node> => {
    const { key, effect } = taint.rebooting;
    const present = node.spec?.taints ?? [];
    const others = present.filter((each) => each.key !== key);
    if (isWanted === others.length < present.length) return node;
    const taints = isWanted ? [...others, { key, effect }] : others;
    const changed = { ...node, spec: { ...node.spec, taints } };
    const written = await patchObject(kube, resources.nodes, node, changed, { locked: true });
    cluster.setNode(written);
    return written;
  };

  /** What holds for a boot holds no longer. */
  const uninitialized = async (node: Node): Promise<void> => {
    if (node.metadata.labels?.[label.initialized] === undefined) return;
    const { [label.initialized]: _, ...labels } = node.metadata.labels;
    const changed = { ...node, metadata: { ...node.metadata, labels } };
    cluster.setNode(await patchObject(kube, resources.nodes, node, changed));
  };

  const write = async (claim: NodeClaim, changed: NodeClaim): Promise<NodeClaim> => {
    const written = await patchStatus(kube, nodeClaims, claim, changed);
    cluster.setClaim(written);
    return written;
  };

  const count = (claim: NodeClaim, result: RebootResult): void => {
    const seconds = (clock.now() - requestedMs(claim)) / 1000;
    metrics.reboots.add({ result });
    metrics.duration.observe(seconds, { result });
  };

  const finish = async (claim: NodeClaim, reason: string, message: string): Promise<void> => {
    const { [annotation.rebootPreBootId]: _, ...annotations } = claim.metadata.annotations ?? {};
    const clean = { ...claim, metadata: { ...claim.metadata, annotations } };
    const noted = await patchObject(kube, nodeClaims, claim, clean, { locked: true });
    const change = { type: conditionType.rebooting, status: 'False', reason, message } as const;
    await write(noted, withCondition(noted, change, clock.now()));
    forget(claim.metadata.name ?? '');
    log.info('reboot is over', { controller: name, NodeClaim: { name: claim.metadata.name }, reason });
  };

  const fail = async (
    claim: NodeClaim,
    node: Node | undefined,
    result: RebootResult,
    message: string,
  ): Promise<Outcome> => {
    if (node !== undefined) await setTaint(node, false);
    if (result === 'invalid_request') await finish(claim, conditionReason.rebootFailed, message);
    else {
      const grace = graceOf(claim);
      const bounded = typeof grace === 'number' ? await boundDrain(context, claim, grace) : claim;
      await endClaim(context, bounded, { code: conditionReason.rebootFailed, message, silent: true });
      forget(claim.metadata.name ?? '');
      log.info('reboot failed, replacing node', { controller: name, NodeClaim: { name: claim.metadata.name }, result });
    }
    tell(claim, 'Warning', conditionReason.rebootFailed, message);
    count(claim, result);
    return done;
  };

  /** By when the present step has to be over. */
  const deadlineMs = (claim: NodeClaim): number | undefined => {
    if (isIssued(claim)) return Math.max(issuedMs.get(claim) ?? 0, issuedAtMs(claim)) + recoverMs;
    const startedMs = askedMs.get(claim);
    return startedMs === undefined ? undefined : startedMs + issueMs;
  };

  /** Undefined once nothing is left to wait for. */
  const drain = (claim: NodeClaim, node: Node, graceMs: number | undefined): Outcome | undefined => {
    if (graceMs === 0) return undefined;
    const nowMs = time.cautiousNow();
    const endMs = graceMs === undefined ? undefined : requestedMs(claim) + Math.max(graceMs, leastDrainMs);
    if (endMs !== undefined && nowMs >= endMs) return undefined;
    // Without a deadline: what is left then is not deleted, it lives through the reboot.
    const { waiting, evict } = drainOf(cluster.pods.on(node.metadata.name ?? ''), nowMs, undefined);
    if (waiting > 0) {
      evictions.add(evict);
      return again(Math.min(lookMs, (endMs ?? nowMs + lookMs) - nowMs));
    }
    const leftMs = requestedMs(claim) + leastDrainMs - nowMs;
    return leftMs > 0 ? again(leftMs) : undefined;
  };

  const issued = async (claim: NodeClaim, node: Node): Promise<Outcome> => {
    const message = claimCondition(claim, conditionType.rebooting)?.message ?? '';
    const rebooting = { type: conditionType.rebooting, status: 'True', message } as const;
    const next = withCondition(claim, { ...rebooting, reason: conditionReason.rebootIssued }, clock.now());
    const initialized = { type: conditionType.initialized, status: 'Unknown', message: 'node is rebooting' } as const;
    issuedMs.set(claim, clock.now());
    await write(claim, withCondition(next, { ...initialized, reason: conditionReason.rebooting }, clock.now()));
    await uninitialized(node);
    return again(lookMs);
  };

  const requested = async (found: NodeClaim, seen: Node): Promise<Outcome> => {
    const grace = graceOf(found);
    if (typeof grace === 'string') return fail(found, seen, 'invalid_request', `invalid reboot request: ${grace}`);
    const isAsked = async (): Promise<boolean> => (await storedNow(found, seen)) !== undefined;
    if (!(await proofs.holds(found.metadata.uid ?? '', isAsked))) return again(lookMs);
    const node = await setTaint(seen, true);
    const before = found.metadata.annotations?.[annotation.rebootPreBootId];
    // It happened already: asked by a process that did not live to note it.
    if (isNewBoot(found, node)) return issued(found, node);
    let claim = found;
    if (before === undefined) {
      const waiting = drain(found, node, grace);
      if (waiting !== undefined) return waiting;
      const annotations = { ...found.metadata.annotations, [annotation.rebootPreBootId]: bootOf(node) };
      const noted = { ...found, metadata: { ...found.metadata, annotations } };
      claim = await patchObject(kube, nodeClaims, found, noted, { locked: true });
      cluster.setClaim(claim);
    }
    if (askedMs.get(claim) === undefined) askedMs.set(claim, clock.now());
    const fresh = await storedNow(claim, node);
    if (fresh === undefined) return again(lookMs);
    // It happened already, and the watch has yet to say so: a machine is not rebooted twice.
    if (isNewBoot(claim, fresh)) return issued(claim, fresh);
    if (cloud.reboot === undefined) {
      return fail(claim, node, 'provider_error', 'reboot not implemented by the cloud provider');
    }
    try {
      await cloud.reboot(claim, operationOf(claim));
    } catch (error) {
      if (!isCloudError(error, 'rebootFailed') && !isCloudError(error, 'notFound')) throw error;
      return fail(claim, node, 'provider_error', `reboot rejected by the cloud provider: ${messageOf(error)}`);
    }
    return issued(claim, node);
  };

  /** The node as it is stored; undefined if it is another one, or what is stored does not ask for this reboot any more. */
  const storedNow = async (claim: NodeClaim, node: Node): Promise<Node | undefined> => {
    const [asked, fresh] = await Promise.all([
      storedObject(context, nodeClaims, claim.metadata.name ?? ''),
      storedObject(context, resources.nodes, node.metadata.name ?? ''),
    ]);
    const isAsked =
      asked?.metadata.uid === claim.metadata.uid && asked !== undefined && isRebooting(asked) && !isIssued(asked);
    return isAsked && fresh?.metadata.uid === node.metadata.uid ? fresh : undefined;
  };

  /** Whether the reboot is late as far as the API server knows, whatever the cache says. */
  const isLate = async (claim: NodeClaim, node: Node | undefined): Promise<boolean> => {
    const asked = await storedObject(context, nodeClaims, claim.metadata.name ?? '');
    if (asked?.metadata.uid !== claim.metadata.uid || asked === undefined || !isRebooting(asked)) return false;
    if (isIssued(asked) !== isIssued(claim)) return false;
    if (!isIssued(claim)) return true;
    const nodeName = node?.metadata.name ?? claim.status?.nodeName;
    const fresh = nodeName ? await storedObject(context, resources.nodes, nodeName) : undefined;
    return fresh === undefined || !isNewBoot(claim, fresh) || !isReadyNode(fresh);
  };

  const observe = async (claim: NodeClaim, seen: Node): Promise<Outcome> => {
    await uninitialized(seen);
    if (!isNewBoot(claim, seen)) return again(lookMs);
    const node = await setTaint(cluster.nodes.get(seen.metadata.name ?? '') ?? seen, false);
    tell(claim, 'Normal', 'RebootObserved', 'New boot observed (bootID changed); awaiting node readiness');
    if (!isReadyNode(node)) return again(lookMs);
    const recoverySeconds = (clock.now() - issuedAtMs(claim)) / 1000;
    await finish(claim, conditionReason.rebootSucceeded, 'node rebooted and rejoined the cluster');
    count(claim, 'succeeded');
    metrics.recovery.observe(recoverySeconds);
    return done;
  };

  const step = async (claim: NodeClaim): Promise<Outcome> => {
    const [node, ...others] = nodesOfClaim(context, claim);
    const isUnclear = node === undefined || others.length > 0;
    const endMs = deadlineMs(claim) ?? (isUnclear ? requestedMs(claim) + issueMs : Number.POSITIVE_INFINITY);
    if (clock.now() > endMs) {
      // What only a wrong clock calls late is not ended.
      if (time.problem() !== undefined) return again(untrustedClockMs);
      if (!(await isLate(claim, node))) return again(lookMs);
      return isIssued(claim)
        ? fail(claim, node, 'recovery_timeout', 'node did not recover within the observation window')
        : fail(claim, node, 'provider_error', 'reboot was not issued within the issuance timeout');
    }
    if (isUnclear) return again(lookMs);
    return isIssued(claim) ? observe(claim, node) : requested(claim, node);
  };

  return {
    name,
    sources: [ownKey(nodeClaims)],
    concurrency: 10,
    async reconcile(key) {
      const claim = cluster.claims.get(key);
      if (claim === undefined || !isRebooting(claim)) {
        forget(key);
        return done;
      }
      try {
        return await step(claim);
      } catch (error) {
        if (isKubeError(error, 'Conflict')) return { kind: 'retry' };
        if (isKubeError(error, 'NotFound')) return done;
        throw error;
      }
    },
  };
}

const timeOf = (claim: NodeClaim, type: string): number =>
  parseTime(claimCondition(claim, type)?.lastTransitionTime ?? '') ?? 0;

const requestedMs = (claim: NodeClaim): number => timeOf(claim, conditionType.rebooting);

/** A node that was never initialized has no such change; the request is the earliest it can have been. */
const issuedAtMs = (claim: NodeClaim): number => Math.max(timeOf(claim, conditionType.initialized), requestedMs(claim));

const isIssued = (claim: NodeClaim): boolean =>
  claimCondition(claim, conditionType.rebooting)?.reason === conditionReason.rebootIssued;

const isRebooting = (claim: NodeClaim): boolean =>
  claim.metadata.deletionTimestamp === undefined && claimCondition(claim, conditionType.rebooting)?.status === 'True';

const isReadyNode = (node: Node): boolean =>
  node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

const bootOf = (node: Node): string => node.status?.nodeInfo?.bootID ?? '';

/** It runs another boot than the one that was to end; a node that does not say proves nothing. */
function isNewBoot({ metadata }: NodeClaim, node: Node): boolean {
  const before = metadata.annotations?.[annotation.rebootPreBootId];
  return before !== undefined && bootOf(node) !== '' && bootOf(node) !== before;
}

/** The same for every try of one reboot. */
const operationOf = (claim: NodeClaim): string =>
  `${claim.metadata.uid}-${formatTime(requestedMs(claim))}-${claim.metadata.annotations?.[annotation.rebootPreBootId]}`;

/** How long pods may take, in milliseconds; undefined without a bound, a text if it cannot be read. */
function graceOf({ metadata }: NodeClaim): number | string | undefined {
  const text = metadata.annotations?.[annotation.rebootTerminationGracePeriod];
  if (text === undefined) return undefined;
  const graceMs = parseGoDuration(text);
  if (graceMs === undefined) return `parsing reboot termination grace period ${JSON.stringify(text)}`;
  return graceMs < 0 ? `reboot termination grace period must be non-negative, got ${JSON.stringify(text)}` : graceMs;
}
