// The documents of the dashboard's API, each a question to the live view. What they say of an object equals
// `kerf explain … -o json`, field for field, because it is made by the same functions.
import { inSlices } from '../../base/index.ts';
import type { ControllerContext } from '../../controllers/index.ts';
import { nodeVerdicts, type Snapshot } from '../../core/index.ts';
import type { Decision, ShadowReport } from '../../ports/index.ts';
import { isTerminal, keyOf } from '../../state/index.ts';
import type { DecisionRing } from '../../telemetry/index.ts';
import {
  type CostView,
  costView,
  findPod,
  nodeOfPod,
  type PoolView,
  podStory,
  poolView,
  seriesLimits,
  waitingView,
  workloadOf,
} from '../../view/index.ts';
import type { MadeAgain } from '../recording/recorded-day.ts';
import { ApiError } from './api-error.ts';
import type { LiveView } from './live-view.ts';
import type { UsageView } from './usage.ts';

export interface DashboardInfo {
  mode: 'up' | 'controller' | 'shadow' | 'outside' | 'recording';
  cluster: string;
  build: string;
  /** What cannot be seen, and why. */
  notVisible(): string[];
  /** Only in `up`. */
  player?: PlayerState;
}

export interface PlayerState {
  state(): PlayerNow;
  act(order: unknown): Promise<object>;
}

export interface PlayerNow {
  speed: number;
  paused: boolean;
  faults: string[];
  /** What can be gone back to; absent where nothing is recorded. */
  recorded?: { fromMs: number; toMs: number };
  /** What is shown is the past, while the cluster goes on. */
  isPast?: boolean;
  /** The story that is played: its name, and what is said at this moment. */
  story?: { name: string; caption: string; step: number; steps: number };
}

/** What was kept of what decisions looked at. */
export interface Kept {
  snapshotOf(id: string): Promise<Snapshot | undefined>;
  /** The decision made again from it. */
  madeAgain(id: string): Promise<MadeAgain | undefined>;
}

export interface AnswerParts {
  context: ControllerContext;
  live: LiveView;
  decisions: DecisionRing | undefined;
  info: DashboardInfo;
  /** The findings of `kerf doctor -o json`. */
  findings?: () => Promise<object>;
  /** What nodes really use; absent where no one asks. */
  usage?: () => Promise<UsageView>;
  /** Absent: nothing is recorded, or it is too much to be read in this process. */
  kept?: Kept;
  /** Where it is recorded, for the command that reads it. */
  recordFile?: string;
  /** What it would have done, of a shadow. */
  shadow?: () => ShadowReport;
}

const document = <T extends object>(kind: string, body: T) => ({ apiVersion: 'kerf/v1' as const, kind, ...body });
export const pageSize = 200;
export const limits = { viewers: 20, page: pageSize, series: seriesLimits, whatIfBytes: 256 * 1024 };

export function infoDocument({ context, decisions, info, live, findings, kept, usage }: AnswerParts): object {
  const { mode, cluster, build, player } = info;
  return document('Info', {
    mode,
    cluster,
    build,
    time: live.now(),
    ...(player === undefined ? { speed: 1, paused: false } : player.state()),
    capabilities: {
      player: player !== undefined,
      decisions: decisions !== undefined,
      whatIf: true,
      apply: mode === 'up',
      doctor: findings !== undefined,
      snapshots: kept !== undefined,
      usage: usage !== undefined,
    },
    limits,
    provider: context.cloud.name,
    synced: context.cluster.synced,
    notVisible: info.notVisible(),
    ...(decisions?.keptSince !== undefined && { decisionsKeptSince: decisions.keptSince }),
  });
}

/** What `kerf explain node NAME -o json` prints. */
export async function nodeDocument({ context, live }: AnswerParts, name: string): Promise<object> {
  const { round } = await live.looks.look();
  const asked = nodeVerdicts(round, ({ name: own, machine }) => own === name || machine.claim?.metadata.name === name);
  const verdicts = await inSlices(context.clock, asked);
  if (verdicts.length === 0) throw ApiError.notFound(`there is no node ${name}`);
  return verdicts;
}

/** What `kerf explain pod NAMESPACE/NAME -o json` prints. */
export async function podDocument({ live }: AnswerParts, key: string): Promise<object> {
  const [{ snapshot, round }, plan] = await Promise.all([live.looks.look(), live.looks.plan()]);
  const pod = found(() => findPod(snapshot, key));
  const story = podStory(pod, { plan, snapshot, relaxed: live.looks.relaxedPods() });
  const { nodeName } = pod.spec ?? {};
  if (!nodeName || isTerminal(pod)) return story;
  return { ...story, ...nodeOfPod(round, story.pod, nodeName) };
}

function found<T>(find: () => T): T {
  try {
    return find();
  } catch (error) {
    throw ApiError.notFound(error instanceof Error ? error.message : String(error));
  }
}

export async function podsDocument({ context }: AnswerParts, query: URLSearchParams): Promise<object> {
  const { pods } = context.cluster;
  const node = query.get('node');
  const workload = query.get('workload');
  const state = query.get('state');
  const after = query.get('continue') ?? '';
  const items: object[] = [];
  const candidates = [...(node === null ? pods.store.list() : pods.on(node))];
  candidates.sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
  for (const pod of candidates) {
    const key = keyOf(pod);
    const own = pod.spec?.nodeName ? (pod.status?.phase ?? 'Pending').toLowerCase() : 'waiting';
    if (key <= after || isTerminal(pod)) continue;
    if ((workload !== null && workloadOf(pod) !== workload) || (state !== null && own !== state)) continue;
    if (items.length === pageSize)
      return document('PodList', { items, continue: (items.at(-1) as { pod: string }).pod });
    items.push({ pod: key, workload: workloadOf(pod), node: pod.spec?.nodeName ?? '', state: own });
  }
  return document('PodList', { items });
}

export async function waitingDocument({ live }: AnswerParts): Promise<object> {
  const time = live.now();
  const claimOf = (pod: string) => live.claimOf(pod);
  // Where no pod waits there is nothing to plan for, and a plan of a large cluster takes seconds.
  if (live.waitingPods().length === 0) return waitingView({ time, pods: [], claimOf });
  const plan = await live.looks.plan();
  return waitingView({ time: live.now(), plan, pods: live.waitingPods(), claimOf });
}

export async function poolsDocument({ context, live }: AnswerParts): Promise<{ items: PoolView[] }> {
  // A pool is what its nodes are: before the first verdicts it would seem to have none.
  if (live.allVerdicts().length === 0) await live.judged();
  const { round } = await live.looks.look();
  const { cluster } = context;
  const verdicts = live.allVerdicts();
  const items = cluster.nodePools.list().map((pool) =>
    poolView({
      pool,
      fleet: round.fleet,
      verdicts,
      pause: cluster.launchBackoff.pauseOf(pool.metadata.uid ?? ''),
    }),
  );
  return document('PoolList', { items: items.sort((left, right) => right.pricePerHour - left.pricePerHour) });
}

export async function poolDocument(parts: AnswerParts, name: string): Promise<object> {
  const { items } = await poolsDocument(parts);
  const pool = items.find((each) => each.name === name);
  if (pool === undefined) throw ApiError.notFound(`there is no NodePool ${name}`);
  const object = parts.context.cluster.nodePools.get(name);
  return document('Pool', { ...pool, spec: object?.spec, conditions: object?.status?.conditions ?? [] });
}

export function costDocument({ live }: AnswerParts): CostView {
  const money = live.looks.money();
  return costView({
    time: live.now(),
    rows: live.model.rows(),
    verdicts: live.allVerdicts(),
    ...(money !== undefined && { money }),
  });
}

/** Newest first, so that a first page is what happened last. */
export function decisionsDocument({ decisions }: AnswerParts, query: URLSearchParams): object {
  if (decisions === undefined) return document('DecisionList', { items: [] });
  const [from, to, what, object] = ['from', 'to', 'what', 'object'].map((name) => query.get(name) ?? '');
  const before = query.get('continue') ?? '';
  const kinds = what === '' ? undefined : new Set(what?.split(','));
  const isAsked = (decision: Decision): boolean =>
    (from === '' || decision.time >= (from ?? '')) &&
    (to === '' || decision.time <= (to ?? '')) &&
    (kinds === undefined || kinds.has(decision.what)) &&
    (object === '' || isAbout(decision, object ?? ''));
  const all = [...decisions.all()].reverse();
  const start = before === '' ? 0 : all.findIndex(({ id }) => id === before) + 1;
  const items: Decision[] = [];
  for (const decision of all.slice(start)) {
    if (!isAsked(decision)) continue;
    if (items.length === pageSize) {
      return document('DecisionList', { items, continue: items.at(-1)?.id, ...since(decisions) });
    }
    items.push(decision);
  }
  return document('DecisionList', { items, ...since(decisions) });
}

const since = ({ keptSince }: DecisionRing) => (keptSince === undefined ? {} : { keptSince });

function isAbout({ objects, pods }: Decision, name: string): boolean {
  return (
    objects.some((each) => each.name === name || `${each.namespace ?? ''}/${each.name}` === name) ||
    pods?.names.includes(name) === true
  );
}

/** With what followed from it. */
export function decisionDocument(parts: AnswerParts, id: string): object {
  const { decisions } = parts;
  const decision = decisions?.get(id);
  if (decision === undefined) {
    const fix = 'only the last decisions are kept, in memory';
    throw new ApiError(404, 'NotFound', `there is no decision ${id}`, fix);
  }
  const ledTo = [...(decisions?.all() ?? [])].filter(({ cause }) => cause === id).map((each) => each.id);
  return { apiVersion: 'kerf/v1', ...decision, ...(ledTo.length > 0 && { ledTo }) };
}

/** The name of what it looked at. A decision that is forgotten may be in the recording. */
function snapshotNamed(parts: AnswerParts, id: string): string {
  const decision = parts.decisions?.get(id);
  if (decision === undefined) throw notKept(parts, id);
  if (decision.snapshot === undefined) throw ApiError.notFound(`${id} was not made from a snapshot`);
  return decision.snapshot;
}

/** What the decision looked at; `kerf plan --snapshot` and `kerf explain --snapshot` read it. */
export async function decisionSnapshot(parts: AnswerParts, id: string): Promise<object> {
  const snapshot = snapshotNamed(parts, id);
  const kept = await parts.kept?.snapshotOf(snapshot);
  if (kept === undefined) throw notKept(parts, id);
  return kept;
}

/** The decision made again from what it looked at, and whether the answer is the same, byte for byte. */
export async function decisionAgain(parts: AnswerParts, id: string): Promise<object> {
  const snapshot = snapshotNamed(parts, id);
  const again = await parts.kept?.madeAgain(snapshot);
  if (again === undefined) throw notKept(parts, id);
  const { isEqual, ...answers } = again;
  return document('Replay', { decision: id, snapshot, equal: isEqual, ...(!isEqual && answers) });
}

function notKept({ recordFile }: AnswerParts, id: string): ApiError {
  const fix =
    recordFile === undefined
      ? `start with --record FILE, then \`kerf replay FILE --at ${id} --snapshot OUT\` writes it`
      : `\`kerf replay ${recordFile} --at ${id} --snapshot OUT\` writes it, where the recording has it`;
  return new ApiError(410, 'Gone', `the snapshot of ${id} is not kept in memory`, fix);
}

export function seriesDocument({ live, context }: AnswerParts, query: URLSearchParams): object {
  const names = (query.get('names') ?? '').split(',').filter((name) => name !== '');
  const nowMs = context.clock.now();
  const at = (name: string, otherwise: number): number => {
    const text = query.get(name);
    if (text === null) return otherwise;
    const value = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
    if (Number.isNaN(value)) throw new ApiError(400, 'BadRequest', `${name} is not a time: ${text}`, 'write RFC 3339');
    return value;
  };
  const from = at('from', nowMs - 3_600_000);
  const step = Number(query.get('step') ?? 0) * 1000;
  const wanted = names.length > 0 ? names : live.series.names();
  return live.series.read(wanted, from, at('to', nowMs), Number.isFinite(step) ? step : 0);
}
