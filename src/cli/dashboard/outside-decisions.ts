// Decisions of a cluster seen from outside: what the autoscaler in charge, Kerf or Karpenter, has written down where anyone can
// read it. NodeClaims say what was launched and when it joined, Events what was disrupted, held, refused or interrupted.
// Alternatives, causes and snapshots are known to the controller alone, so these records have none.
import type { NodeClaim } from '../../api/index.ts';
import { conditionType, label } from '../../api/names.ts';
import { type Clock, messageOf, parseTime } from '../../base/index.ts';
import type { DecisionDraft, Kube, KubeObject, Resource } from '../../ports/index.ts';
import type { DecisionRing } from '../../telemetry/index.ts';

interface KubeEvent extends KubeObject {
  reason?: string;
  message?: string;
  involvedObject?: { kind?: string; name?: string; namespace?: string };
  source?: { component?: string };
  reportingComponent?: string;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
}

const events: Resource<KubeEvent> = { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true };
const pageSize = 500;
const mostPages = 20;
const lookMs = 10_000;
/** Events are kept for an hour by most API servers; names of older ones need not be remembered. */
const mostSeen = 20_000;

/** What an Event of an autoscaler says was decided; others say what happened. */
const kinds: Readonly<Record<string, DecisionDraft['what']>> = {
  DisruptionTerminating: 'disrupt',
  DisruptionBlocked: 'hold',
  Unconsolidatable: 'hold',
  FailedScheduling: 'refuse',
  NoCompatibleInstanceTypes: 'refuse',
  SpotInterrupted: 'interrupt',
  TerminatingOnInterruption: 'interrupt',
  NodeRepairBlocked: 'hold',
};

export interface OutsideDecisionsOptions {
  kube: Kube;
  clock: Clock;
  ring: DecisionRing;
  claims(): Iterable<NodeClaim>;
  /** Receives why Events cannot be read, or nothing once they can. */
  onProblem(problem: string | undefined): void;
}

export class OutsideDecisions {
  private readonly options: OutsideDecisionsOptions;
  private readonly seen = new Set<string>();
  /** Launches without an outcome, by NodeClaim. */
  private readonly open = new Map<string, string>();

  constructor(options: OutsideDecisionsOptions) {
    this.options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look();
      await this.options.clock.sleep(lookMs, signal).catch(() => undefined);
    }
  }

  /** What is new since the last look, in the order in which it happened. */
  async look(): Promise<void> {
    const { ring, onProblem } = this.options;
    const found: { time: string; key: string; draft: DecisionDraft }[] = [];
    for (const claim of this.options.claims()) found.push(launchOf(claim));
    try {
      const reported = (await this.events()).filter(isOfAutoscaler);
      const ofClaims = new Set(reported.filter(isAbout('NodeClaim')).map(gistOf));
      for (const event of reported) {
        const what = kinds[event.reason ?? ''];
        // What is decided about a machine is reported twice, on its NodeClaim and on its Node.
        if (what === undefined || (isAbout('Node')(event) && ofClaims.has(gistOf(event)))) continue;
        found.push(decisionOf(event, what));
      }
      onProblem(undefined);
    } catch (error) {
      onProblem(messageOf(error));
    }
    found.sort((left, right) => (left.time < right.time ? -1 : 1));
    for (const { time, key, draft } of found) {
      if (this.seen.has(key)) continue;
      this.note(key);
      const { id } = ring.add(draft, time);
      if (draft.what === 'launch') this.open.set(draft.objects[0]?.name ?? '', id);
    }
    this.settle();
  }

  /** Launches end when their node is initialized, or their NodeClaim is gone before. */
  private settle(): void {
    const { ring, claims } = this.options;
    const there = new Map([...claims()].map((claim) => [claim.metadata.name ?? '', claim]));
    for (const [name, id] of this.open) {
      const claim = there.get(name);
      const since = parseTime(claim?.metadata.creationTimestamp ?? '');
      const condition = claim?.status?.conditions?.find(({ type }) => type === conditionType.initialized);
      const atMs = condition?.status === 'True' ? parseTime(condition.lastTransitionTime ?? '') : undefined;
      if (claim !== undefined && atMs === undefined) continue;
      this.open.delete(name);
      if (atMs === undefined) ring.settle(id, { state: 'failed', message: 'the NodeClaim is gone' });
      else ring.settle(id, { state: 'done', ...(since !== undefined && { seconds: (atMs - since) / 1000 }) });
    }
  }

  private async events(): Promise<KubeEvent[]> {
    const items: KubeEvent[] = [];
    let next: string | undefined;
    for (let page = 0; page < mostPages; page++) {
      const answer = await this.options.kube.list(events, {
        limit: pageSize,
        ...(next !== undefined && { continue: next }),
      });
      items.push(...answer.items);
      next = answer.continue;
      if (next === undefined) return items;
    }
    return items;
  }

  private note(key: string): void {
    this.seen.add(key);
    for (const oldest of this.seen) {
      if (this.seen.size <= mostSeen) return;
      this.seen.delete(oldest);
    }
  }
}

const isOfAutoscaler = ({ source, reportingComponent }: KubeEvent): boolean =>
  /karpenter|kerf/.test(`${source?.component ?? ''} ${reportingComponent ?? ''}`);

const isAbout =
  (kind: string) =>
  ({ involvedObject }: KubeEvent): boolean =>
    involvedObject?.kind === kind;

const timeOf = ({ lastTimestamp, eventTime, firstTimestamp, metadata }: KubeEvent): string =>
  lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata.creationTimestamp ?? '';

/** The same for both events about one machine. */
const gistOf = (event: KubeEvent): string =>
  `${timeOf(event)} ${event.reason} ${event.message?.replace('NodeClaim', 'Node')}`;

function decisionOf(event: KubeEvent, what: DecisionDraft['what']) {
  const { reason = '', message = '', involvedObject = {}, metadata } = event;
  const { kind = '', name = '', namespace } = involvedObject;
  const time = timeOf(event);
  const objects = [{ kind, name, ...(namespace !== undefined && namespace !== '' && kind === 'Pod' && { namespace }) }];
  const pods = kind === 'Pod' ? { pods: { count: 1, names: [`${namespace ?? ''}/${name}`] } } : {};
  const draft: DecisionDraft = { what, objects, reasons: [{ code: reason, message }], ...pods };
  // An Event that happens again keeps its name and gets a new time.
  return { time, key: `${metadata.uid ?? metadata.name ?? ''} ${time}`, draft };
}

function launchOf({ metadata, status }: NodeClaim) {
  const { name = '', labels = {}, creationTimestamp = '', uid = name } = metadata;
  const launched = status?.conditions?.find(({ type }) => type === conditionType.launched);
  const failed = launched?.status === 'False' ? (launched.message ?? '') : '';
  const draft: DecisionDraft = {
    what: 'launch',
    objects: [{ kind: 'NodeClaim', name }],
    reasons: [{ code: 'NodeClaim', message: failed || `NodePool ${labels[label.nodePool] ?? ''} got a new NodeClaim` }],
    chosen: {
      instanceType: labels[label.instanceType] ?? 'not launched yet',
      zone: labels[label.zone] ?? '',
      capacityType: labels[label.capacityType] ?? '',
      pricePerHour: 0,
    },
    outcome: { state: 'pending' },
  };
  return { time: creationTimestamp, key: uid, draft };
}
