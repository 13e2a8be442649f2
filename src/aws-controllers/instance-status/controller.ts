// interruption.instancestatus: asks EC2 every minute which of our instances fail their status checks or have a scheduled
// event. A broken instance cannot drain, so its claim gets a termination time of now and goes at once; a scheduled event
// leaves time for an orderly drain. Works without an interruption queue.
import { DescribeInstanceStatusCommand, type EC2Client, type InstanceStatus } from '@aws-sdk/client-ec2';
import { annotation, type NodeClaim } from '../../api/index.ts';
import { formatTime } from '../../base/index.ts';
import {
  again,
  type Controller,
  type ControllerContext,
  nodeClaims,
  patchObject,
  untrustedClockMs,
} from '../../controllers/index.ts';
import { done } from '../../runtime/index.ts';
import { claimsByInstance } from '../claims-by-instance.ts';
import type { Reaction } from '../interruption/reaction.ts';

const name = 'interruption.instancestatus';
const everyMs = 60_000;
/** A check that failed a moment ago may pass the next time. */
const borneMs = 120_000;

const eventCodes = ['instance-reboot', 'system-reboot', 'system-maintenance', 'instance-retirement', 'instance-stop'];

type Category = 'InstanceStatus' | 'SystemStatus' | 'EventStatus';

const causes: Record<Category, string> = {
  InstanceStatus: 'instance_status',
  SystemStatus: 'system_status',
  EventStatus: 'event_status',
};

const questions = [
  [{ Name: 'instance-status.status', Values: ['impaired'] }],
  [{ Name: 'system-status.status', Values: ['impaired'] }],
  [{ Name: 'event.code', Values: eventCodes }],
];

export interface InstanceStatusOptions {
  ec2: EC2Client;
  reaction: Reaction;
  /** Count only, delete nothing. */
  dryRun: boolean;
}

export function instanceStatusController(
  context: ControllerContext,
  { ec2, reaction, dryRun }: InstanceStatusOptions,
): Controller {
  const { clock, kube, time } = context;
  const log = context.log.with({ controller: name });
  const unhealthy = context.metrics.counter({
    name: 'karpenter_interruption_instance_status_unhealthy_total',
    help: 'Instances that EC2 reports as unhealthy, once per instance and category until it recovers.',
    labels: ['category'],
  });
  let counted = new Set<string>();

  const ask = async (signal: AbortSignal): Promise<Map<string, InstanceStatus>> => {
    const answers = await Promise.all(questions.map((Filters) => allPages(ec2, Filters, signal)));
    return new Map(answers.flat().map((status) => [status.InstanceId ?? '', status]));
  };

  /** Never overwritten: the moment that was promised first counts. */
  const forceful = async (claim: NodeClaim): Promise<NodeClaim> => {
    if (claim.metadata.annotations?.[annotation.terminationTimestamp] !== undefined) return claim;
    const annotations = {
      ...claim.metadata.annotations,
      [annotation.terminationTimestamp]: formatTime(clock.now()),
    };
    return patchObject(kube, nodeClaims, claim, { ...claim, metadata: { ...claim.metadata, annotations } });
  };

  const takeDown = async (claim: NodeClaim, categories: readonly Category[]): Promise<void> => {
    const isBroken = categories.some((each) => each !== 'EventStatus');
    const marked = isBroken ? await forceful(claim) : claim;
    if (marked.metadata.deletionTimestamp === undefined)
      reaction.announce(marked, () => ({
        type: 'Warning',
        reason: 'InstanceUnhealthy',
        message: 'An unhealthy warning was triggered for the instance',
      }));
    await reaction.takeDown(marked, causes[categories[0] ?? 'InstanceStatus']);
  };

  return {
    name,
    sources: [],
    startKeys: ['all'],
    concurrency: 1,
    async reconcile(_, signal) {
      if (time.problem() !== undefined) return again(untrustedClockMs);
      let statuses: Map<string, InstanceStatus>;
      try {
        statuses = await ask(signal);
      } catch (error) {
        if (!(error instanceof Error && error.name === 'UnauthorizedOperation')) throw error;
        log.error('not asking for instance status until restarted: allow ec2:DescribeInstanceStatus', error);
        return done;
      }
      const claims = claimsByInstance(context);
      const seen = new Set<string>();
      const work: Promise<void>[] = [];
      for (const [id, status] of statuses) {
        const concerned = claims.get(id) ?? [];
        const categories = categoriesOf(status, clock.now());
        if (concerned.length === 0 || categories.length === 0) continue;
        for (const category of categories) {
          const key = `${id} ${category}`;
          if (!counted.has(key)) unhealthy.add({ category });
          seen.add(key);
        }
        if (!dryRun) work.push(...concerned.map((claim) => takeDown(claim, categories)));
      }
      counted = seen;
      await Promise.all(work);
      return again(everyMs);
    },
  };
}

/** What is wrong, as EC2 tells it; the question's filter alone is not believed. */
function categoriesOf({ InstanceStatus, SystemStatus, Events = [] }: InstanceStatus, nowMs: number): Category[] {
  const fails = (summary: InstanceStatus['InstanceStatus']): boolean =>
    summary?.Status === 'impaired' &&
    (summary.Details ?? []).some(
      ({ Status, ImpairedSince }) => Status === 'failed' && nowMs - (ImpairedSince?.getTime() ?? 0) > borneMs,
    );
  const isPending = ({ Code, Description = '' }: (typeof Events)[number]): boolean =>
    eventCodes.includes(Code ?? '') && !/^\[(Completed|Canceled)\]/.test(Description);
  return [
    ...(fails(InstanceStatus) ? (['InstanceStatus'] as const) : []),
    ...(fails(SystemStatus) ? (['SystemStatus'] as const) : []),
    ...(Events.some(isPending) ? (['EventStatus'] as const) : []),
  ];
}

async function allPages(
  ec2: EC2Client,
  Filters: { Name: string; Values: string[] }[],
  abortSignal: AbortSignal,
): Promise<InstanceStatus[]> {
  const found: InstanceStatus[] = [];
  let NextToken: string | undefined;
  do {
    const page = await ec2.send(
      new DescribeInstanceStatusCommand({ Filters, MaxResults: 1000, ...(NextToken ? { NextToken } : {}) }),
      { abortSignal },
    );
    found.push(...(page.InstanceStatuses ?? []));
    NextToken = page.NextToken;
  } while (NextToken);
  return found;
}
