// The test's hand on the emulated world. The same functions are methods for a test in the same process and paths for any
// other: `POST /_kerf/<name>` with the argument as JSON, answered with the result as JSON.
import { request } from 'undici';
import { type CapacityReservation, newCapacityReservation } from './ec2/capacity-reservations.ts';
import { noCapacity } from './ec2/fleet-pools.ts';
import { newPlacementGroup, type PlacementGroup } from './ec2/placement-groups.ts';
import type { AwsCall } from './exchange.ts';
import type { Fault } from './faults.ts';
import type { Image } from './images.ts';
import { type Interruption, type InterruptionMessage, interruptionMessage } from './interruption.ts';
import type { InstanceHealth, Lifecycle, PoolError, RecordedCall, World, ZonalShift } from './world.ts';

export const controlPrefix = '/_kerf/';

export class EmulatorControl {
  private readonly world: World;
  private readonly url: () => string;

  constructor(world: World, url: () => string) {
    this.world = world;
    this.url = url;
  }

  /** The next calls of an action fail, are dropped, late or never answered. */
  addFault(fault: Fault): void {
    this.world.faults.add(fault);
  }

  clearFaults(): void {
    this.world.faults.clear();
  }

  /** Pools (`spot:m5.large:us-east-1a`, `*` for any part) that have no capacity until `restoreCapacity`. */
  exhaust(pools: string[]): void {
    for (const pool of pools) {
      const [, type = '', zone = ''] = pool.split(':');
      this.world.poolErrors.set(pool, { code: 'InsufficientInstanceCapacity', message: noCapacity(type, zone) });
    }
  }

  /** Any other error per override: quotas, the service-linked role, a spread placement group that is full. */
  setPoolError({ pool, code, message }: PoolError & { pool: string }): void {
    this.world.poolErrors.set(pool, { code, message });
  }

  restoreCapacity(): void {
    this.world.poolErrors.clear();
    this.world.poolCapacity.clear();
  }

  /** So many instances of a pool (no wildcards) are left. */
  setCapacity({ pool, count }: { pool: string; count: number }): void {
    this.world.poolCapacity.set(pool, count);
  }

  setVcpuLimit({ capacityType, vcpus }: { capacityType: string; vcpus: number }): void {
    this.world.vcpuLimits.set(capacityType, vcpus);
  }

  /** No price: no spot market there. */
  setSpotPrice({ instanceType, zone, price }: { instanceType: string; zone: string; price?: number }): void {
    this.world.spotPrices.set(`${instanceType}:${zone}`, price);
  }

  setFreeAddresses({ subnetId, count }: { subnetId: string; count: number }): void {
    this.world.freeAddresses.set(subnetId, count);
  }

  setLifecycle(lifecycle: Partial<Lifecycle>): void {
    this.world.lifecycle = { ...this.world.lifecycle, ...lifecycle };
  }

  /** EC2 as it may be for a minute: one caller does not see instances that are younger than this. Zero: it sees all. */
  setBlindSpot({ accessKeyId, forMs }: { accessKeyId: string; forMs: number }): void {
    this.world.blindSpots.set(accessKeyId, forMs);
  }

  /** Every instance was launched that much earlier. */
  age({ byMs }: { byMs: number }): void {
    for (const launched of this.world.launched.values()) launched.launchedAtMs -= byMs;
  }

  advanceClock({ byMs }: { byMs: number }): void {
    this.world.advance(byMs);
  }

  setHealth({ instanceId, ...health }: InstanceHealth & { instanceId: string }): void {
    this.world.health.set(instanceId, health);
  }

  /** A public parameter; without a value it does not exist. */
  setParameter({ name, value }: { name: string; value?: string }): void {
    if (value === undefined) this.world.parameters.delete(name);
    else this.world.parameters.set(name, value);
  }

  /** Adds or replaces an image. */
  setImage(image: Image): void {
    this.world.images.set(image.imageId, image);
  }

  images(): Image[] {
    return [...this.world.images.values()];
  }

  addPlacementGroup(facts: Partial<PlacementGroup> & Pick<PlacementGroup, 'groupName'>): PlacementGroup {
    const group = newPlacementGroup(facts);
    this.world.placementGroups.set(group.groupName, group);
    return group;
  }

  addCapacityReservation(
    facts: Partial<CapacityReservation> & Pick<CapacityReservation, 'instanceType' | 'zone'>,
  ): CapacityReservation {
    const reservation = newCapacityReservation(facts);
    this.world.capacityReservations.set(reservation.id, reservation);
    return reservation;
  }

  changeCapacityReservation({ id, ...changes }: Partial<CapacityReservation> & { id: string }): void {
    const reservation = this.world.capacityReservations.get(id);
    if (reservation === undefined) throw new Error(`no capacity reservation ${id}: add it first`);
    Object.assign(reservation, changes);
  }

  setZonalShifts(shifts: ZonalShift[]): void {
    this.world.zonalShifts.splice(0, Infinity, ...shifts);
  }

  /** Fields of DescribeCluster, such as `endpoint`, `certificateAuthority` or `kubernetesNetworkConfig`. */
  setCluster({ name, ...fields }: Record<string, unknown> & { name: string }): void {
    this.world.clusters.set(name, fields);
  }

  /** Sends an event to the queue as EventBridge would; `body` sends any text instead. */
  async interrupt(given: { queue: string; region?: string; event?: Interruption; body?: string }): Promise<string> {
    const region = given.region ?? 'us-east-1';
    const message: InterruptionMessage | undefined =
      given.event && interruptionMessage(given.event, { region, atMs: this.world.now() });
    const body = given.body ?? JSON.stringify(message);
    const host = new URL(this.url()).host;
    const answer = await request(this.world.upstream.url, {
      method: 'POST',
      headers: {
        host,
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'AmazonSQS.SendMessage',
        authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${region}/sqs/aws4_request`,
      },
      body: JSON.stringify({ QueueUrl: `http://${host}/123456789012/${given.queue}`, MessageBody: body }),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`queue ${given.queue} in ${region} took no message: ${text}`);
    return body;
  }

  /** For tests in this process: hears every call as it arrives, and again right before it takes effect. */
  listen(listener: { onArrival?(call: AwsCall): void; beforeEffect?(call: AwsCall): Promise<void> }): void {
    this.world.onArrival = listener.onArrival ?? (() => {});
    this.world.beforeEffect = listener.beforeEffect ?? (async () => {});
  }

  /** Calls so far, in order. */
  calls(): RecordedCall[] {
    return [...this.world.calls];
  }

  forgetCalls(): void {
    this.world.calls.length = 0;
  }

  /** Everything back to the first day, moto included; with a seed, its ids are the same each time. */
  async reset({ seed }: { seed?: number } = {}): Promise<void> {
    await this.moto('reset');
    if (seed !== undefined) await this.moto(`seed?a=${seed}`);
    this.world.reset();
  }

  private async moto(path: string): Promise<void> {
    const answer = await request(`${this.world.upstream.url}/moto-api/${path}`, { method: 'POST' });
    await answer.body.dump();
  }
}

/** The control path's answer: 200 with the result, 400 with what was wrong. */
export async function answerControl(
  control: EmulatorControl,
  path: string,
  body: string,
): Promise<{ status: number; body: string }> {
  const name = path.slice(controlPrefix.length);
  const names = Object.getOwnPropertyNames(EmulatorControl.prototype).filter((known) => known !== 'constructor');
  if (!names.includes(name)) {
    return { status: 404, body: JSON.stringify({ error: `no control named ${name}: use one of ${names.join(', ')}` }) };
  }
  try {
    const method = control[name as keyof EmulatorControl] as (argument?: unknown) => unknown;
    const result = await method.call(control, body === '' ? undefined : JSON.parse(body));
    return { status: 200, body: JSON.stringify(result ?? null) };
  } catch (error) {
    return { status: 400, body: JSON.stringify({ error: String(error) }) };
  }
}
