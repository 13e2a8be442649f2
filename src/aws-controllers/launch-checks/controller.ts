// nodeclass.launchchecks: what an API can say before a launch, asked when a node class changes and every few minutes after.
// A failure that is certain, and found twice, pauses launches of its class until a look finds it gone; anything less is
// reported in an event and changes nothing (docs/decisions/0060-certain-failures-pause-a-node-class.md). The condition itself
// is written by the nodeclass controller, the only writer of a class's status, which is woken from here.

import { conditionType, type EC2NodeClass } from '../../api/index.ts';
import { ec2NodeClasses, type Look } from '../../aws/index.ts';
import { conditionOf } from '../../base/index.ts';
import { again, type Controller, type ControllerContext, source, subjectOf } from '../../controllers/index.ts';
import {
  diagnose,
  type FailureId,
  type Finding,
  knownBeforeLaunch,
  notMadeBeforeLaunch,
  saidOf,
  stopsLaunches,
} from '../../failures/index.ts';
import type { Outcome } from '../../runtime/index.ts';
import { evidenceOfClass, namesIn } from './class-evidence.ts';
import { type Change, type ClassLook, LaunchVerdicts } from './launch-verdicts.ts';

export interface LaunchCheckParts {
  clusterName: string;
  interruptionQueue: string;
  look(names: ReturnType<typeof namesIn>): Promise<Look>;
  /** ConfigMap kube-system/aws-auth: undefined when there is none; throws when it may not be read. */
  awsAuth(): Promise<object | undefined>;
  kubernetesVersion(): string;
  /** ARN of who launches; undefined when STS does not say. */
  caller(): Promise<string | undefined>;
}

const periodMs = 3 * 60_000;
/** While something is suspected or paused. */
const secondLookMs = 10_000;
const pausedPeriodMs = 60_000;
/** Events of one finding, and of what may not be asked. */
const tellAgainMs = 6 * 3_600_000;
const longestEvent = 1_024;
/** More classes than this are looked at in the next rounds: the rest of the work waits on the same thread. */
const mostClasses = 500;

export class LaunchChecksLoop {
  readonly verdicts = new LaunchVerdicts();
  /** Woken with the name of a class whose verdict changed. */
  private wake: (name: string) => void = () => undefined;
  private readonly context: ControllerContext;
  private readonly parts: LaunchCheckParts;

  constructor(context: ControllerContext, parts: LaunchCheckParts) {
    this.context = context;
    this.parts = parts;
  }

  onChange(wake: (name: string) => void): void {
    this.wake = wake;
  }

  controller(): Controller {
    return {
      name: 'nodeclass.launchchecks',
      sources: [source(ec2NodeClasses, ({ before, after }) => (isNews(before, after) ? ['all'] : []))],
      startKeys: ['all'],
      concurrency: 1,
      backoff: { baseMs: 5_000, maxMs: periodMs },
      reconcile: () => this.look(),
    };
  }

  private async look(): Promise<Outcome> {
    const classes = [...this.context.cacheOf(ec2NodeClasses).values()]
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .slice(0, mostClasses);
    this.verdicts.forgetOthers(new Set(classes.map(uidOf)));
    if (classes.length === 0) return again(periodMs);
    const { clock, time } = this.context;
    // A clock that is wrong makes AWS refuse everything, and ages of nodes mean nothing.
    if (time.problem() !== undefined) return again(pausedPeriodMs);
    const { aws, isThrottled } = await this.parts.look(namesIn(classes, this.parts));
    const caller = await this.parts.caller();
    const awsAuth = await this.parts.awsAuth().catch(() => 'unread' as const);
    for (const nodeClass of classes) {
      const evidence = evidenceOfClass(this.context, nodeClass, {
        ...this.parts,
        caller,
        aws,
        awsAuth,
        nowMs: clock.now(),
      });
      const { findings } = diagnose(knownBeforeLaunch, evidence);
      const notMade = new Map([...notMadeBeforeLaunch(evidence)].filter(([id]) => concerns(id, nodeClass, this.parts)));
      const stopping = findings.find((finding) => stopsLaunches(finding, evidence));
      this.conclude(nodeClass, { stopping, findings, notMade });
    }
    if (isThrottled) return again(2 * periodMs);
    return again(this.nextMs(classes));
  }

  private conclude(nodeClass: EC2NodeClass, look: ClassLook): void {
    const uid = uidOf(nodeClass);
    const said = conditionOf(nodeClass.status?.conditions, conditionType.launchesPaused);
    if (said?.status === 'True') this.verdicts.recall(uid, said.reason ?? '');
    const isFirst = !this.verdicts.hasLooked(uid);
    const before = this.verdicts.pauseOf(uid);
    const change = this.verdicts.after(uid, look);
    const pause = this.verdicts.pauseOf(uid);
    if (change !== undefined) this.tellChange(nodeClass, change);
    for (const finding of look.findings)
      if (finding.id !== pause?.id && finding.severity !== 'low') this.tell(nodeClass, finding);
    if (look.notMade.size > 0 && isFirst) this.tellNotMade(nodeClass, look.notMade);
    const isCleared = pause === undefined && said?.status === 'True';
    if (change !== undefined || before !== pause || isCleared) this.wake(nodeClass.metadata.name ?? '');
  }

  private tellChange(nodeClass: EC2NodeClass, change: Change): void {
    const { id } = change.finding;
    const name = nodeClass.metadata.name ?? '';
    const fields = { controller: 'nodeclass.launchchecks', EC2NodeClass: { name }, failure: id };
    if (change.kind === 'paused') {
      this.context.log.error('launches of a node class are paused', saidOf(change.finding), fields);
      this.publish(nodeClass, 'Warning', 'LaunchesPaused', `Launches are paused: ${saidOf(change.finding)}`, 0);
      return;
    }
    const why = change.isProven ? 'was looked for again and is gone' : 'could not be looked for again';
    this.context.log.info('launches of a node class go on', { ...fields, why });
    this.publish(nodeClass, 'Normal', 'LaunchesResumed', `Launches go on: ${id} ${why}`, 0);
  }

  private tell(nodeClass: EC2NodeClass, finding: Finding): void {
    this.publish(nodeClass, 'Warning', 'LaunchCheckFailed', `Launches go on: ${saidOf(finding)}`, tellAgainMs);
  }

  private tellNotMade(nodeClass: EC2NodeClass, notMade: ReadonlyMap<string, string>): void {
    const list = [...notMade].map(([id, needs]) => `${id} (needs ${needs})`).join('; ');
    const text = `Not checked before launches: ${list}. The rights are in: kerf iam policy --with-checks`;
    this.publish(nodeClass, 'Normal', 'LaunchChecksNotMade', text, 4 * tellAgainMs);
  }

  private publish(
    nodeClass: EC2NodeClass,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
    dedupeMs: number,
  ): void {
    this.context.recorder.publish({
      subject: subjectOf(`${ec2NodeClasses.group}/${ec2NodeClasses.version}`, ec2NodeClasses.kind, nodeClass),
      type,
      reason,
      message: message.slice(0, longestEvent),
      ...(dedupeMs === 0 ? {} : { dedupeMs }),
    });
  }

  private nextMs(classes: readonly EC2NodeClass[]): number {
    const open = classes.map(uidOf).filter((uid) => this.verdicts.isOpen(uid));
    if (open.some((uid) => this.verdicts.pauseOf(uid) === undefined)) return secondLookMs;
    return open.length > 0 ? pausedPeriodMs : periodMs;
  }
}

const uidOf = ({ metadata }: EC2NodeClass): string => metadata.uid ?? metadata.name ?? '';

/** Checks that could find something about this class at all. */
function concerns(id: FailureId, { spec }: EC2NodeClass, { interruptionQueue }: LaunchCheckParts): boolean {
  switch (id) {
    case 'net/cluster-dns-unreachable-from-node':
      return (spec.kubelet?.clusterDNS ?? []).length > 0;
    case 'interruption/events-not-delivered':
      return interruptionQueue !== '';
    default:
      return true;
  }
}

/** A class that is new, was edited, or selects something else than before. */
function isNews(before: EC2NodeClass | undefined, after: EC2NodeClass | undefined): boolean {
  if (after === undefined) return false;
  if (before === undefined || before.metadata.generation !== after.metadata.generation) return true;
  const selected = ({ status }: EC2NodeClass): string =>
    JSON.stringify([
      status?.subnets?.map(({ id }) => id).sort(),
      status?.securityGroups?.map(({ id }) => id).sort(),
      status?.instanceProfile,
    ]);
  return selected(before) !== selected(after);
}
