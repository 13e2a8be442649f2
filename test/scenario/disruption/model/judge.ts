// Watches everything our controllers do to the cluster and says what broke a rule. It stands between them and the API
// server, looks at the real cluster whenever they act, and remembers the last few seconds: what was allowed a moment ago,
// before the news could have reached them, is not held against them.
import { annotation, conditionType, durationMs, label, type NodeClaim } from '../../../../src/api/index.ts';
import { type Clock, parseTime } from '../../../../src/base/index.ts';
import type { InstanceTypeSpec } from '../../../../src/core/index.ts';
import {
  isKubeError,
  type Kube,
  type KubeObject,
  type LogFields,
  type ObjectRef,
  type Pod,
} from '../../../../src/ports/index.ts';
import { quantity } from '../../../planner/rules/quantity.ts';
import { nodesOf } from '../command-log.ts';
import {
  claimIs,
  claimOfNode,
  isDeleting,
  isMarked,
  nodeNamed,
  type Observation,
  observe,
  podsOn,
  poolNameOf,
} from './observation.ts';
import { haveRoom } from './places.ts';
import { allowedBy, countNodes, forbidden, isProtectedPod, overLimit, type Reason } from './rules.ts';

/** Longer than a slow call and slow news together. */
const memoryMs = 4_000;

export class Judge {
  readonly violations: string[] = [];
  /** What was judged, by kind: a judge that never saw anything proves nothing. */
  readonly seen = { commands: 0, replacements: 0, evictions: 0, forced: 0, launches: 0, deletions: 0 };
  private readonly kube: Kube;
  private readonly clock: Clock;
  private readonly catalogue: readonly InstanceTypeSpec[];
  private memory: Observation[] = [];
  /** Claims that were made lately, by name. */
  private fresh = new Map<string, { claim: NodeClaim; atMs: number }>();
  /** Nodes of commands under way, by the command's id. */
  private readonly commands = new Map<string, readonly string[]>();

  private lastWords: { nodes: readonly string[]; atMs: number } | undefined;

  constructor(kube: Kube, clock: Clock, catalogue: readonly InstanceTypeSpec[]) {
    this.kube = kube;
    this.clock = clock;
    this.catalogue = catalogue;
  }

  /** Looks at the cluster now; to be called before and after anything someone else does to it. */
  async look(): Promise<Observation> {
    const now = await observe(this.kube, this.clock);
    this.memory = [...this.memory.filter(({ atMs }) => atMs >= now.atMs - memoryMs), now];
    return now;
  }

  /** The process is gone, and with it the commands only it knew of; its last calls may still arrive. */
  processDied(): void {
    this.lastWords = { nodes: [...this.commands.values()].flat(), atMs: this.clock.now() };
    this.commands.clear();
  }

  /** Claims that a command under way is about. */
  isInCommand(node: string): boolean {
    return [...this.commands.values()].some((nodes) => nodes.includes(node));
  }

  onLog(message: string, fields: LogFields): void {
    const command = String(fields['command'] ?? '');
    if (message === 'disrupting node(s)') void this.judgeCommand(command, fields);
    if (message === 'failed to disrupt nodes') this.commands.delete(command);
  }

  between(world: Kube): Kube {
    return {
      ...world,
      get: (...call) => world.get(...call),
      list: (...call) => world.list(...call),
      watch: (...call) => world.watch(...call),
      replace: (...call) => world.replace(...call),
      patch: (...call) => world.patch(...call),
      bind: (...call) => world.bind(...call),
      create: async (resource, object, options) => {
        const created = await world.create(resource, object, options);
        if (resource.plural === 'nodeclaims') await this.judgeLaunch(created as unknown as NodeClaim);
        return created;
      },
      delete: async (resource, ref, options) => {
        const before = await this.look();
        await world.delete(resource, ref, options);
        if (resource.plural === 'nodeclaims') this.judgeDeletion(before, ref);
        if (resource.plural === 'pods') this.judgeForced(before, ref, options?.gracePeriodSeconds);
      },
      evict: async (ref, options) => {
        const before = await this.look();
        await world.evict(ref, options);
        this.judgeEviction(before, ref);
      },
    };
  }

  private async judgeCommand(text: string, fields: LogFields): Promise<void> {
    const [, word = '', id = ''] = /^(\w+)\/([^:]+):/.exec(text) ?? [];
    const reason = word as Reason;
    this.seen.commands += 1;
    if (Number(fields['replacement-node-count']) > 0) this.seen.replacements += 1;
    const now = await this.look();
    // Of nodes that only go, those that could not be marked stay.
    const nodes = nodesOf(fields).filter((name) => {
      const node = nodeNamed(now, name);
      const claim = node === undefined ? undefined : claimOfNode(now, node);
      return claim === undefined || isMarked(claim);
    });
    this.commands.set(id, nodes);
    for (const name of nodes) {
      const problems = this.memory.map((then) => forbidden(then, name, reason));
      if (!problems.includes(undefined)) this.report(`${text}: ${name} may not be disrupted: ${problems.at(-1)}`);
    }
    const pools = new Set(nodes.map((name) => nodeNamed(now, name)).map((node) => (node ? poolNameOf(node) : '')));
    for (const pool of pools) {
      const problems = this.memory.map((then) => this.overBudget(then, now, pool, reason));
      if (!problems.includes(undefined)) this.report(`${text}: more than the budget of ${pool}: ${problems.at(-1)}`);
    }
    const fresh = [...this.fresh.values()].filter(({ atMs }) => atMs >= now.atMs - memoryMs).map(({ claim }) => claim);
    const leaving = new Set(nodes);
    if (!this.memory.some((then) => haveRoom(then, leaving, fresh, this.catalogue, reason))) {
      const pods = nodes.flatMap((name) => podsOn(now, name)).map(({ metadata }) => metadata.name);
      this.report(`${text}: no place for its pods (${pods.join(', ')})`);
    }
  }

  private overBudget(then: Observation, now: Observation, name: string, reason: Reason): string | undefined {
    const pool = then.pools.find(({ metadata }) => metadata.name === name);
    if (pool === undefined) return undefined;
    const { total, out } = countNodes(then, name);
    for (const node of [...this.commands.values()].flat()) {
      const known = nodeNamed(now, node);
      if (known !== undefined && poolNameOf(known) === name && !isEnding(then, node)) out.add(node);
    }
    const allowed = allowedBy(pool, reason, total, then.atMs);
    return out.size > allowed ? `${out.size} of ${total} are out, ${allowed} may be` : undefined;
  }

  private async judgeLaunch(claim: NodeClaim): Promise<void> {
    this.seen.launches += 1;
    this.fresh.set(claim.metadata.name ?? '', { claim, atMs: this.clock.now() });
    const now = await this.look();
    const name = poolNameOf(claim);
    const going = new Set([...this.memory, now].flatMap(({ claims }) => claims.filter(isMarked).map(nameOf)));
    const own = now.claims.filter(
      (each) =>
        poolNameOf(each) === name &&
        !isDeleting(each) &&
        !going.has(nameOf(each)) &&
        !claimIs(each, 'InstanceTerminating'),
    );
    const problems = this.memory.map(({ pools }) => {
      const pool = pools.find(({ metadata }) => metadata.name === name);
      return pool === undefined ? undefined : overLimit(pool, own, (each, resource) => this.capacityOf(each, resource));
    });
    if (!problems.includes(undefined))
      this.report(`${nameOf(claim)} exceeds the limits of ${name}: ${problems.at(-1)}`);
  }

  /** What was launched; the most it may become for a claim that is still to be. */
  private capacityOf(claim: NodeClaim, resource: string): bigint {
    if (resource === 'nodes') return quantity('1');
    const launched = claim.status?.capacity?.[resource];
    if (launched !== undefined) return quantity(launched);
    const named = claim.spec.requirements?.find(({ key }) => key === label.instanceType)?.values ?? [];
    const all = this.catalogue
      .filter((type) => named.includes(type.name))
      .map(({ capacity }) => quantity(capacity[resource] ?? '0'));
    return all.reduce((most, each) => (each > most ? each : most), 0n);
  }

  private judgeDeletion(before: Observation, { name }: ObjectRef): void {
    this.seen.deletions += 1;
    const claim = before.claims.find((each) => nameOf(each) === name);
    if (claim === undefined || isDeleting(claim) || !claimIs(claim, conditionType.registered)) return;
    const node = before.nodes.find(({ spec }) => spec?.providerID === claim.status?.providerID);
    if (node === undefined || isDeleting(node) || this.isInCommand(nameOf(node))) return;
    const { nodes: former = [], atMs: diedMs = 0 } = this.lastWords ?? {};
    if (former.includes(nameOf(node)) && before.atMs - diedMs < memoryMs) return;
    const expireMs = durationMs(claim.spec.expireAfter) ?? Number.POSITIVE_INFINITY;
    if (before.atMs >= (parseTime(claim.metadata.creationTimestamp ?? '') ?? 0) + expireMs) return;
    this.report(`NodeClaim ${name} was deleted for no reason`);
  }

  private judgeEviction(before: Observation, ref: ObjectRef): void {
    this.seen.evictions += 1;
    const pod = podOf(before, ref);
    const node = pod === undefined ? undefined : nodeNamed(before, pod.spec?.nodeName ?? '');
    if (pod === undefined || node === undefined) return;
    if (!isDeleting(node)) this.report(`pod ${ref.name} was evicted from ${nameOf(node)}, which stays`);
    const unprotected = this.memory.some((then) => {
      const known = podOf(then, ref);
      return known !== undefined && !isProtectedPod(known, then.atMs);
    });
    if (!unprotected) this.report(`pod ${ref.name} was evicted although it says do-not-disrupt`);
  }

  private judgeForced(before: Observation, ref: ObjectRef, graceSeconds: number | undefined): void {
    this.seen.forced += 1;
    const pod = podOf(before, ref);
    const node = pod === undefined ? undefined : nodeNamed(before, pod.spec?.nodeName ?? '');
    if (pod === undefined || node === undefined) return;
    const text = claimOfNode(before, node)?.metadata.annotations?.[annotation.terminationTimestamp];
    const deadlineMs = parseTime(text ?? '');
    if (deadlineMs === undefined) return this.report(`pod ${ref.name} was deleted without a deadline`);
    const wantedMs = (pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000;
    if (before.atMs <= deadlineMs - wantedMs) this.report(`pod ${ref.name} was deleted before its time`);
    if (graceSeconds === undefined || graceSeconds < 1) this.report(`pod ${ref.name} was given no time to end`);
  }

  private report(text: string): void {
    this.violations.push(`${new Date(this.clock.now()).toISOString().slice(11, 23)} ${text}`);
  }
}

/** Its instance is being terminated: budgets no longer count it, among all nodes or among those that are out. */
function isEnding(seen: Observation, name: string): boolean {
  const node = nodeNamed(seen, name);
  return node !== undefined && claimIs(claimOfNode(seen, node), conditionType.instanceTerminating);
}

const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? '';

function podOf({ pods }: Observation, { name, namespace }: ObjectRef): Pod | undefined {
  return pods.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
}

/** A write that lost its object is no one's fault. */
export const ignoreGone = (error: unknown): void => {
  if (!isKubeError(error, 'NotFound') && !isKubeError(error, 'Conflict')) throw error;
};
