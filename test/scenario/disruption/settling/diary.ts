// What disruption did, as far as settling is concerned: commands with what went and what came, and evictions by workload.
import { label, type NodeClaim } from '../../../../src/api/index.ts';
import type { Clock } from '../../../../src/base/index.ts';
import { nodeClaims } from '../../../../src/controllers/index.ts';
import { type Kube, type LogFields, resources } from '../../../../src/ports/index.ts';
import { nodesOf } from '../command-log.ts';

/** What a machine is, as far as its price goes. */
export type Offering = string;

export interface Move {
  atMs: number;
  reason: string;
  /** Names of the nodes that went. */
  nodes: readonly string[];
  went: readonly Offering[];
  /** Claims that came first. */
  claims: readonly string[];
}

const offeringOf = (labels: Record<string, string> = {}): Offering =>
  [label.instanceType, label.zone, label.capacityType].map((key) => labels[key]).join(' ');

export class Diary {
  readonly moves: Move[] = [];
  /** When pods were evicted, by the app they belong to. */
  readonly evictions = new Map<string, number[]>();
  private readonly kube: Kube;
  private readonly clock: Clock;
  private readonly offerings = new Map<string, Offering>();
  private made: { name: string; atMs: number }[] = [];

  constructor(kube: Kube, clock: Clock) {
    this.kube = kube;
    this.clock = clock;
  }

  between(world: Kube): Kube {
    return {
      get: (...call) => world.get(...call),
      list: (...call) => world.list(...call),
      watch: (...call) => world.watch(...call),
      replace: (...call) => world.replace(...call),
      delete: (...call) => world.delete(...call),
      bind: (...call) => world.bind(...call),
      patch: async (resource, ref, patch, options) => {
        const after = await world.patch(resource, ref, patch, options);
        if (resource.plural === 'nodeclaims') this.learn(after as unknown as NodeClaim);
        return after;
      },
      create: async (resource, object, options) => {
        const created = await world.create(resource, object, options);
        if (resource.plural === 'nodeclaims') {
          this.made.push({ name: created.metadata.name ?? '', atMs: this.clock.now() });
        }
        return created;
      },
      evict: async (ref, options) => {
        const { metadata } = await this.kube.get(resources.pods, ref);
        await world.evict(ref, options);
        const app = metadata.labels?.['app'] ?? '';
        this.evictions.set(app, [...(this.evictions.get(app) ?? []), this.clock.now()]);
      },
    };
  }

  onLog(message: string, fields: LogFields): void {
    if (message !== 'disrupting node(s)') return;
    const nodes = nodesOf(fields);
    const count = Number(fields['replacement-node-count']);
    // Replacements are written just before: the last ones of this very instant.
    const fresh = this.made.filter(({ atMs }) => atMs === this.clock.now());
    this.moves.push({
      atMs: this.clock.now(),
      reason: String(fields['reason']),
      nodes,
      went: nodes.map((name) => this.offerings.get(name) ?? name),
      claims: count === 0 ? [] : fresh.slice(-count).map(({ name }) => name),
    });
    this.made = [];
  }

  /** What a claim became. */
  offering(claim: string): Offering | undefined {
    return this.offerings.get(claim);
  }

  async claims(): Promise<NodeClaim[]> {
    return (await this.kube.list(nodeClaims)).items;
  }

  private learn({ metadata, status }: NodeClaim): void {
    if (!status?.providerID) return;
    const offering = offeringOf(metadata.labels);
    this.offerings.set(metadata.name ?? '', offering);
    if (status.nodeName) this.offerings.set(status.nodeName, offering);
  }
}
