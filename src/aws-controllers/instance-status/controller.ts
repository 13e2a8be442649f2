// interruption.instancestatus: asks EC2 every minute which of our instances fail their status checks or have a scheduled
// event. A broken instance cannot drain, so its claim gets a termination time of now and goes at once; a scheduled event
// leaves time for an orderly drain. Works without an interruption queue. What goes by force is believed at the second look
// only, and a share of the fleet at a time: a zone whose checks are reported wrongly is not given up at once.
import { DescribeInstanceStatusCommand, type EC2Client, type InstanceStatus } from '@aws-sdk/client-ec2';
import { annotation, type NodeClaim } from '../../api/index.ts';
import { allPages } from '../../aws/index.ts';
import { formatTime } from '../../base/index.ts';
import {
  again,
  Collection,
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
  /** When each check was first seen to fail, without a look in between that saw it pass. */
  let firstSeen = new Map<string, number>();
  const broken = new Collection<NodeClaim>({
    controller: name,
    clock,
    metrics: context.metrics,
    keyOf: ({ metadata }) => metadata.uid ?? metadata.name ?? '',
    // EC2 has said it twice.
    atLeast: 10,
  });

  const ask = async (signal: AbortSignal): Promise<Map<string, InstanceStatus>> => {
    const answers = await Promise.all(questions.map((Filters) => statusesOf(ec2, Filters, signal)));
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
      const before = firstSeen;
      firstSeen = new Map();
      const due = new Map<NodeClaim, readonly Category[]>();
      for (const [id, status] of statuses) {
        const concerned = claims.get(id) ?? [];
        const sinceMs = before.get(id) ?? clock.now();
        firstSeen.set(id, sinceMs);
        const categories = categoriesOf(status, clock.now(), sinceMs);
        if (concerned.length === 0 || categories.length === 0) continue;
        for (const category of categories) {
          const key = `${id} ${category}`;
          if (!counted.has(key)) unhealthy.add({ category });
          seen.add(key);
        }
        if (!dryRun) for (const claim of concerned) due.set(claim, categories);
      }
      counted = seen;
      const isForced = ([{ metadata }, categories]: [NodeClaim, readonly Category[]]): boolean =>
        categories.some((category) => category !== 'EventStatus') &&
        metadata.annotations?.[annotation.terminationTimestamp] === undefined;
      const forced = broken.choose(
        [...due].filter(isForced).map(([claim]) => claim),
        claims.size,
      );
      if (forced.heldBack.length > 0)
        log.error(
          'EC2 reports more instances as impaired than are replaced at once',
          `${forced.heldBack.length} of ${claims.size} wait`,
        );
      for (const claim of [...forced.suspected, ...forced.heldBack]) due.delete(claim);
      await Promise.all([...due].map(([claim, categories]) => takeDown(claim, categories)));
      return again(forced.againMs ?? everyMs);
    },
  };
}

/** What is wrong, as EC2 tells it; the question's filter alone is not believed. */
function categoriesOf(
  { InstanceStatus, SystemStatus, Events = [] }: InstanceStatus,
  nowMs: number,
  firstSeenMs: number,
): Category[] {
  const fails = (summary: InstanceStatus['InstanceStatus']): boolean =>
    summary?.Status === 'impaired' &&
    (summary.Details ?? []).some(
      ({ Status, ImpairedSince }) => Status === 'failed' && nowMs - (ImpairedSince?.getTime() ?? firstSeenMs) > borneMs,
    );
  const isPending = ({ Code, Description = '' }: (typeof Events)[number]): boolean =>
    eventCodes.includes(Code ?? '') && !/^\[(Completed|Canceled)\]/.test(Description);
  return [
    ...(fails(InstanceStatus) ? (['InstanceStatus'] as const) : []),
    ...(fails(SystemStatus) ? (['SystemStatus'] as const) : []),
    ...(Events.some(isPending) ? (['EventStatus'] as const) : []),
  ];
}

async function statusesOf(
  ec2: EC2Client,
  Filters: { Name: string; Values: string[] }[],
  abortSignal: AbortSignal,
): Promise<InstanceStatus[]> {
  const found: InstanceStatus[] = [];
  const pages = allPages((next) =>
    ec2.send(new DescribeInstanceStatusCommand({ Filters, MaxResults: 1000, ...next }), { abortSignal }),
  );
  for await (const { InstanceStatuses = [] } of pages) found.push(...InstanceStatuses);
  return found;
}
