// What the proxy knows beyond moto: capacity, prices, clock, and what each launched instance was launched with.
// One world per emulator; `reset` brings it back to its first day.
import type { CapacityReservation } from './ec2/capacity-reservations.ts';
import type { LaunchedInstance } from './ec2/launched-instance.ts';
import type { PlacementGroup } from './ec2/placement-groups.ts';
import type { AwsCall } from './exchange.ts';
import { Faults } from './faults.ts';
import { type Image, standardImages, standardParameters } from './images.ts';
import type { Upstream } from './upstream.ts';

/** What a pool (`spot:m5.large:us-east-1a`; `*` for any part) answers instead of an instance. */
export interface PoolError {
  code: string;
  message: string;
}

export interface Lifecycle {
  /** Time from launch to running. */
  pendingMs: number;
  /** Time from the request to terminate until terminated. */
  shuttingDownMs: number;
  /** Time from terminated until EC2 has never heard of it. */
  forgetMs: number;
}

export interface InstanceHealth {
  instanceStatus?: 'ok' | 'impaired' | 'initializing' | 'insufficient-data';
  systemStatus?: 'ok' | 'impaired' | 'initializing' | 'insufficient-data';
  /** Since when, for the failed detail; RFC 3339. */
  impairedSince?: string;
  events?: { code: string; description?: string; notBefore?: string }[];
}

export interface ZonalShift {
  awayFromZoneId: string;
  expiresAt: string;
  status?: 'APPLIED' | 'NOT_APPLIED';
}

export interface RecordedCall {
  /** When it arrived, by the machine's clock. */
  atMs: number;
  service: string;
  action: string;
  region: string;
  /** Of the signature; empty if there is none. */
  accessKeyId: string;
  status: number;
  /** Error code of the answer, if any. */
  code?: string;
  body: string;
}

export class World {
  readonly upstream: Upstream;
  readonly faults = new Faults();
  /** Fields of DescribeCluster that moto lacks or invents, by cluster name. */
  readonly clusters = new Map<string, Record<string, unknown>>();
  readonly accessEntries = new Map<string, { clusterName: string; principalArn: string; type: string }>();
  readonly poolErrors = new Map<string, PoolError>();
  /** Remaining instances of a pool; a pool without an entry never runs out. */
  readonly poolCapacity = new Map<string, number>();
  readonly vcpuLimits = new Map<string, number>();
  readonly spotPrices = new Map<string, number | undefined>();
  readonly launched = new Map<string, LaunchedInstance>();
  readonly terminatedAt = new Map<string, number>();
  readonly freeAddresses = new Map<string, number>();
  readonly health = new Map<string, InstanceHealth>();
  readonly placementGroups = new Map<string, PlacementGroup>();
  readonly capacityReservations = new Map<string, CapacityReservation>();
  readonly zonalShifts: ZonalShift[] = [];
  readonly fleetAnswers = new Map<string, { request: string; answer: string }>();
  readonly calls: RecordedCall[] = [];
  /** Callers, by access key, that do not see instances launched less than so many milliseconds ago. */
  readonly blindSpots = new Map<string, number>();
  /** For tests in this process: hears every call when it arrives, answered or not. */
  onArrival: (call: AwsCall) => void = () => {};
  /** The same at the moment before a call takes effect, which waits for it. */
  beforeEffect: (call: AwsCall) => Promise<void> = async () => {};
  parameters: Map<string, string> = standardParameters();
  images: Map<string, Image> = new Map(standardImages().map((image) => [image.imageId, image]));
  lifecycle: Lifecycle = { pendingMs: 0, shuttingDownMs: 0, forgetMs: 3_600_000 };
  private clockOffsetMs = 0;

  constructor(upstream: Upstream) {
    this.upstream = upstream;
  }

  now(): number {
    return Date.now() + this.clockOffsetMs;
  }

  advance(byMs: number): void {
    this.clockOffsetMs += byMs;
  }

  poolError(capacityType: string, instanceType: string, zone: string): PoolError | undefined {
    for (const type of [instanceType, '*']) {
      for (const place of [zone, '*']) {
        for (const capacity of [capacityType, '*']) {
          const found = this.poolErrors.get(`${capacity}:${type}:${place}`);
          if (found !== undefined) return found;
        }
      }
    }
    return undefined;
  }

  /** Everything back to the first day; moto's own state is the caller's business. */
  reset(): void {
    const memories = [
      this.clusters,
      this.accessEntries,
      this.poolErrors,
      this.poolCapacity,
      this.vcpuLimits,
      this.spotPrices,
      this.launched,
      this.terminatedAt,
      this.freeAddresses,
      this.health,
      this.placementGroups,
      this.capacityReservations,
      this.fleetAnswers,
      this.blindSpots,
    ];
    for (const memory of memories) memory.clear();
    this.faults.clear();
    this.zonalShifts.length = 0;
    this.calls.length = 0;
    this.parameters = standardParameters();
    this.images = new Map(standardImages().map((image) => [image.imageId, image]));
    this.lifecycle = { pendingMs: 0, shuttingDownMs: 0, forgetMs: 3_600_000 };
    this.clockOffsetMs = 0;
  }
}
