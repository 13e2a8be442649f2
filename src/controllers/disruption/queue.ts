// Commands being carried out. A command marks its nodes, makes the replacements, waits until they are ready and only then
// deletes what they replace; if that cannot be, everything is put back. Each command goes its own way.
//
// Promises:
// 1. A node is in at most one command.
// 2. Nothing is deleted before every replacement has been seen initialized, and what is stored allows it (`last-look.ts`).
// 3. Of several replacements for consolidation all come or none stays, unless pods came to it meanwhile.
// 4. The model counts nodes as leaving only after the replacements exist: otherwise their pods would be planned twice.
import type { NodeClaim } from '../../api/index.ts';
import { conditionType, isTrue } from '../../api/index.ts';
import { type AbortSignalLike, KerfError, shortList } from '../../base/index.ts';
import { type Command, decisionOf, podCount, type Replacement, type Snapshot, startedText } from '../../core/index.ts';
import { isKubeError, type LogFields } from '../../ports/index.ts';
import { type LoopMetrics, loopMetrics } from '../../runtime/index.ts';
import { type ControllerContext, inPass } from '../context.ts';
import { decideDisruption } from '../decisions.ts';
import type { ClaimMetrics } from '../nodeclaim/claim-metrics.ts';
import { boundDrain } from '../nodeclaim/drain-bound.ts';
import { endClaim } from '../nodeclaim/end-claim.ts';
import { nodeClaims } from '../own-resources.ts';
import { nominate } from '../provisioning/nomination.ts';
import { requestReboot } from '../reboot/request.ts';
import type { NodeCounts } from '../static/node-counts.ts';
import { commandLabels, countDisrupted, countStarted } from './count-command.ts';
import { lastLook } from './last-look.ts';
import { putMarks, removeMarks } from './marks.ts';
import type { DisruptionMetrics } from './metrics.ts';
import { createReplacements, withdrawReplacements } from './replacements.ts';
import type { DisruptionReport } from './report.ts';

interface Running {
  readonly id: string;
  readonly command: Command;
  /** Names of the claims that go. */
  readonly claims: readonly string[];
  readonly keys: readonly string[];
  /** Of a static pool: they count as nodes to be replaced until the command is over. */
  readonly pending: readonly NodeClaim[];
  readonly replacements: { readonly name: string; isReady: boolean }[];
  readonly startedMs: number;
  /** Of the record of the decision, where records are kept. */
  readonly decision: string | undefined;
  /** What is stored said as well that the nodes may go. */
  isProven: boolean;
}

const stepMs = 1_000;
/** The more is under way, the longer a cloud takes; but never give up early, nor hold pods up for ever. */
const patience = { perNodeMs: 80, leastMs: 600_000, mostMs: 3_600_000 };

/** Label of the logs and metrics of commands that are being carried out. */
export const queueController = 'disruption.queue';

/** How long a command waits for its replacements while this many nodes are in commands. */
export function patienceMs(queued: number): number {
  return Math.min(patience.mostMs, Math.max(patience.leastMs, patience.perNodeMs * queued));
}

export interface QueueParts {
  metrics: DisruptionMetrics;
  claims: ClaimMetrics;
  report: DisruptionReport;
  counts: NodeCounts;
}

export class CommandQueue {
  private readonly context: ControllerContext;
  private readonly parts: QueueParts;
  private readonly running = new Set<Running>();
  private readonly queued = new Set<string>();
  private readonly steps: LoopMetrics;
  private sequence = 0;

  constructor(context: ControllerContext, parts: QueueParts) {
    this.context = context;
    this.parts = parts;
    this.steps = loopMetrics(context.metrics);
  }

  has(claimName: string): boolean {
    return this.queued.has(claimName);
  }

  /** Names of the claims in all commands. */
  names(): ReadonlySet<string> {
    return this.queued;
  }

  /** Takes the command on; what follows happens in the background. Throws if it cannot even begin. */
  async start(command: Command, signal: AbortSignalLike, snapshot?: Snapshot): Promise<void> {
    const names = command.members.map((member) => member.machine.claim?.metadata.name ?? '');
    const twice = names.filter((name) => this.queued.has(name));
    if (twice.length > 0) throw new KerfError('AlreadyDisrupting', `already being disrupted: ${twice.join(', ')}`);
    for (const name of names) this.queued.add(name);
    try {
      await this.begin(command, names, signal, snapshot);
    } catch (error) {
      await this.unmark(names);
      for (const name of names) this.queued.delete(name);
      throw error;
    }
  }

  private async begin(
    wanted: Command,
    names: readonly string[],
    signal: AbortSignalLike,
    snapshot: Snapshot | undefined,
  ): Promise<void> {
    if (decisionOf(wanted) === 'reboot') return this.reboot(wanted);
    const { cluster, clock, log } = this.context;
    const marked = await this.mark(wanted, names);
    const command = { ...wanted, members: wanted.members.filter((_, index) => marked.includes(names[index] ?? '')) };
    for (const name of names) if (!marked.includes(name)) this.queued.delete(name);
    const isStatic = command.replacements.some(({ kind }) => kind === 'template');
    const pending = isStatic ? marked.flatMap((name) => cluster.claims.get(name) ?? []) : [];
    this.parts.counts.setPendingDisruption(pending, true);
    let replacements: { name: string; isReady: boolean }[];
    try {
      replacements = await createReplacements(this.context, this.parts.counts, command);
    } catch (error) {
      this.parts.counts.setPendingDisruption(pending, false);
      throw error;
    }
    const keys = marked.flatMap((name) => cluster.machines.ofClaim(name)?.key ?? []);
    cluster.mark(keys, true);
    await nominate(this.context, command.placements);
    const id = this.newId();
    const made = replacements.map(({ name }) => name);
    const decision = await decideDisruption(this.context, command, { replacements: made, snapshot });
    const startedMs = clock.elapsed();
    const run: Running = {
      id,
      command,
      claims: marked,
      keys,
      pending,
      replacements,
      startedMs,
      decision,
      isProven: false,
    };
    this.running.add(run);
    countStarted(this.parts.metrics, command);
    log.info('disrupting node(s)', {
      controller: 'disruption',
      command: startedText(command, id),
      decision: decisionOf(command),
      reason: command.reason.toLowerCase(),
      'disrupted-node-count': marked.length,
      'replacement-node-count': replacements.length,
      'pod-count': podCount(command),
      'disrupted-nodes': command.members.map((member) => ({
        Node: { name: member.machine.node?.metadata.name },
        NodeClaim: { name: member.machine.claim?.metadata.name },
        'capacity-type': member.capacityType,
        'instance-type': member.instanceType,
      })),
      'replacement-nodes': replacements.map(({ name }, index) => ({
        NodeClaim: { name },
        ...aboutReplacement(command.replacements[index], replacements.length === 1),
      })),
    });
    void this.carryOut(run, signal);
  }

  /** The node stays and is handed to the controller of reboots; the command ends here. */
  private async reboot(command: Command): Promise<void> {
    const { log } = this.context;
    for (const { machine, name } of command.members) {
      const claimName = machine.claim?.metadata.name ?? '';
      const claim = await requestReboot(this.context, claimName, command.repair);
      countDisrupted(this.parts.claims, command, claim);
      this.queued.delete(claimName);
      log.info('rebooting node', { controller: 'disruption', Node: { name }, NodeClaim: { name: claimName } });
    }
    countStarted(this.parts.metrics, command);
  }

  /** A command that only deletes goes on with the nodes that could be marked; one that replaces needs them all. */
  private async mark(command: Command, names: readonly string[]): Promise<string[]> {
    const outcomes = await Promise.allSettled(names.map((name) => putMarks(this.context, name, command.reason)));
    const marked = names.filter((_, index) => outcomes[index]?.status === 'fulfilled');
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (marked.length === 0 || (failure !== undefined && command.replacements.length > 0)) {
      throw failure?.status === 'rejected' ? failure.reason : new KerfError('NothingMarked', 'no node could be marked');
    }
    return marked;
  }

  private async carryOut(run: Running, signal: AbortSignalLike): Promise<void> {
    const { clock, log } = this.context;
    for (;;) {
      const waitedMs = clock.elapsed() - run.startedMs;
      const isOverdue = waitedMs > patienceMs(this.queued.size);
      try {
        if (await this.counted(() => this.step(run))) break;
        if (isOverdue) throw new Unrecoverable(`replacements were not ready within ${waitedMs / 1000} s`);
      } catch (error) {
        if (isOverdue || error instanceof Unrecoverable) {
          log.error('failed to disrupt nodes', error, { controller: queueController, command: run.id });
          await this.putBack(run);
          this.settle(run, 'failed');
          break;
        }
        log.error('disrupting nodes, will try again', error, { controller: queueController, command: run.id });
      }
      const isStopping = await clock.sleep(stepMs, signal).then(
        () => false,
        () => true,
      );
      if (isStopping) return;
    }
    this.running.delete(run);
    this.parts.counts.setPendingDisruption(run.pending, false);
    for (const name of run.claims) this.queued.delete(name);
  }

  /** One step of a command, as log lines and metrics tell it. */
  private async counted(step: () => Promise<boolean>): Promise<boolean> {
    const { clock } = this.context;
    const startedMs = clock.elapsed();
    let failed = true;
    try {
      const isDone = await inPass(this.context, queueController, step);
      failed = false;
      return isDone;
    } finally {
      this.steps.ran(queueController, { tookMs: clock.elapsed() - startedMs, failed });
    }
  }

  /** True once everything that had to go has been asked to. */
  private async step(run: Running): Promise<boolean> {
    for (const replacement of run.replacements) if (!replacement.isReady) await this.lookAt(run, replacement);
    if (!run.replacements.every(({ isReady }) => isReady)) return false;
    // Ages and protections that end cannot be told.
    if (this.context.time.problem() !== undefined) return false;
    await this.lookOnce(run);
    await this.deleteAll(run);
    this.settle(run, 'done');
    return true;
  }

  /** Once: some of its nodes are going when a deletion is tried again. */
  private async lookOnce(run: Running): Promise<void> {
    const { cluster } = this.context;
    if (run.isProven) return;
    const problems = await Promise.all(
      run.claims.map(async (name) => {
        const claim = cluster.claims.get(name);
        return claim === undefined ? undefined : lastLook(this.context, run.command, claim);
      }),
    );
    const problem = problems.find((each) => each !== undefined);
    if (problem !== undefined) throw new Unrecoverable(`the nodes stay: ${problem}`);
    run.isProven = true;
  }

  private settle({ decision, startedMs }: Running, state: 'done' | 'failed'): void {
    const { clock, recorder } = this.context;
    if (decision !== undefined) recorder.settle?.(decision, { state, seconds: (clock.elapsed() - startedMs) / 1000 });
  }

  private async lookAt(run: Running, replacement: { name: string; isReady: boolean }): Promise<void> {
    const { cluster, kube } = this.context;
    const { name } = replacement;
    const { reason } = run.command;
    const claim = cluster.claims.get(name);
    if (claim === undefined) {
      const isGone = await kube.get(nodeClaims, { name }).then(
        () => false,
        (error: unknown) => isKubeError(error, 'NotFound'),
      );
      if (isGone) throw new Unrecoverable(`replacement was deleted, NodeClaim ${name}`);
      return;
    }
    this.parts.report.replacement(name, 'DisruptionLaunching', `Launching NodeClaim: ${reason}`);
    if (isTrue(claim.status?.conditions, conditionType.initialized)) replacement.isReady = true;
    else {
      const text = 'Waiting on readiness to continue disruption';
      this.parts.report.replacement(name, 'DisruptionWaitingReadiness', text);
    }
  }

  private async deleteAll(run: Running): Promise<void> {
    const { cluster } = this.context;
    const { report, claims } = this.parts;
    const { reason, repair } = run.command;
    await Promise.all(
      run.claims.map(async (name) => {
        const seen = cluster.claims.get(name);
        if (seen === undefined || seen.metadata.deletionTimestamp !== undefined) return;
        const claim = repair?.graceMs === undefined ? seen : await boundDrain(this.context, seen, repair.graceMs);
        const node = cluster.machines.ofClaim(name)?.node;
        await endClaim(this.context, claim, {
          code: 'Disrupted',
          message: `was disrupted for ${reason}`,
          silent: true,
        });
        report.terminating(claim, node, reason);
        countDisrupted(claims, run.command, claim);
      }),
    );
  }

  private async putBack(run: Running): Promise<void> {
    const { cluster } = this.context;
    const { metrics, counts } = this.parts;
    cluster.mark(run.keys, false);
    counts.setPendingDisruption(run.pending, false);
    await this.unmark(run.claims);
    const failed = run.replacements.filter(({ isReady }) => !isReady).length;
    // Once all are ready nodes go, and what came is needed.
    if (failed > 0 && run.replacements.length > 1) {
      await withdrawReplacements(
        this.context,
        run.command,
        run.replacements.map(({ name }) => name),
      );
    }
    metrics.queueFailures.add(commandLabels(run.command), failed);
  }

  /** Nodes that leave already keep their marks; a mark that cannot be taken off now goes with the next round's clean-up. */
  private async unmark(names: readonly string[]): Promise<void> {
    const { claims } = this.context.cluster;
    const isStaying = (name: string): boolean => claims.get(name)?.metadata.deletionTimestamp === undefined;
    await Promise.allSettled(names.filter(isStaying).map((name) => removeMarks(this.context, name)));
  }

  private newId(): string {
    this.sequence += 1;
    const part = (digits: number): string =>
      Array.from({ length: digits }, () => Math.floor(this.context.random() * 16).toString(16)).join('');
    return `${part(8)}-${part(4)}-4${part(3)}-8${part(3)}-${part(6)}${this.sequence.toString(16).padStart(6, '0')}`;
  }
}

/** What a line says about a planned replacement; its types only where it is the only one. */
function aboutReplacement(replacement: Replacement | undefined, isOnly: boolean): LogFields {
  if (replacement?.kind !== 'planned') return {};
  const { chosen, instanceTypes } = replacement.node;
  return {
    'capacity-type': chosen.capacityType,
    ...(isOnly ? { 'instance-types': shortList(instanceTypes, 5) } : {}),
  };
}

/** The command cannot succeed any more. */
class Unrecoverable extends Error {}
