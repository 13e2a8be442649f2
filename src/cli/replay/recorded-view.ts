// A recording as a cluster to look at: its objects at one moment, shown as an API server would, with the same model, verdicts
// and plans as of a live cluster; played, paused and sought through. No controller runs, and nothing can be written.
import { awsGroup, kwokGroup } from '../../api/names.ts';
import { KerfError } from '../../base/index.ts';
import type { PoolInstanceTypes, Snapshot } from '../../core/index.ts';
import type { Cloud, Resource } from '../../ports/index.ts';
import { Manager, RealClock } from '../../runtime/index.ts';
import {
  type AnswerParts,
  ApiError,
  assemble,
  type Kept,
  LiveView,
  type PlayerState,
  RecordedDay,
  ShownKube,
} from '../../server/index.ts';
import { DecisionRing, prometheusMetrics, silentLog } from '../../telemetry/index.ts';
import { settingsAs } from '../dashboard/outside.ts';

const nodeClasses: Resource[] = [
  { group: awsGroup, version: 'v1', plural: 'ec2nodeclasses', kind: 'EC2NodeClass', namespaced: false },
  { group: kwokGroup, version: 'v1alpha1', plural: 'kwoknodeclasses', kind: 'KWOKNodeClass', namespaced: false },
];

const playMs = 500;
const fastest = 6_000;

/** The machine's clock, but for what time it is: a moment of the recording, which may stand still. */
class PlayedClock extends RealClock {
  speed = 1;
  paused = true;
  private fromMs: number;
  private sinceMs = super.now();

  constructor(atMs: number) {
    super();
    this.fromMs = atMs;
  }

  override now(): number {
    return this.fromMs + (this.paused ? 0 : (super.now() - this.sinceMs) * this.speed);
  }

  set(change: { atMs?: number; speed?: number; paused?: boolean }): void {
    this.fromMs = change.atMs ?? this.now();
    this.sinceMs = super.now();
    this.speed = change.speed ?? this.speed;
    this.paused = change.paused ?? this.paused;
  }
}

export type RecordedView = Awaited<ReturnType<typeof openRecording>>;

export async function openRecording(file: string) {
  const real = new RealClock();
  const day = new RecordedDay(file, real);
  let { fromMs, toMs, decisions: found } = await day.bounds();
  const first = await day.at(fromMs);
  if (first === undefined)
    throw new KerfError('RecordingUnreadable', `${file} holds no pass: there is nothing to show`);
  const clock = new PlayedClock(fromMs);
  const shown = new ShownKube();
  let seen: Snapshot = first;
  shown.show(first.objects.items);
  const { context, touches, caches, always } = assemble({
    kube: shown.kube(),
    cloud: recordedCloud(first, () => seen.instanceTypes ?? []),
    clock,
    log: silentLog,
    metrics: prometheusMetrics(),
    recorder: { publish: () => undefined },
    settings: settingsAs(first.settings ?? {}),
    random: Math.random,
    controllers: () => ({ controllers: [], loops: [] }),
  });
  const live = new LiveView({ context, touches, real });
  const decisions = new DecisionRing(clock);
  for (const decision of found.values()) decisions.restore(decision);
  const show = async (): Promise<void> => {
    const now = await day.at(clock.now());
    if (now === undefined || now === seen) return;
    seen = now;
    shown.show(now.objects.items);
  };
  const seek = async (ms: number): Promise<void> => {
    clock.set({ atMs: Math.max(fromMs, Math.min(toMs, ms)) });
    await show();
  };
  const play = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      if (clock.now() >= toMs) clock.set({ atMs: toMs, paused: true });
      await show();
      await real.sleep(playMs, signal).catch(() => undefined);
    }
  };
  return {
    context,
    live,
    decisions,
    clock,
    seek,
    bounds: () => ({ fromMs, toMs }),
    kept: keptIn(day),
    /** A recording that grows, read again to its end. */
    async extend(): Promise<void> {
      ({ fromMs, toMs, decisions: found } = await day.bounds());
    },
    /** Resolves when `signal` is aborted. */
    run: (signal: AbortSignal): Promise<unknown> =>
      Promise.all([new Manager({ clock: real, caches, always, leading: [] }).run(signal), play(signal)]),
  };
}

export function keptIn(day: RecordedDay): Kept {
  return {
    snapshotOf: async (id) => (await day.snapshotOf(id))?.snapshot,
    madeAgain: (id) => day.madeAgain(id),
  };
}

/** Of a recording by itself: pause, speed and seek; nothing can go wrong in it, and nothing can be scaled. */
export function recordingPlayer({ clock, bounds, seek }: Pick<RecordedView, 'clock' | 'bounds' | 'seek'>): PlayerState {
  const state = () => ({ speed: clock.speed, paused: clock.paused, faults: [], recorded: bounds() });
  return {
    state,
    async act(order) {
      const given = (typeof order === 'object' && order !== null ? order : {}) as Record<string, unknown>;
      const { speed, paused, seek: to } = given;
      if (speed !== undefined) clock.set({ speed: speedOf(speed) });
      if (typeof paused === 'boolean') clock.set({ paused });
      if (to !== undefined && to !== null) await seek(momentOf(to));
      return { apiVersion: 'kerf/v1', kind: 'Player', ...state() };
    },
  };
}

function speedOf(given: unknown): number {
  const speed = Number(given);
  if (speed > 0 && speed <= fastest) return speed;
  throw new ApiError(400, 'BadRequest', `speed ${String(given)} is not possible`, `write 1 to ${fastest}`);
}

/** Milliseconds, or a time as RFC 3339 writes it. */
export function momentOf(given: unknown): number {
  const ms = typeof given === 'number' ? given : Date.parse(String(given));
  if (Number.isFinite(ms)) return ms;
  throw new ApiError(400, 'BadRequest', `seek ${String(given)} is not a time`, 'write RFC 3339');
}

export const partsOf = (view: RecordedView, info: AnswerParts['info']): AnswerParts => ({
  context: view.context,
  live: view.live,
  decisions: view.decisions,
  info,
  kept: view.kept,
});

/** Sells what the recording says was sold; launches nothing. */
function recordedCloud(first: Snapshot, offered: () => readonly PoolInstanceTypes[]): Cloud {
  const refuse = (): Promise<never> => Promise.reject(new KerfError('ReadOnly', 'a recording launches nothing'));
  return {
    name: 'recording',
    facts: (first.provider ?? {}) as Cloud['facts'],
    nodeClasses,
    create: refuse,
    delete: refuse,
    get: refuse,
    list: async () => [],
    instanceTypes: async (pool) => offered().find(({ nodePool }) => nodePool === pool.metadata.name)?.items ?? [],
    driftReason: async () => undefined,
    repairPolicies: () => [],
  };
}
