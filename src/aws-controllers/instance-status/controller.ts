// interruption.instancestatus: asks EC2 every minute which of our instances fail their status checks or have a scheduled
// event. A broken instance cannot drain, so its claim gets a termination time of now and goes at once; a scheduled event
// leaves time for an orderly drain. Works without an interruption queue. Either is believed at the second look only, and a
// share of the fleet goes at a time, the earliest event first: a zone that is reported wrongly is not given up at once. An
// event that begins before the turn of its instance would come is not kept waiting.
import {
  DescribeInstanceStatusCommand,
  type EC2Client,
  type InstanceStatus,
  type InstanceStatusEvent,
} from '@aws-sdk/client-ec2';
import { annotation, type NodeClaim } from '../../api/index.ts';
import { allPages } from '../../aws/index.ts';
import { formatTime } from '../../base/index.ts';
import {
  again,
  allSharesMs,
  Collection,
  type Controller,
  type ControllerContext,
  nodeClaims,
  patchObject,
  untrustedClockMs,
} from '../../controllers/index.ts';
import { done } from '../../runtime/index.ts';
import { claimsByInstance } from '../claims-by-instance.ts';
import { tellHeldBack } from '../held-back.ts';
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

/** What EC2 says about the instance of a claim. */
interface Announced {
  claim: NodeClaim;
  categories: readonly Category[];
  /** Its checks fail: it cannot drain. */
  isBroken: boolean;
  /** When it is out of service: now if it is broken, when its event begins, or never when that is not known. */
  beginsMs: number;
}

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
  const announced = new Collection<Announced>({
    controller: name,
    clock,
    metrics: context.metrics,
    // Failing checks that come after an event are believed at a second look of their own.
    keyOf: ({ claim: { metadata }, isBroken }) => `${metadata.uid ?? metadata.name} ${isBroken}`,
    // EC2 has said it twice.
    atLeast: 10,
    isUrgent: ({ isBroken, beginsMs }) => !isBroken && beginsMs - clock.now() <= allSharesMs,
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

  const takeDown = async ({ claim, categories, isBroken }: Announced): Promise<void> => {
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
      const found: Announced[] = [];
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
        const isBroken = categories.some((category) => category !== 'EventStatus');
        const beginsMs = isBroken ? clock.now() : beginOf(status, clock.now());
        if (!dryRun) found.push(...concerned.map((claim) => ({ claim, categories, isBroken, beginsMs })));
      }
      counted = seen;
      const open = found
        .filter(isOpen)
        .sort((left, right) => (left.beginsMs === right.beginsMs ? 0 : left.beginsMs - right.beginsMs));
      const { due, heldBack, againMs } = announced.choose(open, claims.size);
      tellHeldBack(
        { ...context, log },
        heldBack.map(({ claim }) => claim),
        claims.size,
        'impaired or due for an event',
      );
      await Promise.all(due.map(takeDown));
      return again(againMs ?? everyMs);
    },
  };
}

/** Whether there is still something to do about it. */
function isOpen({ claim: { metadata }, isBroken }: Announced): boolean {
  return isBroken
    ? metadata.annotations?.[annotation.terminationTimestamp] === undefined
    : metadata.deletionTimestamp === undefined;
}

/** When the first event that is still to come begins; one whose time has passed, or is not known, is in no hurry. */
function beginOf({ Events = [] }: InstanceStatus, nowMs: number): number {
  const begins = Events.filter(isPending).flatMap(({ NotBefore }) => NotBefore?.getTime() ?? []);
  return Math.min(...begins.filter((each) => each > nowMs));
}

const isPending = ({ Code, Description = '' }: InstanceStatusEvent): boolean =>
  eventCodes.includes(Code ?? '') && !/^\[(Completed|Canceled)\]/.test(Description);

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
