// What if: the cluster as it is with some changes, planned and judged beside the cluster as it is. One at a time, in slices,
// with a limit; nothing is written anywhere.
import type { NodePool } from '../../api/index.ts';
import { type Clock, inSlices, messageOf } from '../../base/index.ts';
import type { ControllerContext } from '../../controllers/index.ts';
import { nodeVerdicts, type Plan, Round, type Snapshot } from '../../core/index.ts';
import { ApiError } from './api-error.ts';
import type { LiveView } from './live-view.ts';
import { type Changed, changedSnapshot, type Drift, orderOf, readManifests } from './what-if-changes.ts';

const limitMs = 60_000;
/** A recorded day is planned through twice. */
const dayLimitMs = 600_000;
const mostNames = 50;

export interface Finding {
  severity: string;
  message: string;
  line?: number;
}

interface Side {
  pricePerHour: number;
  newNodes: number;
  unschedulable: number;
  /** Nodes that would be removed or replaced, and what that saves. */
  going: number;
  goingPerHour: number;
}

/** A recorded day played twice, with its own NodePools and with others. */
export interface DayCompared {
  from: string;
  to: string;
  before: DaySide;
  after: DaySide;
}

interface DaySide {
  dollars: number;
  evictions: number;
  launched: number;
  removed: number;
  mostNodes: number;
  podHoursWithoutPlace: number;
}

export interface WhatIfResult {
  apiVersion: 'kerf/v1';
  kind: 'WhatIfResult';
  id: string;
  state: 'running' | 'done' | 'failed' | 'cancelled';
  message?: string;
  findings: Finding[];
  before?: Side;
  after?: Side;
  /** Pods that have a place before and none after, and the other way round. */
  losePlace?: string[];
  gainPlace?: string[];
  /** Pods that sit on nodes that go, and so have to move. */
  moved?: number;
  newNodes?: { instanceType: string; zone: string; capacityType: string; pricePerHour: number; pods: number }[];
  drift?: Drift[];
  day?: DayCompared;
  tookMs?: number;
}

export interface WhatIfOptions {
  context: ControllerContext;
  live: LiveView;
  real: Clock;
  /** What `kerf validate` finds in manifests. */
  validate?: (text: string) => Promise<Finding[]>;
  /** Plays what was recorded with other NodePools; absent where nothing is. `goOn` throws when it is to end. */
  day?: (pools: readonly NodePool[], goOn: () => void) => Promise<DayCompared>;
}

export class WhatIfs {
  private readonly options: WhatIfOptions;
  private readonly listeners = new Set<(result: WhatIfResult) => void>();
  private running: { id: string; isCancelled: boolean } | undefined;
  private sequence = 0;
  private last: WhatIfResult | undefined;

  constructor(options: WhatIfOptions) {
    this.options = options;
  }

  subscribe(listener: (result: WhatIfResult) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Resolves with the id; progress and result are reported to listeners. */
  async start(body: unknown): Promise<WhatIfResult> {
    if (this.running !== undefined) {
      const fix = `wait for it, or DELETE what-if/${this.running.id}`;
      throw new ApiError(409, 'Busy', 'another what-if is running', fix);
    }
    const order = orderOf(body);
    const id = `w-${++this.sequence}`;
    const run = { id, isCancelled: false };
    this.running = run;
    const started: WhatIfResult = { apiVersion: 'kerf/v1', kind: 'WhatIfResult', id, state: 'running', findings: [] };
    void this.run(run, order)
      .catch((error: unknown): WhatIfResult => ({ ...started, state: 'failed', message: messageOf(error) }))
      .then((result) => {
        this.running = undefined;
        this.last = result;
        for (const listener of this.listeners) listener(result);
      });
    return started;
  }

  /** For whoever was not connected when it was reported. */
  result(id: string): WhatIfResult {
    if (this.last?.id === id) return this.last;
    if (this.running?.id !== id) throw ApiError.notFound(`there is no what-if ${id}; only the last is kept`);
    return { apiVersion: 'kerf/v1', kind: 'WhatIfResult', id, state: 'running', findings: [] };
  }

  cancel(id: string): object {
    if (this.running?.id !== id) throw ApiError.notFound(`no what-if ${id} is running`);
    this.running.isCancelled = true;
    return { apiVersion: 'kerf/v1', kind: 'WhatIfResult', id, state: 'cancelled', findings: [] };
  }

  private async run(
    run: { id: string; isCancelled: boolean },
    order: ReturnType<typeof orderOf>,
  ): Promise<WhatIfResult> {
    const { live, real, validate, day } = this.options;
    const startedMs = real.now();
    const base = { apiVersion: 'kerf/v1' as const, kind: 'WhatIfResult' as const, id: run.id };
    const findings = order.manifests === '' ? [] : ((await validate?.(order.manifests)) ?? []);
    const mostMs = order.day ? dayLimitMs : limitMs;
    const isOver = (): boolean => run.isCancelled || real.now() - startedMs > mostMs;
    const ended = (): WhatIfResult => ({
      ...base,
      state: run.isCancelled ? 'cancelled' : 'failed',
      message: run.isCancelled ? 'cancelled' : `not done within ${mostMs / 1000} s`,
      findings,
    });
    if (findings.some(({ severity }) => severity === 'error')) {
      return { ...base, state: 'failed', message: 'the manifests have errors', findings };
    }
    if (order.day) {
      if (day === undefined) return { ...base, state: 'failed', message: 'nothing is recorded here', findings };
      const pools = readManifests(order.manifests).filter(({ kind }) => kind === 'NodePool') as unknown as NodePool[];
      if (pools.length === 0)
        return { ...base, state: 'failed', message: 'write the NodePool to compare with', findings };
      const compared = await day(pools, () => {
        if (isOver()) throw new Error(ended().message);
      });
      return { ...base, state: 'done', findings, day: compared, tookMs: Math.round(real.now() - startedMs) };
    }
    const { snapshot } = await live.looks.look();
    let changed: Changed;
    try {
      changed = changedSnapshot(snapshot, order);
    } catch (error) {
      const problem = { severity: 'error', message: messageOf(error) };
      return { ...base, state: 'failed', message: problem.message, findings: [...findings, problem] };
    }
    const before = await this.side(snapshot);
    if (isOver()) return ended();
    const after = await this.side(changed.snapshot);
    if (isOver()) return ended();
    const refused = (plan: Plan): Set<string> => new Set(plan.unschedulable.map(({ pod }) => pod));
    const [refusedBefore, refusedAfter] = [refused(before.plan), refused(after.plan)];
    const removed = order.removeNodes.length > 0 || order.zoneGone !== '' ? changed.gonePricePerHour : 0;
    const totalBefore = live.totals().pricePerHour;
    return {
      ...base,
      state: 'done',
      findings: [...findings, ...changed.notes.map((message) => ({ severity: 'note', message }))],
      before: sideOf(before, totalBefore + before.plan.pricePerHour),
      after: sideOf(after, totalBefore - removed + after.plan.pricePerHour),
      losePlace: [...refusedAfter].filter((pod) => !refusedBefore.has(pod)).slice(0, mostNames),
      gainPlace: [...refusedBefore].filter((pod) => !refusedAfter.has(pod)).slice(0, mostNames),
      moved: changed.movedPods,
      newNodes: after.plan.newNodes.slice(0, mostNames).map(({ chosen, pods }) => ({ ...chosen, pods: pods.length })),
      drift: changed.drift,
      tookMs: Math.round(real.now() - startedMs),
    };
  }

  private async side(snapshot: Snapshot): Promise<Judged> {
    const { context } = this.options;
    const plan = await context.plan(snapshot);
    const round = await inSlices(context.clock, Round.inSlices(snapshot));
    const verdicts = await inSlices(context.clock, nodeVerdicts(round));
    const going = verdicts.filter(({ verdict }) => verdict !== 'keep');
    return { plan, going: going.length, goingPerHour: going.reduce((sum, each) => sum + each.savingsPerHour, 0) };
  }
}

interface Judged {
  plan: Plan;
  going: number;
  goingPerHour: number;
}

function sideOf({ plan, going, goingPerHour }: Judged, pricePerHour: number): Side {
  return {
    pricePerHour,
    newNodes: plan.newNodes.length,
    unschedulable: plan.unschedulable.length,
    going,
    goingPerHour,
  };
}
