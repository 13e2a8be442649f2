// The three calls to EC2 that many callers make at once. Their windows are short against a launch (tens of seconds) and
// long against a burst of claims (milliseconds apart).
import { randomUUID } from 'node:crypto';
import {
  CreateFleetCommand,
  type CreateFleetCommandInput,
  type CreateFleetError,
  type CreateFleetInstance,
  DescribeInstancesCommand,
  type EC2Client,
  type Filter,
  type Instance,
  type InstanceStateChange,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import type { Clock } from '../../base/index.ts';
import type { Metrics } from '../../ports/index.ts';
import { allPages } from '../paging.ts';
import { askTogether } from './ask-together.ts';
import { CallBatcher } from './call-batcher.ts';

export interface Ec2BatcherOptions {
  ec2: EC2Client;
  clock: Clock;
  metrics: Metrics;
}

/** What one caller got of a fleet: an instance or none, and what went wrong on the way. */
export interface FleetShare {
  /** Has exactly one instance id. */
  instance?: CreateFleetInstance;
  errors: CreateFleetError[];
}

/** Without a target capacity: the batch says how many. */
export type FleetRequest = Omit<CreateFleetCommandInput, 'TargetCapacitySpecification'> & {
  TargetCapacitySpecification: {
    DefaultTargetCapacityType: 'spot' | 'on-demand' | 'capacity-block' | 'reserved-capacity';
  };
};

const tooFew: CreateFleetError = {
  ErrorCode: 'TooFewInstances',
  ErrorMessage: 'too few instances returned',
};

/** Equal requests become one fleet; each of its instances goes to one caller, its errors to all. */
export function fleetBatcher({ ec2, clock, metrics }: Ec2BatcherOptions): CallBatcher<FleetRequest, FleetShare> {
  return new CallBatcher<FleetRequest, FleetShare>({
    name: 'create_fleet',
    clock,
    metrics,
    idleMs: 35,
    longestMs: 1_000,
    mostItems: 1_000,
    bucketOf: (request) => JSON.stringify(request),
    async execute(requests) {
      const [request] = requests;
      if (request === undefined) return [];
      const { Instances = [], Errors: errors = [] } = await ec2.send(
        new CreateFleetCommand({
          ...request,
          // When the answer is lost on the way, asking again brings the same instances, not more.
          ClientToken: randomUUID(),
          TargetCapacitySpecification: {
            ...request.TargetCapacitySpecification,
            TotalTargetCapacity: requests.length,
          },
        }),
      );
      const shares = Instances.flatMap((entry) =>
        (entry.InstanceIds ?? []).map((id) => ({ ...entry, InstanceIds: [id] })),
      );
      const errorsWithout = errors.length === 0 ? [tooFew] : errors;
      return requests.map((_, index): PromiseSettledResult<FleetShare> => {
        const instance = shares[index];
        const value = instance === undefined ? { errors: errorsWithout } : { instance, errors };
        return { status: 'fulfilled', value };
      });
    },
  });
}

export interface DescribeRequest {
  id: string;
  filters: Filter[];
}

/** Undefined: no instance with that id passes the filters. */
export function describeBatcher({
  ec2,
  clock,
  metrics,
}: Ec2BatcherOptions): CallBatcher<DescribeRequest, Instance | undefined> {
  const ask = async (ids: string[], filters: Filter[]): Promise<ReadonlyMap<string, Instance>> => {
    const found = new Map<string, Instance>();
    // EC2 refuses a page size beside ids.
    const pages = allPages((next) =>
      ec2.send(new DescribeInstancesCommand({ InstanceIds: ids, Filters: filters, ...next })),
    );
    for await (const { Reservations = [] } of pages) {
      for (const { Instances = [] } of Reservations) {
        for (const instance of Instances)
          if (instance.InstanceId !== undefined) found.set(instance.InstanceId, instance);
      }
    }
    return found;
  };
  return new CallBatcher<DescribeRequest, Instance | undefined>({
    name: 'describe_instances',
    clock,
    metrics,
    idleMs: 100,
    longestMs: 1_000,
    mostItems: 500,
    bucketOf: ({ filters }) => JSON.stringify(filters),
    execute: (requests) => {
      const filters = requests[0]?.filters ?? [];
      return askTogether(
        requests.map(({ id }) => id),
        (ids) => ask(ids, filters),
      );
    },
  });
}

const isGoing = ({ CurrentState }: InstanceStateChange): boolean =>
  CurrentState?.Name === 'shutting-down' || CurrentState?.Name === 'terminated';

/** Answers with how the instance's state changed; undefined when EC2 did not say that it is going. */
export function terminateBatcher({
  ec2,
  clock,
  metrics,
}: Ec2BatcherOptions): CallBatcher<string, InstanceStateChange | undefined> {
  const ask = async (ids: string[]): Promise<ReadonlyMap<string, InstanceStateChange>> => {
    const { TerminatingInstances = [] } = await ec2.send(new TerminateInstancesCommand({ InstanceIds: ids }));
    return new Map(TerminatingInstances.filter(isGoing).map((change) => [change.InstanceId ?? '', change]));
  };
  return new CallBatcher<string, InstanceStateChange | undefined>({
    name: 'terminate_instances',
    clock,
    metrics,
    idleMs: 100,
    longestMs: 1_000,
    mostItems: 500,
    bucketOf: () => '',
    execute: (ids) => askTogether(ids, ask),
  });
}
