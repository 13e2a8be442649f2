// ValidationSucceeded: whether a launch with this class would be let through, tried with calls that launch nothing. What
// they said is kept for half an hour, for the class exactly as it is; any change of it, be it an annotation, asks anew.
import { createHash } from 'node:crypto';
import {
  awsAnnotation,
  type ConditionChange,
  conditionReason,
  conditionType,
  type EC2NodeClass,
  kubeletProblem,
  type NodePool,
} from '../../api/index.ts';
import {
  amiFamilyOf,
  type CheckedLaunch,
  type CheckOutcome,
  checkedTenancy,
  checkedType,
  isServerError,
  restrictedTag,
  tagProblem,
} from '../../aws/index.ts';
import { type Clock, conditionOf, ExpiringMap, KerfError } from '../../base/index.ts';
import type { InstanceTypeSpec } from '../../core/index.ts';
import { pointerTo } from '../../failures/index.ts';
import { type Draft, minuteMs, type Step } from './draft.ts';

export interface ValidationParts {
  clock: Clock;
  checks: { run(launch: CheckedLaunch): Promise<CheckOutcome> };
  /** Setting `disableDryRun`: nothing is asked, everything passes. */
  disableDryRun: boolean;
  instanceTypes(nodeClass: EC2NodeClass): Promise<readonly InstanceTypeSpec[]>;
  /** Why an expression in kubelet settings gives no number for some type; absent while the gate NodeClassCEL is off. */
  expressionProblem?(nodeClass: EC2NodeClass): string | undefined;
  /** Pools that refer to the class. */
  poolsOf(nodeClassName: string): readonly NodePool[];
  /** Receives what EC2 refused, once per verdict: the condition's own words stay what dashboards know. */
  tell?(nodeClass: EC2NodeClass, message: string): void;
  /** The addresses of services, which AL2023 nodes must know. */
  serviceCidr(): Promise<string | undefined>;
}

/** Set right outside of the class, which does not wake us. */
const canPass = (verdict: CheckOutcome): boolean => verdict.kind === 'refused' && verdict.mayPass === true;

type Verdict = Exclude<CheckOutcome, { kind: 'later' }>;

const type = conditionType.validationSucceeded;
const keepMs = 30 * minuteMs;
const periodMs = 10 * minuteMs;
/** AWS was busy: soon, without a word. */
const soonMs = 5_000;

const dependencies = [
  conditionType.amisReady,
  conditionType.instanceProfileReady,
  conditionType.securityGroupsReady,
  conditionType.subnetsReady,
];

export class Validation {
  private readonly parts: ValidationParts;
  private readonly verdicts: ExpiringMap<string, Verdict>;

  constructor(parts: ValidationParts) {
    this.parts = parts;
    this.verdicts = new ExpiringMap(parts.clock, keepMs);
  }

  readonly step: Step = async (draft) => {
    const { nodeClass } = draft;
    refuseTags(draft, tagProblem(nodeClass.spec));
    if (!(await this.hasServiceCidr(draft))) return soonMs;
    const wrong = this.kubeletProblem(nodeClass);
    // Only an edited class helps, and that wakes us.
    if (wrong !== undefined) {
      draft.set({ type, status: 'False', ...wrong });
      return undefined;
    }
    const waiting = missingDependencies(nodeClass);
    if (waiting !== undefined) {
      draft.set(waiting);
      return periodMs;
    }
    const restricted = restrictedTag(nodeClass.spec.tags);
    // Admission refuses them too; a class that came around it must not take over tags we find our instances by.
    refuseTags(draft, restricted && `"${restricted}" tag does not pass tag validation requirements`);
    const key = keyOf(nodeClass);
    let verdict: CheckOutcome | undefined = this.verdicts.get(key);
    if (verdict === undefined) {
      verdict = await this.check(nodeClass);
      if (verdict.kind === 'later') return soonMs;
      if (!canPass(verdict)) this.verdicts.set(key, verdict);
      if (verdict.kind === 'refused' && verdict.failure !== undefined)
        this.parts.tell?.(nodeClass, `${verdict.message} (${pointerTo(verdict.failure)})`);
    }
    if (verdict.kind === 'refused')
      draft.set({ type, status: 'False', reason: verdict.reason, message: verdict.message });
    else draft.set({ type, status: 'True' });
    return canPass(verdict) ? minuteMs : periodMs;
  };

  forget(nodeClassName: string): void {
    for (const [key] of this.verdicts.entries()) {
      if (key.startsWith(`${nodeClassName}/`)) this.verdicts.delete(key);
    }
  }

  private kubeletProblem(nodeClass: EC2NodeClass) {
    const { expressionProblem } = this.parts;
    const { kubelet } = nodeClass.spec;
    const wrong = kubeletProblem(kubelet, amiFamilyOf(nodeClass.spec), {
      expressions: expressionProblem !== undefined,
    });
    if (wrong !== undefined) return wrong;
    const message = expressionProblem?.(nodeClass);
    return message === undefined ? undefined : { reason: conditionReason.kubeletExpressionEvaluationFailed, message };
  }

  private async check(nodeClass: EC2NodeClass): Promise<CheckOutcome> {
    if (this.parts.disableDryRun) return { kind: 'passed' };
    const pools = this.parts.poolsOf(nodeClass.metadata.name ?? '');
    const instanceType = checkedType(nodeClass, await this.parts.instanceTypes(nodeClass), pools);
    if (instanceType === undefined) {
      const message = `no instance type can be launched with EC2NodeClass ${nodeClass.metadata.name}: its images, subnets and settings fit none; select images of another architecture or subnets in other zones, or relax networkInterfaces, connectionTracking and cpuOptions`;
      throw new KerfError('NothingToCheck', message, { retryable: true });
    }
    return this.parts.checks.run({ nodeClass, type: instanceType, tenancy: checkedTenancy(pools) });
  }

  /** False: EKS is in trouble, ask again soon. */
  private async hasServiceCidr(draft: Draft): Promise<boolean> {
    if (amiFamilyOf(draft.nodeClass.spec) !== 'AL2023') return true;
    try {
      if ((await this.parts.serviceCidr()) === undefined)
        throw new KerfError('ClusterCidrUnknown', 'EKS tells no service CIDR of the cluster', { retryable: true });
      return true;
    } catch (error) {
      if (isServerError(error) || (error instanceof Error && isServerError(error.cause))) return false;
      draft.set({
        type,
        status: 'False',
        reason: conditionReason.clusterCidrResolutionFailed,
        message: 'Failed to detect the cluster CIDR',
      });
      throw error;
    }
  }
}

function missingDependencies({ metadata, status }: EC2NodeClass): ConditionChange | undefined {
  const found = dependencies.map((each) => conditionOf(status?.conditions, each));
  const isFalse = found.some((condition) => condition?.status === 'False');
  const isReady = found.every(
    (condition) => condition?.status === 'True' && condition.observedGeneration === metadata.generation,
  );
  if (isReady) return undefined;
  return {
    type,
    status: isFalse ? 'False' : 'Unknown',
    reason: conditionReason.dependenciesNotReady,
    message: 'Awaiting AMI, Instance Profile, Security Group, and Subnet resolution',
  };
}

/** Nothing but an edited class helps. */
function refuseTags(draft: Draft, message: string | undefined): void {
  if (message === undefined) return;
  draft.set({ type, status: 'False', reason: conditionReason.tagValidationFailed, message });
  throw new KerfError('TagRestricted', `${message}: edit spec.tags of EC2NodeClass ${draft.nodeClass.metadata.name}`);
}

function keyOf({ metadata, spec, status = {} }: EC2NodeClass): string {
  const { subnets, securityGroups, amis, instanceProfile } = status;
  // Subnets come in the order of their free addresses, which says nothing about permissions.
  const subnetIds = subnets?.map(({ id }) => id).sort();
  // Our own hash follows from the spec; writing it must not make us ask twice.
  const {
    [awsAnnotation.nodeClassHash]: _,
    [awsAnnotation.nodeClassHashVersion]: __,
    ...others
  } = metadata.annotations ?? {};
  const facts = [subnetIds, securityGroups, amis, instanceProfile, spec, others];
  return `${metadata.name}/${createHash('sha256').update(JSON.stringify(facts)).digest('hex')}`;
}
