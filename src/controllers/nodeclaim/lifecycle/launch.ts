// First step of a claim's life: a machine is launched for it. Runs only while Launched is Unknown.
//
// Not twice: a launch is remembered per claim UID for an hour, because the status that tells of it may be lost or read
// late. Where this process cannot know (a claim older than itself, or a launch whose answer never came), the provider is
// asked first whether it has a machine for the claim already.
// A probe (see LaunchPace) that finds no capacity stays and is tried again; any other claim goes, so that its pods are
// planned anew.
// Not too often: tries wait longer and longer by the launcher's own count, because every failure changes the claim's
// status, and every change wakes the claim.
import { conditionReason, conditionType, label, type NodeClaim } from '../../../api/index.ts';
import { doubledMs, messageOf, parseTime } from '../../../base/index.ts';
import { probeTickMs } from '../../../core/index.ts';
import { CloudError, type Instance, isCloudError } from '../../../ports/index.ts';
import { probeLifeMs } from '../../../state/index.ts';
import type { ControllerContext } from '../../context.ts';
import { aboutClaim, aboutPod } from '../../event-subjects.ts';
import { isStoredAsWaiting } from '../../ownership/stored.ts';
import { claimCondition, restamped, withCondition } from '../claim-conditions.ts';
import type { ClaimMetrics } from '../claim-metrics.ts';
import { endClaim } from '../end-claim.ts';
import type { HealthReporter } from '../health-reporter.ts';
import type { Step, StepResult } from './step.ts';

const rememberMs = 3_600_000;
/** Many claims are in doubt at the same moment (after a restart): one listing answers for all of them. */
const listingFreshMs = 1_000;
const retryMs = { first: 1_000, most: 60_000 };
/** What an event may hold; a provider's error may be a page long. */
const mostMessage = 1_024;
/** Pods of a probe hear of its first failure, and then every five minutes. */
const probeTellEvery = 20;
const podEventRate = { perSecond: 5, burst: 10 };

interface Memory {
  /** When it last changed. */
  atMs: number;
  instance?: Instance;
  /** A launch began and its outcome is unknown. */
  inDoubt: boolean;
  failures: number;
  /** Not before this long after `atMs`; as many failures ask for, if absent. */
  pauseMs?: number;
}

export class ClaimLauncher {
  private readonly memories = new Map<string, Memory>();
  private readonly context: ControllerContext;
  private readonly metrics: ClaimMetrics;
  private readonly health: HealthReporter;
  /** Until `begin` is called, every claim is from before. */
  private startedMs = Number.POSITIVE_INFINITY;
  private listing: { atMs: number; instances: Promise<Instance[]> } | undefined;

  constructor(context: ControllerContext, metrics: ClaimMetrics, health: HealthReporter) {
    this.context = context;
    this.metrics = metrics;
    this.health = health;
  }

  /** From now on no one else launches: a replica that waited for its turn begins here, not when it was made. */
  begin(): void {
    this.startedMs = this.context.clock.now();
  }

  readonly step: Step = async (claim) => {
    const { clock } = this.context;
    if (claimCondition(claim, conditionType.launched)?.status !== 'Unknown') {
      return { claim: restamped(claim, conditionType.launched, clock.now()) };
    }
    const waitMs = this.waitMs(claim);
    if (waitMs > 0) return { claim, againMs: waitMs };
    try {
      const instance = (await this.launchedFor(claim)) ?? (await this.launch(claim));
      this.remember(claim, { instance, inDoubt: false, failures: 0 });
      const launched = withLaunch(claim, instance);
      return { claim: withCondition(launched, { type: conditionType.launched, status: 'True' }, clock.now()) };
    } catch (error) {
      const { failures = 0, inDoubt = false } = this.memories.get(uidOf(claim)) ?? {};
      // The provider's own errors say that there is no machine; any other leaves it open.
      const stillInDoubt = inDoubt && !(error instanceof CloudError);
      const isWaiting = isCloudError(error, 'insufficientCapacity') && this.isProbeWanted(claim);
      this.remember(claim, {
        inDoubt: stillInDoubt,
        failures: failures + 1,
        ...(isWaiting ? { pauseMs: probeTickMs } : {}),
      });
      if (isCloudError(error, 'insufficientCapacity')) this.noteShortage(claim);
      return isWaiting ? this.waitsForCapacity(claim, error, failures) : this.failed(claim, error);
    }
  };

  /** The machine that runs for a claim, also if its status does not say so (yet). */
  async launchedFor(claim: NodeClaim): Promise<Instance | undefined> {
    this.forgetOld();
    const memory = this.memories.get(uidOf(claim));
    if (memory?.instance !== undefined) return memory.instance;
    const createdMs = parseTime(claim.metadata.creationTimestamp ?? '') ?? 0;
    // Creation times are whole seconds, rounded down: a claim of the second in which this process began is in doubt too.
    const isFromBefore = memory === undefined && createdMs < this.startedMs;
    if (!isFromBefore && memory?.inDoubt !== true) return undefined;
    const { cluster } = this.context;
    return (await this.instances(memory?.atMs ?? Number.NEGATIVE_INFINITY)).find(
      (instance) =>
        instance.nodeClaim === claim.metadata.name &&
        instance.isDeleting !== true &&
        cluster.claims.filedUnder(instance.providerID).every((each) => uidOf(each) === uidOf(claim)),
    );
  }

  /** The claim is gone. */
  forget(claim: NodeClaim): void {
    this.context.cluster.pods.promises.forget(claim.metadata.name ?? '');
    this.memories.delete(uidOf(claim));
  }

  private async launch(claim: NodeClaim): Promise<Instance> {
    const failures = this.memories.get(uidOf(claim))?.failures ?? 0;
    this.remember(claim, { inDoubt: true, failures });
    const { cloud, clock, ledger } = this.context;
    const { name = '', labels = {} } = claim.metadata;
    const probing = ledger.pace.probe(name) !== undefined;
    const instance = await cloud.create(claim, probing ? { probing } : {});
    const [instanceType = '', zone = '', capacityType = ''] = [label.instanceType, label.zone, label.capacityType].map(
      (key) => instance.labels[key],
    );
    ledger.pace.succeeded(labels[label.nodePool] ?? '', { instanceType, zone, capacityType }, clock.elapsed());
    this.logLaunch(claim, instance);
    return instance;
  }

  private noteShortage({ metadata }: NodeClaim): void {
    const { cloud, clock, ledger } = this.context;
    const pool = metadata.labels?.[label.nodePool] ?? '';
    ledger.pace.failed(pool, cloud.failedOfferings?.() ?? [], clock.elapsed());
  }

  /** A probe goes on while one of its pods waits; not for ever, as the plan it came from grows old. */
  private isProbeWanted({ metadata }: NodeClaim): boolean {
    const { clock, cluster, ledger } = this.context;
    const probe = ledger.pace.probe(metadata.name ?? '');
    if (probe === undefined || clock.elapsed() - probe.startedMs >= probeLifeMs) return false;
    return probe.pods.some((key) => {
      const pod = cluster.pods.store.get(key);
      return pod !== undefined && !pod.spec?.nodeName && pod.metadata.deletionTimestamp === undefined;
    });
  }

  private waitsForCapacity(claim: NodeClaim, error: CloudError, failures: number): StepResult {
    const again = `tried again every ${probeTickMs / 1000} s while pods wait for it`;
    if (failures % probeTellEvery === 0) this.tellPods(claim, error.message, again);
    const change = {
      type: conditionType.launched,
      status: 'Unknown',
      reason: 'InsufficientCapacity',
      message: `${shortened(error.message)}; ${again}`,
    } as const;
    return { claim: withCondition(claim, change, this.context.clock.now()), againMs: probeTickMs };
  }

  private waitMs(claim: NodeClaim): number {
    const memory = this.memories.get(uidOf(claim));
    if (memory === undefined || memory.failures === 0) return 0;
    const pauseMs = memory.pauseMs ?? doubledMs(retryMs, memory.failures - 1);
    return memory.atMs + pauseMs - this.context.clock.elapsed();
  }

  private remember(claim: NodeClaim, memory: Omit<Memory, 'atMs'>): void {
    const uid = uidOf(claim);
    // Last changed, last in line.
    this.memories.delete(uid);
    this.memories.set(uid, { ...memory, atMs: this.context.clock.elapsed() });
  }

  /** The provider's machines, listed after `sinceMs`. */
  private async instances(sinceMs: number): Promise<Instance[]> {
    const { clock, cloud } = this.context;
    const oldestMs = Math.max(sinceMs + 1, clock.elapsed() - listingFreshMs);
    if (this.listing === undefined || this.listing.atMs < oldestMs) {
      const listing = { atMs: clock.elapsed(), instances: cloud.list() };
      this.listing = listing;
      listing.instances.catch(() => {
        if (this.listing === listing) this.listing = undefined;
      });
    }
    return this.listing.instances;
  }

  private logLaunch(claim: NodeClaim, instance: Instance): void {
    this.context.log.info('launched nodeclaim', {
      controller: 'nodeclaim.lifecycle',
      NodeClaim: { name: claim.metadata.name },
      'provider-id': instance.providerID,
      'instance-type': instance.labels[label.instanceType],
      zone: instance.labels[label.zone],
      'capacity-type': instance.labels[label.capacityType],
      allocatable: instance.allocatable,
    });
  }

  private async failed(claim: NodeClaim, error: unknown): ReturnType<Step> {
    const { clock, recorder, log } = this.context;
    const isFinal = isCloudError(error, 'insufficientCapacity') || isCloudError(error, 'nodeClassNotReady');
    // One that led before may have launched it, and the watch of this process has said nothing since.
    if (isFinal && !(await isStoredAsWaiting(this.context, claim, conditionType.launched)))
      return { claim, againMs: retryMs.most };
    if (isCloudError(error, 'insufficientCapacity')) {
      const { name } = claim.metadata;
      recorder.publish({
        subject: aboutClaim(claim),
        type: 'Warning',
        reason: 'InsufficientCapacityError',
        message: shortened(`NodeClaim ${name} event: ${error.message}`),
      });
      this.tellPods(claim, error.message, 'the next choice is planned without what failed');
      log.error('failed launching nodeclaim', error, { controller: 'nodeclaim.lifecycle', NodeClaim: { name } });
    }
    if (isCloudError(error, 'insufficientCapacity') || isCloudError(error, 'nodeClassNotReady')) {
      if (error.kind === 'nodeClassNotReady')
        await this.health.refused(claim, conditionReason.nodeClassNotReady, shortened(error.message));
      const isFull = error.kind === 'insufficientCapacity';
      const code = isFull ? 'InsufficientCapacity' : 'NodeClassNotReady';
      const message = `could not be launched: ${shortened(error.message)}`;
      await endClaim(this.context, claim, { code, message, silent: true });
      this.metrics.countDisrupted(
        claim,
        error.kind === 'insufficientCapacity' ? 'insufficient_capacity' : 'nodeclass_not_ready',
      );
      return { claim, gone: true };
    }
    const reported = error instanceof CloudError ? error : undefined;
    const change = {
      type: conditionType.launched,
      status: 'Unknown',
      reason: reported?.conditionReason ?? conditionReason.launchFailed,
      message: reported?.conditionMessage ?? shortened(messageOf(error)),
    } as const;
    // Everything else that the log says of it; what passes by itself is only there.
    if (reported !== undefined)
      recorder.publish({
        subject: aboutClaim(claim),
        type: 'Warning',
        reason: conditionReason.launchFailed,
        message: shortened(change.message),
      });
    return { claim: withCondition(claim, change, clock.now()), error };
  }

  /** Pods that waited for this claim hear that it failed, and what comes next. */
  private tellPods({ metadata }: NodeClaim, problem: string, whatNext: string): void {
    const { cluster, recorder } = this.context;
    for (const key of cluster.pods.promises.of(metadata.name ?? '')) {
      const pod = cluster.pods.store.get(key);
      if (pod === undefined || pod.spec?.nodeName || pod.metadata.deletionTimestamp !== undefined) continue;
      const message = `NodeClaim ${metadata.name} nominated for this pod failed to launch: ${problem}`;
      const next = `; ${whatNext}`;
      recorder.publish({
        subject: aboutPod(pod),
        type: 'Warning',
        reason: 'InsufficientCapacityError',
        message: message.length + next.length > mostMessage ? shortened(message) : message + next,
        dedupeValues: [pod.metadata.uid ?? key],
        rateLimit: podEventRate,
      });
    }
  }

  private forgetOld(): void {
    const oldest = this.context.clock.elapsed() - rememberMs;
    // In the order in which they were remembered: the first young one ends the search.
    for (const [uid, { atMs }] of this.memories) {
      if (atMs >= oldest) return;
      this.memories.delete(uid);
    }
  }
}

const uidOf = ({ metadata }: NodeClaim): string => metadata.uid ?? metadata.name ?? '';

/** Provider labels under the claim's own, the claim's annotations under the provider's. */
function withLaunch(claim: NodeClaim, instance: Instance): NodeClaim {
  return {
    ...claim,
    metadata: {
      ...claim.metadata,
      labels: { ...instance.labels, ...claim.metadata.labels },
      annotations: { ...claim.metadata.annotations, ...instance.annotations },
    },
    status: {
      ...claim.status,
      providerID: instance.providerID,
      ...(instance.imageID === undefined ? {} : { imageID: instance.imageID }),
      capacity: instance.capacity,
      allocatable: instance.allocatable,
    },
  };
}

function shortened(text: string): string {
  return text.length > mostMessage ? `${text.slice(0, mostMessage - 3)}...` : text;
}
