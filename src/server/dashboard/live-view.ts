// The cluster as viewers see it, kept up to date while someone looks. Without viewers nothing is computed; with them, rows of
// nodes that were touched are made anew a few times a second in short slices, verdicts at a pace that leaves the process
// its time.
import type { NodeClaim } from '../../api/index.ts';
import { kwokNode } from '../../api/names.ts';
import { type Clock, formatTime, inSlices } from '../../base/index.ts';
import type { ControllerContext } from '../../controllers/index.ts';
import { type NodeVerdict, nodeVerdicts, verdictCode } from '../../core/index.ts';
import type { Pod } from '../../ports/index.ts';
import { isTerminal, keyOf, PodAmounts } from '../../state/index.ts';
import type { DecisionRing } from '../../telemetry/index.ts';
import { nodeFacts, Series, type Totals, ViewModel } from '../../view/index.ts';
import type { Touched, Touches } from '../touches.ts';
import { Looks } from './looks.ts';

const tickMs = 500;
/** Verdicts for viewers may take this share of the time of one core, and are this old at least. */
const verdictShare = 0.1;
const verdictPauseMs = 2_000;
/** Where a loop of the process judges, viewers of a cluster this large wait for it: to judge beside it takes as much room again. */
const mostNodesJudgedTwice = 1_000;
const loopIsAliveMs = 300_000;
/** A page asks several questions before it follows; between them rows are kept up to date instead of made anew. */
const lingerMs = 30_000;
export interface LiveViewOptions {
  context: ControllerContext;
  touches: Touches;
  /** Paces viewers; the cluster's own may be faster, or stand still. */
  real: Clock;
  queued?: () => ReadonlySet<string>;
  decisions?: DecisionRing;
}

export class LiveView {
  readonly model = new ViewModel();
  readonly series = new Series();
  readonly looks: Looks;
  private readonly options: LiveViewOptions;
  private readonly amounts = new PodAmounts();
  private readonly listeners = new Set<() => void>();
  private readonly dirtyNodes = new Set<string>();
  private readonly dirtyClaims = new Set<string>();
  private readonly waiting = new Set<string>();
  private verdicts = new Map<string, NodeVerdict>();
  private stopTouches: (() => void) | undefined;
  private timer: { dispose(): void } | undefined;
  private isUpdating = false;
  private isTicking = false;
  private judging: Promise<void> | undefined;
  private restingMs = 0;
  private verdictsAt = Number.NEGATIVE_INFINITY;
  private nextVerdictsMs = 0;
  private loopJudgedMs = Number.NEGATIVE_INFINITY;

  constructor(options: LiveViewOptions) {
    this.options = options;
    this.looks = new Looks(options);
    options.decisions?.subscribe(({ what, objects, pods }) => {
      if (what === 'launch') this.noteLaunch(objects[0]?.name ?? '', pods?.names ?? []);
    });
  }

  get viewers(): number {
    return this.listeners.size;
  }

  now(): string {
    return formatTime(this.options.context.clock.now());
  }

  totals(): Totals {
    return this.model.totals();
  }

  allVerdicts(): readonly NodeVerdict[] {
    return [...this.verdicts.values()];
  }

  /** Calls back after every tick until the result is called. */
  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    if (this.listeners.size === 1) {
      if (this.stopTouches === undefined) this.begin();
      void this.tick();
    }
    return () => {
      if (this.listeners.delete(listener) && this.listeners.size === 0) this.rest();
    };
  }

  /** Resolves once what is there now is shown. */
  async ready(): Promise<void> {
    while (this.isUpdating) await this.options.real.sleep(5);
    if (this.dirtyNodes.size > 0 || this.dirtyClaims.size > 0 || this.stopTouches === undefined) await this.update();
  }

  /** Resolves once every node has a verdict. */
  async judged(): Promise<void> {
    await this.judge();
    await this.ready();
  }

  /** Verdicts that a loop of the process found: they need not be found again here. */
  takeVerdicts(verdicts: readonly NodeVerdict[]): void {
    this.loopJudgedMs = this.options.real.elapsed();
    this.showVerdicts(verdicts);
  }

  private showVerdicts(verdicts: readonly NodeVerdict[]): void {
    const next = new Map(verdicts.map((verdict) => [verdict.node, verdict]));
    // Who begins to look begins with every row; until then nothing is noted, or names of nodes long gone would pile up.
    const isFollowed = this.stopTouches !== undefined;
    for (const name of isFollowed ? new Set([...this.verdicts.keys(), ...next.keys()]) : []) {
      if (!isSameVerdict(this.verdicts.get(name), next.get(name))) this.dirtyNodes.add(name);
    }
    this.verdicts = next;
    this.nextVerdictsMs = this.options.real.now() + verdictPauseMs;
    if (this.listeners.size === 0) this.sampleVerdicts(verdicts);
  }

  waitingPods(): Pod[] {
    const { pods } = this.options.context.cluster;
    return [...this.waiting].flatMap((key) => pods.store.get(key) ?? []);
  }

  private begin(): void {
    const { cluster } = this.options.context;
    for (const { key, node, claim } of cluster.machines.all()) {
      const name = node?.metadata.name;
      if (name !== undefined) this.dirtyNodes.add(name);
      else this.dirtyClaims.add(claim?.metadata.name ?? key);
    }
    for (const pod of cluster.pods.store.list()) if (isWaiting(pod)) this.waiting.add(keyOf(pod));
    for (const name of this.model.names()) this.dirtyNodes.add(name);
    this.stopTouches = this.options.touches.listen((touched) => this.touch(touched));
  }

  /** No one looks: what is touched is noted for a while, so that who comes next does not wait for every row. */
  private rest(): void {
    this.timer?.dispose();
    this.timer = undefined;
    this.restingMs = this.options.real.now();
  }

  private end(): void {
    this.stopTouches?.();
    this.stopTouches = undefined;
    this.dirtyNodes.clear();
    this.dirtyClaims.clear();
    this.waiting.clear();
  }

  private touch({ kind, name, pod }: Touched): void {
    if (this.listeners.size === 0 && this.options.real.now() - this.restingMs > lingerMs) {
      this.end();
      return;
    }
    if (kind === 'claim') this.dirtyClaims.add(name);
    else if (name !== '') this.dirtyNodes.add(name);
    if (pod !== undefined) {
      if (pod.gone) this.waiting.delete(keyOf(pod.object));
      else this.noteWaiting(pod.object);
    }
  }

  private noteWaiting(pod: Pod): void {
    if (isWaiting(pod)) this.waiting.add(keyOf(pod));
    else this.waiting.delete(keyOf(pod));
  }

  /** One after the other, however often viewers come and go: one that is under way goes on for who came meanwhile. */
  private async tick(): Promise<void> {
    if (this.isTicking) return;
    this.isTicking = true;
    const { real } = this.options;
    await this.guarded(() => this.update());
    // Beside the rows: verdicts about thousands of nodes take seconds, and what changes meanwhile is shown meanwhile.
    if (real.now() >= this.nextVerdictsMs) void this.guarded(() => this.judge());
    for (const listener of this.listeners) listener();
    this.isTicking = false;
    if (this.listeners.size > 0) this.timer = real.after(tickMs, () => void this.tick());
  }

  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.options.context.log.error('cannot show the cluster', error, { controller: 'dashboard' });
    }
  }

  private async update(): Promise<void> {
    if (this.isUpdating) return;
    this.isUpdating = true;
    const { context, real } = this.options;
    const { cluster } = context;
    try {
      const claims = [...this.dirtyClaims];
      const nodes = [...this.dirtyNodes];
      this.dirtyClaims.clear();
      this.dirtyNodes.clear();
      for (const name of claims) {
        this.showClaim(name, cluster.machines.ofClaim(name));
        await real.breathe?.();
      }
      for (const name of nodes) {
        const machine = cluster.machines.ofNode(name);
        if (machine !== undefined) this.showMachine(machine);
        // A row of a claim that has no Node yet is not a Node that is gone.
        else if (cluster.machines.ofClaim(name)?.node === undefined && cluster.claims.get(name) !== undefined)
          this.showClaim(name, cluster.machines.ofClaim(name));
        else this.model.remove(name);
        await real.breathe?.();
      }
      this.model.setWaiting(this.waiting.size);
      if (cluster.synced) this.sample();
    } finally {
      this.isUpdating = false;
    }
  }

  private showClaim(name: string, machine: ReturnType<ControllerContext['cluster']['machines']['ofClaim']>): void {
    if (machine === undefined) {
      this.model.remove(name);
      return;
    }
    if (machine.node?.metadata.name !== undefined && machine.node.metadata.name !== name) this.model.remove(name);
    this.showMachine(machine);
  }

  private showMachine(machine: NonNullable<ReturnType<ControllerContext['cluster']['machines']['ofNode']>>): void {
    const { cluster } = this.options.context;
    const nodeName = machine.node?.metadata.name ?? '';
    const name = nodeName || (machine.claim?.metadata.name ?? machine.key);
    const { facts, cells } = nodeFacts(
      {
        machine,
        pods: nodeName === '' ? [] : cluster.pods.on(nodeName),
        verdict: this.verdicts.get(name),
        pricePerHour: Number(machine.node?.metadata.labels?.[kwokNode.priceLabel] ?? 0) || 0,
      },
      this.amounts,
    );
    this.model.set(facts, cells);
  }

  /** Verdicts of our own, where no loop found them lately and something changed. */
  private judge(): Promise<void> {
    this.judging ??= this.judgeAnew().finally(() => {
      this.judging = undefined;
    });
    return this.judging;
  }

  private async judgeAnew(): Promise<void> {
    const { context, real } = this.options;
    if (!context.cluster.synced || this.verdictsAt === context.cluster.changedAt() || this.isLeftToLoop()) return;
    const startedMs = real.now();
    const { round, changedAt } = await this.looks.look({ keep: false });
    const verdicts = await inSlices(context.clock, nodeVerdicts(round));
    this.showVerdicts(verdicts);
    this.verdictsAt = changedAt;
    this.nextVerdictsMs = real.now() + Math.max(verdictPauseMs, (real.now() - startedMs) / verdictShare);
  }

  private isLeftToLoop(): boolean {
    const { real } = this.options;
    return this.verdicts.size > mostNodesJudgedTwice && real.elapsed() - this.loopJudgedMs < loopIsAliveMs;
  }

  private sample(): void {
    const { clock } = this.options.context;
    const { nodes, pods, waiting, pricePerHour, goingPerHour, blockedPerHour, cpu, cpuUsed, memory, memoryUsed } =
      this.totals();
    this.series.sample(clock.now(), {
      nodes,
      pods,
      waiting,
      pricePerHour,
      goingPerHour,
      blockedPerHour,
      cpuShare: cpu === 0 ? 0 : cpuUsed / cpu,
      memoryShare: memory === 0 ? 0 : memoryUsed / memory,
      ...this.byPool(),
    });
  }

  private byPool(): Record<string, number> {
    const prices: Record<string, number> = {};
    for (const { pool, pricePerHour } of this.model.facts()) {
      const name = `pool:${pool}`;
      prices[name] = (prices[name] ?? 0) + pricePerHour;
    }
    return prices;
  }

  /** What a loop found anyway is kept also while no one looks. */
  private sampleVerdicts(verdicts: readonly NodeVerdict[]): void {
    let pricePerHour = 0;
    let goingPerHour = 0;
    let blockedPerHour = 0;
    for (const { pricePerHour: price, savingsPerHour, savingsIfFreedPerHour = 0 } of verdicts) {
      pricePerHour += price;
      goingPerHour += savingsPerHour;
      blockedPerHour += savingsIfFreedPerHour;
    }
    const figures = { nodes: verdicts.length, pricePerHour, goingPerHour, blockedPerHour };
    this.series.sample(this.options.context.clock.now(), figures);
  }

  /** The claim under way that a waiting pod was made for. */
  claimOf(pod: string): NodeClaim | undefined {
    const name = this.made.get(pod);
    return name === undefined ? undefined : this.options.context.cluster.claims.get(name);
  }

  /** Claims by the pods they were made for, as decisions reported. */
  private readonly made = new Map<string, string>();

  private noteLaunch(claim: string, pods: readonly string[]): void {
    for (const pod of pods) this.made.set(pod, claim);
    for (const pod of this.made.keys()) {
      if (this.made.size <= mostMade) return;
      this.made.delete(pod);
    }
  }
}

const mostMade = 20_000;

const isWaiting = (pod: Pod): boolean =>
  !pod.spec?.nodeName && !isTerminal(pod) && pod.metadata.deletionTimestamp === undefined;

function isSameVerdict(left: NodeVerdict | undefined, right: NodeVerdict | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return (
    verdictCode(left) === verdictCode(right) &&
    left.pricePerHour === right.pricePerHour &&
    left.savingsPerHour === right.savingsPerHour &&
    left.savingsIfFreedPerHour === right.savingsIfFreedPerHour
  );
}
