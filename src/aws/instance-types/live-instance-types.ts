// The instance types of the region as each node class sees them, kept up to date.
//
// Promises:
// 1. Every discovered type is listed, also one the class cannot launch or that is sold out: it has no available offering.
// 2. While nothing changed the same array comes back, at the cost of a few comparisons. When something did, only the types
//    it is about are new objects: a mark of the unavailable-offerings memory renews one type, a price list all of them.
// 3. Classes that agree in everything that shapes a type share one list.
// 4. A failed refresh keeps what is known; with nothing known, listing fails.
import type { EC2Client } from '@aws-sdk/client-ec2';
import { annotation, type EC2NodeClass } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { KerfError } from '../../base/index.ts';
import type { InstanceTypeSpec } from '../../core/index.ts';
import type { AskOptions, Gauge, Log, Metrics } from '../../ports/index.ts';
import type { UnavailableOfferings } from '../unavailable-offerings/unavailable-offerings.ts';
import type { BuiltInTables } from './built-in-tables.ts';
import {
  type ClassView,
  newClassView,
  prepareTypes,
  probingTypes,
  updatedTypes,
  type ViewSources,
} from './class-view.ts';
import type { InstanceTypeContext, Prices } from './context.ts';
import { DiscoveredMemory } from './discovered-memory.ts';
import { describeInstanceTypes, describeOfferings } from './discovery.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';
import { expressionProblem } from './kubelet-values.ts';
import { readNodeClass } from './node-class.ts';

export interface InstanceTypesOptions {
  ec2: EC2Client;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  region: string;
  vmMemoryOverhead: number;
  reservedEnis: number;
  /** Feature gate: whether the class's capacity reservations are offered. */
  reservedCapacity: boolean;
  /** Feature gate: whether expressions in kubelet settings are worked out. */
  kubeletExpressions: boolean;
  /** Gates of drivers whose devices are declared before nodes run. */
  devices?: InstanceTypeContext['devices'];
  tables: Pick<BuiltInTables, 'eniLimits' | 'bandwidthMbps'>;
  prices: Prices & { readonly version: number };
  unavailable: UnavailableOfferings;
  /** Instances a reservation still holds. */
  availableInReservation(id: string): number;
  placementGroupOf(nodeClass: EC2NodeClass): InstanceTypeContext['placementGroup'] | undefined;
  /** Whether traffic is shifted away from the zone with this id. */
  isShifted(zoneId: string): boolean;
  /** Types without a price to which NodeOverlays give one; the same set while nothing changed. */
  pricedByOverlay(): ReadonlySet<string>;
}

/** A class no one asked about in this time is gone. */
const forgetClassMs = 10 * 60_000;

export class InstanceTypes {
  readonly memory: DiscoveredMemory;
  private readonly options: InstanceTypesOptions;
  private readonly cpus: Gauge;
  private readonly memories: Gauge;
  private readonly views = new Map<string, ClassView>();
  private readonly seen = new Map<string, { keys: readonly string[]; usedMs: number }>();
  private readonly viewOf = new WeakMap<EC2NodeClass, string>();
  private readonly sources: ViewSources;
  private namesOf: { infos: readonly InstanceTypeInfo[]; names: readonly string[] } | undefined;
  private readonly zoneIds = new Map<string, string>();

  constructor(options: InstanceTypesOptions) {
    this.options = options;
    this.memory = new DiscoveredMemory(options.clock);
    const known = { infos: [], zones: [], zonesOfType: {}, changes: 0, memory: this.memory };
    this.sources = { ...options, ...options.tables, ...known };
    const labels = ['instance_type'];
    this.cpus = options.metrics.gauge({
      name: 'karpenter_cloudprovider_instance_type_cpu_cores',
      help: 'Virtual CPUs of an instance type.',
      labels,
    });
    this.memories = options.metrics.gauge({
      name: 'karpenter_cloudprovider_instance_type_memory_bytes',
      help: 'Memory of an instance type as EC2 states it.',
      labels,
    });
  }

  /** Asks EC2 for types and zones; what one of the two brings is kept when the other fails. */
  async refresh(): Promise<void> {
    const { ec2 } = this.options;
    const [infos, offerings] = await Promise.allSettled([describeInstanceTypes(ec2), describeOfferings(ec2)]);
    if (infos.status === 'fulfilled') this.takeInfos(infos.value);
    if (offerings.status === 'fulfilled') this.takeOfferings(offerings.value);
    for (const result of [infos, offerings]) if (result.status === 'rejected') throw result.reason;
  }

  /** As `list`, without holding up the event loop when the class is seen for the first time. */
  async listInSlices(nodeClass: EC2NodeClass, options?: AskOptions): Promise<readonly InstanceTypeSpec[]> {
    this.refuseUnknown(nodeClass);
    await prepareTypes(this.view(nodeClass), this.sources, this.options.clock);
    return this.list(nodeClass, options);
  }

  /** Every type, as the class sees it. */
  list(nodeClass: EC2NodeClass, { probing = false }: AskOptions = {}): readonly InstanceTypeSpec[] {
    this.refuseUnknown(nodeClass);
    return (probing ? probingTypes : updatedTypes)(this.view(nodeClass), this.sources);
  }

  /** Why an expression in the class's kubelet settings gives no number for some type; undefined if all of them do. */
  expressionProblem(nodeClass: EC2NodeClass): string | undefined {
    const { infos, zones } = this.sources;
    const shape = readNodeClass(nodeClass, zones);
    return expressionProblem(infos, { ...this.sources, ...shape });
  }

  /** Names of every type; the same array while nothing changed. */
  names(): readonly string[] {
    const { infos } = this.sources;
    if (this.namesOf?.infos !== infos) this.namesOf = { infos, names: infos.map(({ InstanceType }) => InstanceType) };
    return this.namesOf.names;
  }

  private refuseUnknown(nodeClass: EC2NodeClass): void {
    if (this.sources.infos.length === 0) throw unknown('no instance types found');
    if (this.sources.zones.length === 0) throw unknown('no instance types offerings found');
    if ((nodeClass.status?.subnets ?? []).length === 0) throw unknown('no subnets found');
  }

  /** A registered node had this much memory. */
  learnMemory(nodeClass: EC2NodeClass, instanceType: string, memoryBytes: number): void {
    this.memory.learn(instanceType, imagesKey(nodeClass), memoryBytes);
  }

  /** The id of a zone in which some class has a subnet. */
  zoneIdOf(zone: string): string | undefined {
    return this.zoneIds.get(zone);
  }

  info(instanceType: string): InstanceTypeInfo | undefined {
    return this.sources.infos.find((info) => info.InstanceType === instanceType);
  }

  private takeInfos(infos: InstanceTypeInfo[]): void {
    if (JSON.stringify(infos) === JSON.stringify(this.sources.infos)) return;
    this.sources.infos = infos;
    this.sources.changes += 1;
    this.cpus.reset();
    this.memories.reset();
    for (const { InstanceType: instance_type, VCpuInfo, MemoryInfo } of infos) {
      this.cpus.set(VCpuInfo.DefaultVCpus, { instance_type });
      this.memories.set(MemoryInfo.SizeInMiB * 1024 * 1024, { instance_type });
    }
    this.options.log.debug('discovered instance types', { count: infos.length });
  }

  private takeOfferings(zonesOfType: Record<string, string[]>): void {
    if (JSON.stringify(zonesOfType) === JSON.stringify(this.sources.zonesOfType)) return;
    this.sources.zonesOfType = zonesOfType;
    this.sources.zones = [...new Set(Object.values(zonesOfType).flat())].sort();
    this.sources.changes += 1;
    this.options.log.debug('discovered offerings for instance types', { zones: this.sources.zones });
  }

  /** The class's view, found by the object, by its shape, or made. */
  private view(nodeClass: EC2NodeClass): ClassView {
    const nowMs = this.options.clock.elapsed();
    const group = this.options.placementGroupOf(nodeClass);
    let shape = this.viewOf.get(nodeClass);
    if (shape === undefined) this.viewOf.set(nodeClass, (shape = shapeOf(nodeClass)));
    const key = group === undefined ? shape : `${shape} ${group.id} ${group.strategy} ${group.partitions ?? 0}`;
    this.keepFor(nodeClass.metadata.name ?? '', key, nowMs);
    let view = this.views.get(key);
    if (view === undefined) {
      for (const { zone, zoneID } of nodeClass.status?.subnets ?? [])
        if (zoneID !== undefined) this.zoneIds.set(zone, zoneID);
      view = newClassView(nodeClass, imagesKey(nodeClass), group);
      this.views.set(key, view);
    }
    return view;
  }

  /** Of each class the view it has now and the one before are kept: megabytes each, and a class may change every second. */
  private keepFor(className: string, key: string, nowMs: number): void {
    const seen = this.seen.get(className);
    if (seen?.keys.includes(key)) {
      seen.usedMs = nowMs;
      return;
    }
    this.seen.set(className, { keys: [key, ...(seen?.keys.slice(0, 1) ?? [])], usedMs: nowMs });
    for (const [name, { usedMs }] of this.seen) if (nowMs - usedMs > forgetClassMs) this.seen.delete(name);
    const kept = new Set([...this.seen.values()].flatMap(({ keys }) => keys));
    for (const known of this.views.keys()) if (!kept.has(known)) this.views.delete(known);
  }
}

function unknown(message: string): KerfError {
  return new KerfError('NoInstanceTypes', message, { retryable: true });
}

const imagesKey = ({ status }: EC2NodeClass): string => JSON.stringify(status?.amis ?? []);

/** Text that is equal for classes whose types are equal. Subnets are listed by free addresses, which change all the time. */
function shapeOf({ metadata, spec, status }: EC2NodeClass): string {
  return JSON.stringify([
    metadata.annotations?.[annotation.nvidiaConsumableCapacity],
    status?.amis,
    status?.subnets?.toSorted((left, right) => (left.id < right.id ? -1 : 1)),
    status?.capacityReservations,
    spec.kubelet,
    spec.blockDeviceMappings,
    spec.networkInterfaces,
    spec.instanceStorePolicy,
    spec.cpuOptions,
    spec.connectionTracking,
    spec.enclaveOptions,
    spec.amiFamily,
    spec.amiSelectorTerms.find(({ alias }) => alias !== undefined)?.alias,
  ]);
}
