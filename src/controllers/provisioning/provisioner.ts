// From pods that wait to NodeClaims that will hold them: one serial loop of batch, snapshot, plan, create.
//
// 1. Nothing is planned before the first complete view of the cluster.
// 2. Claims of one plan are written in parallel; one that fails does not stop the others, and its pods wait for the next pass.
// 3. The model knows a claim the moment it is written, not when the watch says so.
// 4. Where launches fail for lack of capacity, few are tried (admission.ts), and what failed is probed (probes.ts).
// 5. A claim still being launched holds back its own pods and nothing else (see LaunchLedger).
import type { NodeClaim, NodePool } from '../../api/index.ts';
import { type AbortSignalLike, doubledMs, KerfError } from '../../base/index.ts';
import type { InstanceTypeSpec, Plan, PlannedNode } from '../../core/index.ts';
import { loopMetrics } from '../../runtime/index.ts';
import { type ControllerContext, inPass } from '../context.ts';
import { decideLaunches, Refusals } from '../decisions.ts';
import { instanceTypesOfPools, snapshotFor } from '../planning.ts';
import { admitted, mayFollow } from './admission.ts';
import { createNodeClaim } from './create-node-claim.ts';
import { provisioningMetrics } from './metrics.ts';
import { nodeClaimFor } from './node-claim.ts';
import { nominate } from './nomination.ts';
import { planningPass } from './planning-pass.ts';
import { PodBatcher } from './pod-batcher.ts';
import { Probes } from './probes.ts';
import { reportNewNodes, reportPlan, reportPools } from './report.ts';
import { UnassignedLaunches } from './unassigned-launches.ts';

const controller = 'provisioner';
/** Asked again this soon while the first view of the cluster is not complete. */
const notSyncedMs = 1_000;
/** After a failed pass; doubled up to the limit while passes fail. */
const retryMs = { first: 1_000, most: 60_000 };
/** Claims that are built before the first of them is written. */
const madeUpTogether = 100;

export interface PassResult {
  plan: Plan;
  created: NodeClaim[];
}

interface Writing {
  /** As they were planned for. */
  pools: ReadonlyMap<string, NodePool>;
  typesOf(pool: string): readonly InstanceTypeSpec[];
  /** Gets what was written, by the name in the plan. */
  claims: Map<string, NodeClaim>;
  isProbe?: boolean;
}

export class Provisioner {
  readonly batcher: PodBatcher;
  private readonly context: ControllerContext;
  private readonly metrics;
  private readonly unassigned: UnassignedLaunches;
  private readonly refusals = new Refusals();
  private readonly probes: Probes;
  private readonly listeners: ((plan: Plan) => Promise<void>)[] = [];
  /** Launches wait for the answers to others. */
  private isHolding = false;

  constructor(context: ControllerContext) {
    this.context = context;
    const { batchIdleDurationMs, batchMaxDurationMs } = context.settings;
    this.batcher = new PodBatcher(context.clock, { idleMs: batchIdleDurationMs, maxMs: batchMaxDurationMs });
    this.metrics = provisioningMetrics(context.metrics);
    this.unassigned = new UnassignedLaunches(context);
    this.probes = new Probes(context);
    const { pace } = context.ledger;
    pace.onAnswer((isLaunched) => {
      // After a failure the next choice is planned at once.
      if (!isLaunched || this.isHolding || pace.allProbes().length > 0) this.batcher.trigger('launch answered');
    });
  }

  /** `listener` receives every plan, once its claims are written. */
  onPass(listener: (plan: Plan) => Promise<void>): void {
    this.listeners.push(listener);
  }

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignalLike): Promise<void> {
    const { clock, cluster, log } = this.context;
    const passes = loopMetrics(this.context.metrics);
    passes.starts(controller, 1);
    let failures = 0;
    while (!signal.aborted) {
      let startedMs = clock.elapsed();
      const ran = (failed: boolean): void => passes.ran(controller, { tookMs: clock.elapsed() - startedMs, failed });
      try {
        await this.batcher.next(signal);
        while (!cluster.synced) await clock.sleep(notSyncedMs, signal);
        await this.unassigned.settled(signal);
        startedMs = clock.elapsed();
        await inPass(this.context, controller, () => this.pass());
        ran(false);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        ran(true);
        failures += 1;
        log.error('provisioning failed', error, { controller });
        await clock.sleep(doubledMs(retryMs, failures - 1), signal).catch(() => {});
        this.batcher.trigger('retry');
      }
    }
  }

  /** Plans once and writes what the plan asks for. */
  async pass(): Promise<PassResult> {
    const { clock, cluster } = this.context;
    const startedMs = clock.elapsed();
    const instanceTypes = await instanceTypesOfPools(this.context);
    const snapshot = snapshotFor(this.context, instanceTypes);
    const pools = new Map(cluster.nodePools.list().map((pool) => [pool.metadata.name ?? '', pool]));
    const { plan, emptyPools } = await planningPass(this.context, this.metrics, snapshot);
    this.context.recording?.plan(snapshot, plan);
    const byPool = new Map(instanceTypes.map((entry) => [entry.nodePool, entry.items ?? []]));
    const claims = new Map<string, NodeClaim>();
    reportPools(this.context, plan, emptyPools);
    reportNewNodes(this.context, plan, clock.elapsed() - startedMs);
    const typesOf = (pool: string): readonly InstanceTypeSpec[] => byPool.get(pool) ?? [];
    const { now, next, held } = admitted(this.context, plan.newNodes, typesOf);
    const writing = { pools, typesOf, claims };
    // Asked before anything is written: the first launch may be answered while the others are.
    const permission = next.length === 0 ? undefined : mayFollow(this.context);
    await this.write(now, writing);
    const follow = permission !== undefined && (await permission);
    if (follow) await this.write(next, writing);
    const heldBack = [...held, ...(follow ? [] : next)];
    this.reportHeld(heldBack);
    await nominate(this.context, plan.existingNodes);
    await reportPlan(this.context, plan, claims, this.metrics);
    const pass = { plan, snapshot, typesOf, tookMs: plan.solveMs };
    await decideLaunches(this.context, pass, claims);
    await this.probe([...plan.unschedulable.map(({ pod }) => pod), ...heldBack.flatMap((node) => node.pods)], pools);
    await this.refusals.decide(this.context, pass);
    await Promise.all(this.listeners.map((listener) => listener(plan)));
    return { plan, created: [...claims.values()] };
  }

  private async write(planned: readonly PlannedNode[], { pools, typesOf, claims, isProbe }: Writing): Promise<void> {
    const { clock, ledger } = this.context;
    const writes: Promise<void>[] = [];
    // What is written is launched at once, which takes time from the rest: so many are built before the first is written.
    for (let at = 0; at < planned.length; at += madeUpTogether) {
      const together = Promise.withResolvers<void>();
      for (const node of planned.slice(at, at + madeUpTogether)) {
        const { name, nodePool } = node;
        const isTroubled = isProbe === true || ledger.pace.isUnderWay(name);
        const written = this.create(node, pools.get(nodePool), typesOf(nodePool), together.promise, isProbe);
        const note = (claim: NodeClaim | undefined): void => {
          ledger.pace.settle(name);
          if (claim === undefined) return;
          claims.set(name, claim);
          if (isTroubled) ledger.pace.begin(claim.metadata.name ?? '', nodePool, node.instanceTypes);
        };
        writes.push(written.then(note));
        await clock.breathe?.();
      }
      together.resolve();
    }
    await Promise.all(writes);
  }

  private reportHeld(held: readonly PlannedNode[]): void {
    this.isHolding = held.length > 0;
    if (held.length === 0) return;
    this.context.log.info('holding back launches until others succeed', {
      controller,
      nodeclaims: held.length,
      pods: held.reduce((sum, { pods }) => sum + pods.length, 0),
    });
  }

  private async probe(waiting: readonly string[], pools: ReadonlyMap<string, NodePool>): Promise<void> {
    const next = await this.probes.next(waiting);
    if (next === undefined) return;
    const byPool = new Map(next.instanceTypes.map((entry) => [entry.nodePool, entry.items ?? []]));
    const typesOf = (pool: string): readonly InstanceTypeSpec[] => byPool.get(pool) ?? [];
    const claims = new Map<string, NodeClaim>();
    await this.write(next.nodes, { pools, typesOf, claims, isProbe: true });
    const { cluster } = this.context;
    for (const { name, pods } of next.nodes) cluster.pods.promises.promise(claims.get(name)?.metadata.name ?? '', pods);
    await decideLaunches(this.context, { ...next, typesOf, tookMs: next.plan.solveMs }, claims);
  }

  /** `pool` is the one that was planned for: what its template and its hash say now may be something else. */
  private async create(
    planned: PlannedNode,
    pool: NodePool | undefined,
    types: readonly InstanceTypeSpec[],
    together: Promise<void>,
    isProbe = false,
  ): Promise<NodeClaim | undefined> {
    const { clock, cluster, cloud, ledger, log } = this.context;
    try {
      const names = new Set(planned.instanceTypes);
      const chosen = types.filter((type) => names.has(type.name));
      const wanted = pool && nodeClaimFor(planned, { pool, instanceTypes: chosen, facts: cloud.facts });
      await together;
      await clock.breathe?.();
      const now = cluster.nodePools.get(planned.nodePool);
      if (wanted === undefined || now === undefined || now.metadata.uid !== pool?.metadata.uid)
        throw new KerfError('NodePoolGone', `NodePool ${planned.nodePool} was deleted while planning`);
      const room = { pool: now, chosen, offered: types };
      // Pods of a probe stay in every plan: they are placed as soon as anything else will do.
      const asked = { claim: wanted, planned, pods: isProbe ? [] : planned.pods };
      const claim = await createNodeClaim(this.context, room, asked, {
        controller,
        reason: 'provisioned',
        created: this.metrics.created,
      });
      if (isProbe) ledger.pace.addProbe(claim.metadata.name ?? '', { pods: planned.pods, startedMs: clock.elapsed() });
      return claim;
    } catch (error) {
      log.error('could not create nodeclaim', error, {
        controller: 'provisioner',
        NodePool: { name: planned.nodePool },
      });
      return undefined;
    }
  }
}
