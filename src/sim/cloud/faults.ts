// What goes wrong on purpose with simulated machines, as the node class asks for (`spec.faults`): offerings without
// capacity, slow launches, machines that never join, nodes that fall ill, spot machines taken back, machines that vanish,
// calls refused. Nothing happens where nothing is asked for.
//
// 1. Whom a fault with a percentage hits is drawn once per machine, from the seed if there is one: the same in every run.
// 2. What happens to a machine after a time is counted from when its Node appeared, so a restart neither repeats nor
//    forgets it. Where someone wants to see it now (`since`), from that moment.
import type { KWOKNodeClass, KwokFaults } from '../../api/index.ts';
import { capacityType, group, kwokNode, label } from '../../api/index.ts';
import { type Clock, formatTime, KerfError, parseGoDuration, parseTime, type Timer } from '../../base/index.ts';
import type { LaunchOption } from '../../core/index.ts';
import { isKubeError, type Kube, type Node, type Resource, resources } from '../../ports/index.ts';
import { eventTeller, type Tell } from '../events.ts';
import { fractionOf } from '../kubelet/hash.ts';

export interface FaultsOptions {
  kube: Kube;
  clock: Clock;
  random: () => number;
  onFailure(error: unknown): void;
}

export type CloudCall = 'Create' | 'Delete' | 'Get' | 'List';

/** Which machines a fault is meant for; what is not named is not looked at. */
interface Target {
  instanceTypes?: string[];
  zones?: string[];
  capacityTypes?: string[];
}

const nodeClaims: Resource = { group, version: 'v1', plural: 'nodeclaims', kind: 'NodeClaim', namespaced: false };
const defaultNoticeMs = 120_000;
/** What the annotation of fake nodes says once the machine is gone: kubelets and provider leave such a node alone. */
const goneMark = 'gone';

export const hasVanished = (node: Node): boolean => node.metadata.annotations?.[kwokNode.label] === goneMark;

export class Faults {
  private readonly options: FaultsOptions;
  private readonly tell: Tell;
  private readonly timers = new Set<Timer>();
  /** When each entry with an end was first seen. */
  private readonly seen = new Map<string, number>();
  /** The node class looked at last, by name: calls without a class go by all of them. */
  private readonly classes = new Map<string, KwokFaults>();

  constructor(options: FaultsOptions) {
    this.options = options;
    this.tell = eventTeller(options.kube, options.clock, 'kwok');
  }

  /** Remembers what a node class asks for. */
  learn({ metadata, spec }: KWOKNodeClass): KwokFaults {
    const faults = spec?.faults ?? {};
    this.classes.set(metadata.name ?? '', faults);
    return faults;
  }

  /** Throws when the call is one of those refused. */
  throttle(call: CloudCall): void {
    for (const { throttling } of this.classes.values()) {
      if (throttling === undefined || (throttling.calls !== undefined && !throttling.calls.includes(call))) continue;
      if (!this.isOn(throttling) || this.options.random() * 100 >= (throttling.percent ?? 100)) continue;
      const message = `${call} was refused: too many calls (the node class asks for this fault); try again later`;
      throw new KerfError('CloudThrottled', message, { retryable: true });
    }
  }

  /** Whether an offering is available. */
  hasCapacity(faults: KwokFaults, { instanceType, offering }: LaunchOption): boolean {
    const valueOf = (key: string): string =>
      offering.requirements.find((requirement) => requirement.key === key)?.values?.[0] ?? '';
    const labels = {
      [label.instanceType]: instanceType.name,
      [label.zone]: valueOf(label.zone),
      [label.capacityType]: valueOf(label.capacityType),
    };
    return !(faults.insufficientCapacity ?? []).some((entry) => isMeant(entry, labels) && this.isOn(entry));
  }

  async delayLaunch({ launch }: KwokFaults): Promise<void> {
    if (launch === undefined) return;
    const delayMs = spanOf(launch.delay) + this.options.random() * spanOf(launch.jitter);
    if (delayMs > 0) await this.options.clock.sleep(delayMs);
  }

  neverJoins({ registration, seed }: KwokFaults, node: Node): boolean {
    return registration !== undefined && this.hits(registration, node, `${seed} registration`, seed);
  }

  /** Sets the clock for what is going to happen to a machine whose Node is there, counted from when that appeared. */
  arm(faults: KwokFaults, node: Node, since?: number): void {
    const { seed } = faults;
    const at = (delay: number, happen: () => Promise<void>): void =>
      this.at((since ?? this.bornMs(node)) + delay, happen);
    (faults.notReady ?? []).forEach((entry, index) => {
      if (!this.hits(entry, node, `${seed} notReady ${index}`, seed)) return;
      const status = entry.status ?? 'Unknown';
      at(spanOf(entry.after), () => this.setReady(node, status));
      if (entry.for !== undefined) {
        at(spanOf(entry.after) + spanOf(entry.for), () => this.setReady(node, 'True'));
      }
    });
    (faults.interruption ?? []).forEach((entry, index) => {
      const target = { ...entry, capacityTypes: [capacityType.spot] };
      if (!this.hits(target, node, `${seed} interruption ${index}`, seed)) return;
      const noticeMs = entry.notice === undefined ? defaultNoticeMs : spanOf(entry.notice);
      at(spanOf(entry.after), () => this.warn(node, noticeMs));
      at(spanOf(entry.after) + noticeMs, () => this.vanish(node));
    });
    (faults.vanish ?? []).forEach((entry, index) => {
      if (!this.hits(entry, node, `${seed} vanish ${index}`, seed)) return;
      at(spanOf(entry.after), () => this.vanish(node));
    });
  }

  dispose(): void {
    for (const timer of this.timers) timer.dispose();
    this.timers.clear();
  }

  private hits(entry: Target & { percent?: number }, node: Node, draw: string, seed: number | undefined): boolean {
    if (!isMeant(entry, node.metadata.labels ?? {})) return false;
    const { percent = 100 } = entry;
    if (percent >= 100) return true;
    // Drawn by the claim's name, which the same run gives the same machine.
    const drawn =
      seed === undefined ? this.options.random() : fractionOf(`${draw} ${node.metadata.labels?.[label.hostname]}`);
    return drawn * 100 < percent;
  }

  private bornMs(node: Node): number {
    return parseTime(node.metadata.creationTimestamp ?? '') ?? this.options.clock.now();
  }

  private at(momentMs: number, happen: () => Promise<void>): void {
    const { clock, onFailure } = this.options;
    const leftMs = momentMs - clock.now();
    // Already past: it happened in the time of an earlier process.
    if (leftMs < -1_000) return;
    const timer = clock.after(Math.max(0, leftMs), () => {
      this.timers.delete(timer);
      happen().catch((error: unknown) => {
        if (!isKubeError(error, 'NotFound')) onFailure(error);
      });
    });
    this.timers.add(timer);
  }

  private async setReady(node: Node, status: 'True' | 'False' | 'Unknown'): Promise<void> {
    const { kube, clock } = this.options;
    const condition = {
      type: 'Ready',
      status,
      reason: status === 'True' ? 'KubeletReady' : 'SimulatedFault',
      message: status === 'True' ? 'the fault is over' : 'the node class asks for this fault',
      lastTransitionTime: formatTime(clock.now()),
    };
    const body = { metadata: { uid: node.metadata.uid }, status: { conditions: [condition] } };
    const ref = { name: node.metadata.name ?? '' };
    await kube.patch(resources.nodes, ref, { type: 'strategic', body }, { subresource: 'status' });
  }

  /** As on EC2: the machine's claim is given up in time for its pods to move. */
  private async warn(node: Node, noticeMs: number): Promise<void> {
    const { kube } = this.options;
    const claim = node.metadata.labels?.[label.hostname] ?? '';
    const message = `The spot machine is taken back in ${noticeMs / 1000} s`;
    this.tell(resources.nodes, node, { type: 'Warning', reason: 'SpotInterrupted', message });
    await kube.delete(nodeClaims, { name: claim });
  }

  private async vanish(node: Node): Promise<void> {
    const body = { metadata: { uid: node.metadata.uid, annotations: { [kwokNode.label]: goneMark } } };
    await this.options.kube.patch(resources.nodes, { name: node.metadata.name ?? '' }, { type: 'merge', body });
  }

  /** True until the entry's time, counted from when it was first seen, is over. */
  private isOn(entry: { for?: string }): boolean {
    if (entry.for === undefined) return true;
    const key = JSON.stringify(entry);
    const nowMs = this.options.clock.now();
    const sinceMs = this.seen.get(key) ?? nowMs;
    this.seen.set(key, sinceMs);
    return nowMs - sinceMs < spanOf(entry.for);
  }
}

function isMeant({ instanceTypes, zones, capacityTypes }: Target, labels: Readonly<Record<string, string>>): boolean {
  const isIn = (list: readonly string[] | undefined, key: string): boolean =>
    list === undefined || list.length === 0 || list.includes(labels[key] ?? '');
  return isIn(instanceTypes, label.instanceType) && isIn(zones, label.zone) && isIn(capacityTypes, label.capacityType);
}

const spanOf = (text: string | undefined): number => (text === undefined ? 0 : (parseGoDuration(text) ?? 0));
