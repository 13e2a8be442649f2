// The machines of the cluster in EC2. What was seen of each is remembered, until a listing no longer has it.
//
// While traffic is shifted away from a zone EC2 there is left alone: what is remembered is served, and machines there are
// neither terminated nor tagged.
import {
  CreateTagsCommand,
  DescribeInstancesCommand,
  type EC2Client,
  type Filter,
  type Instance,
  RebootInstancesCommand,
} from '@aws-sdk/client-ec2';
import { awsLabel, awsTag, label } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { KerfError, messageOf } from '../../base/index.ts';
import { CloudError, type Counter, type Metrics } from '../../ports/index.ts';
import { isAwsNotFound } from '../aws-errors.ts';
import type { CallBatcher } from '../batching/call-batcher.ts';
import { type DescribeRequest, describeBatcher, terminateBatcher } from '../batching/ec2-batchers.ts';
import { allPages } from '../paging.ts';
import { tagList, whyForeign } from '../tags.ts';
import { type Ec2Instance, isGoing, readInstance } from './ec2-instance.ts';

export interface InstancesOptions {
  ec2: EC2Client;
  clock: Clock;
  metrics: Metrics;
  clusterName: string;
  /** Feature gate. */
  reservedCapacity: boolean;
  isShifted(zoneId: string): boolean;
  zoneIdOf(zone: string): string | undefined;
}

/** Terminated machines do not exist for us, though EC2 tells of them for an hour. */
const existing: Filter = {
  Name: 'instance-state-name',
  Values: ['pending', 'running', 'stopping', 'stopped', 'shutting-down'],
};
const pageSize = 1_000;

/** Asking again does not help. */
const refusals = new Set(['UnauthorizedOperation', 'AccessDenied', 'UnsupportedOperation', 'OperationNotPermitted']);
const isForGood = (error: unknown): boolean => error instanceof Error && refusals.has(error.name);

export class Instances {
  private readonly options: InstancesOptions;
  private readonly describe: CallBatcher<DescribeRequest, Instance | undefined>;
  private readonly terminate: ReturnType<typeof terminateBatcher>;
  private readonly terminationFailures: Counter;
  private readonly seen = new Map<string, { instance: Ec2Instance; seenAt: number }>();
  /** Rises with everything that is remembered: tells what came after a listing began. */
  private turn = 0;

  constructor(options: InstancesOptions) {
    this.options = options;
    this.describe = describeBatcher(options);
    this.terminate = terminateBatcher(options);
    this.terminationFailures = options.metrics.counter({
      name: 'karpenter_cloudprovider_instance_termination_failures_total',
      help: 'Terminations of instances that failed.',
      labels: ['zone', 'zone_id'],
    });
  }

  remember(instance: Ec2Instance): void {
    this.turn += 1;
    this.seen.set(instance.id, { instance, seenAt: this.turn });
  }

  /** Throws `notFound` for one that is gone. `isFresh` asks EC2 whatever is remembered. */
  async get(id: string, { isFresh = false } = {}): Promise<Ec2Instance> {
    const known = this.seen.get(id)?.instance;
    if (known !== undefined && (!isFresh || this.isShifted(known))) return known;
    const described = await this.describe.add({ id, filters: [existing] }).catch((error: unknown) => {
      if (isAwsNotFound(error)) return undefined;
      throw error;
    });
    const instance = described && this.read(described);
    // It is there, whatever else is missing: no one may conclude that it is gone.
    if (described !== undefined && instance === undefined)
      throw new KerfError('InstanceUnreadable', `EC2 described instance ${id} without its type or zone; trying again`, {
        retryable: true,
      });
    if (instance === undefined || instance.state === 'terminated') {
      this.seen.delete(id);
      throw new CloudError('notFound', `EC2 has no instance ${id}`);
    }
    this.remember(instance);
    return instance;
  }

  /** Every machine of this cluster; what the filters let through is looked at again, as deletions depend on it. */
  async list(): Promise<Ec2Instance[]> {
    const { ec2, clusterName } = this.options;
    const began = this.turn;
    const Filters: Filter[] = [
      { Name: 'tag-key', Values: [awsTag.nodePool] },
      { Name: 'tag-key', Values: [awsTag.nodeClass] },
      { Name: `tag:${awsTag.clusterName}`, Values: [clusterName] },
      existing,
    ];
    const listed = new Map<string, Ec2Instance>();
    const pages = allPages((next) =>
      ec2.send(new DescribeInstancesCommand({ Filters, MaxResults: pageSize, ...next })),
    );
    for await (const { Reservations = [] } of pages) {
      for (const described of Reservations.flatMap(({ Instances = [] }) => Instances)) {
        const instance = this.read(described);
        if (instance !== undefined && this.isOurs(instance)) listed.set(instance.id, instance);
      }
    }
    for (const [id, { instance, seenAt }] of this.seen) {
      if (!listed.has(id) && seenAt <= began && !this.isShifted(instance)) this.seen.delete(id);
    }
    for (const instance of listed.values()) this.remember(instance);
    return [...listed.values()];
  }

  /** Resolves when the machine is on its way out; throws `notFound` when it is gone. */
  async delete(id: string): Promise<void> {
    const instance = await this.get(id, { isFresh: true });
    if (isGoing(instance)) return;
    this.refuseForeign(instance, 'terminate');
    this.refuseShifted(instance, 'terminate');
    try {
      const change = await this.terminate.add(id);
      if (change === undefined) {
        throw new KerfError('NotTerminating', `EC2 did not say that instance ${id} is terminating; trying again`, {
          retryable: true,
        });
      }
      this.remember({ ...instance, state: 'shutting-down' });
    } catch (error) {
      if (isAwsNotFound(error)) {
        this.seen.delete(id);
        throw new CloudError('notFound', `EC2 has no instance ${id}`, { cause: error });
      }
      this.terminationFailures.add({ zone: instance.zone, zone_id: this.zoneIdOf(instance) ?? '' });
      throw error;
    }
  }

  /** Resolves when EC2 has accepted it; repeating it before the machine went down does no harm. */
  async reboot(id: string): Promise<void> {
    const instance = await this.get(id, { isFresh: true });
    if (isGoing(instance)) throw new CloudError('notFound', `EC2 takes instance ${id} down`);
    this.refuseForeign(instance, 'reboot');
    this.refuseShifted(instance, 'reboot');
    try {
      await this.options.ec2.send(new RebootInstancesCommand({ InstanceIds: [id] }));
    } catch (error) {
      if (isAwsNotFound(error)) throw new CloudError('notFound', `EC2 has no instance ${id}`, { cause: error });
      if (!isForGood(error)) throw error;
      throw new CloudError('rebootFailed', `EC2 refuses to reboot instance ${id}: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  async createTags(id: string, tags: Readonly<Record<string, string>>): Promise<void> {
    // Before: whoever is tagged as ours is terminated as ours.
    const isRemembered = this.seen.has(id);
    const known = await this.get(id);
    this.refuseForeign(known, 'tag');
    if (isRemembered) this.refuseShifted(known, 'tag');
    try {
      await this.options.ec2.send(new CreateTagsCommand({ Resources: [id], Tags: tagList(tags) }));
    } catch (error) {
      if (isAwsNotFound(error)) throw new CloudError('notFound', `EC2 has no instance ${id}`, { cause: error });
      throw error;
    }
    this.remember({ ...known, tags: { ...known.tags, ...tags } });
  }

  /** Why it was not launched for this cluster, in a clause. */
  async whyForeign(id: string): Promise<string | undefined> {
    const why = whyForeign((await this.get(id)).tags, this.options.clusterName);
    return why === undefined ? undefined : `instance ${id} ${why}`;
  }

  private read(described: Instance): Ec2Instance | undefined {
    const instance = readInstance(described, this.options);
    const zoneId = instance && this.zoneIdOf(instance);
    return instance === undefined || zoneId === undefined ? instance : { ...instance, zoneId };
  }

  private isOurs({ tags }: Ec2Instance): boolean {
    return (
      tags[label.nodePool] !== undefined &&
      tags[awsLabel.nodeClass] !== undefined &&
      tags[awsTag.clusterName] === this.options.clusterName
    );
  }

  private zoneIdOf({ zone, zoneId }: Ec2Instance): string | undefined {
    return zoneId ?? this.options.zoneIdOf(zone);
  }

  private isShifted(instance: Ec2Instance): boolean {
    const zoneId = this.zoneIdOf(instance);
    return zoneId !== undefined && this.options.isShifted(zoneId);
  }

  private refuseForeign({ id, tags }: Ec2Instance, action: string): void {
    const why = whyForeign(tags, this.options.clusterName);
    if (why === undefined) return;
    const message = `cannot ${action}: instance ${id} ${why}; tag it, or ${action} it by hand`;
    throw new KerfError('InstanceForeign', message, { retryable: true });
  }

  private refuseShifted(instance: Ec2Instance, action: string): void {
    if (!this.isShifted(instance)) return;
    throw new KerfError(
      'ZoneShifted',
      `cannot ${action} instance ${instance.id}: it is in a zonally shifted availability zone (${instance.zone}); it is tried again when the shift ends`,
      { retryable: true },
    );
  }
}
