// From a claim to an instance: choose types, make sure of the templates, take subnets, ask EC2 for a fleet of one, and read
// what came of it. Everything that can go wrong on the way has its kind of error (see the contract of the Cloud port).
import type { CreateFleetError, EC2Client } from '@aws-sdk/client-ec2';
import { awsLabel, capacityType, type EC2NodeClass, label, type NodeClaim } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import {
  type ClaimMatch,
  type InstanceTypeSpec,
  LaunchMatcher,
  type OfferingSpec,
  probeShare,
} from '../../core/index.ts';
import { pointerTo } from '../../failures/index.ts';
import { CloudError, type Log, type Metrics, type Recorder } from '../../ports/index.ts';
import { awsErrorCode, isAwsAnswer } from '../aws-errors.ts';
import type { CallBatcher } from '../batching/call-batcher.ts';
import { type FleetRequest, type FleetShare, fleetBatcher } from '../batching/ec2-batchers.ts';
import { isCredentialProblem } from '../clients/credentials.ts';
import { awsProviderFacts } from '../instance-types/provider-facts.ts';
import type { Ec2Instance } from '../instances/ec2-instance.ts';
import {
  type BootParts,
  type LaunchWish,
  type PlannedTemplate,
  partitionOf,
  plannedTemplates,
} from '../launch-templates/launch-plan.ts';
import type { LaunchTemplates } from '../launch-templates/launch-templates.ts';
import { resourceTags } from '../tags.ts';
import {
  type Candidate,
  capacityTypeOf,
  cheapest,
  chosenCapacityType,
  launchCandidates,
  type ReservationFacts,
  zoneOf,
} from './candidates.ts';
import { failureIdOf, reportedFailure } from './failure-reason.ts';
import { FleetErrors, type FleetErrorsOptions, fleetErrorText, isCapacityError, isRoleError } from './fleet-errors.ts';
import { fleetRequest } from './fleet-request.ts';

/** Free addresses of the class's subnets, as this process reckons. */
export interface SubnetChoice {
  choose(
    subnets: readonly { id: string; zone: string; zoneID?: string | undefined }[],
    addresses: (zone: string) => number,
  ): { byZone: ReadonlyMap<string, { id: string; zoneID?: string | undefined }>; settle(used: Iterable<string>): void };
}

export interface LauncherOptions extends FleetErrorsOptions {
  ec2: EC2Client;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  recorder: Recorder;
  parts: BootParts;
  templates: LaunchTemplates;
  subnets: SubnetChoice;
  minValuesPolicy: 'Strict' | 'BestEffort';
  placementGroupOf(nodeClass: EC2NodeClass): { id: string; strategy: string } | undefined;
}

/** Fewer than these leave spot little to choose from. */
const flexibleTypes = 5;

/** A matcher compiles types once; after so many kinds of claims it has remembered enough of them. */
const claimsPerMatcher = 256;

/** What a kind of claim may be launched from: the same for all claims of a burst that ask for the same. */
interface Choice {
  match: ClaimMatch;
  candidates: Candidate[];
}

type Subnets = ReturnType<SubnetChoice['choose']>;

export class FleetLauncher {
  private readonly options: LauncherOptions;
  private readonly fleets: CallBatcher<FleetRequest, FleetShare>;
  private readonly errors: FleetErrors;
  private readonly choices = new WeakMap<
    readonly InstanceTypeSpec[],
    { matcher: LaunchMatcher; byClaim: Map<string, Choice> }
  >();

  constructor(options: LauncherOptions) {
    this.options = options;
    this.fleets = fleetBatcher(options);
    this.errors = new FleetErrors(options);
  }

  /** `probing`: asks for a part of what the claim allows, see `probeShare`. */
  async launch(
    claim: NodeClaim,
    nodeClass: EC2NodeClass,
    types: readonly InstanceTypeSpec[],
    { probing = false } = {},
  ): Promise<Ec2Instance> {
    // A launch without any would get the default group of the VPC, in which nodes cannot reach the cluster.
    if ((nodeClass.status?.securityGroups ?? []).length === 0) {
      const text = `no security groups are present in the status of EC2NodeClass ${nodeClass.metadata.name}`;
      throw new CloudError('createFailed', text, { conditionReason: 'LaunchFailed', conditionMessage: text });
    }
    const { match, candidates } = probing ? this.probe(claim, types) : this.choiceFor(claim, types);
    const wish: LaunchWish = {
      nodeClass,
      claim,
      ...this.purchase(match, candidates),
      allTypes: candidates.map(({ type }) => type.name),
      tenancy: match.allows(awsLabel.instanceTenancy, 'default') ? 'default' : 'dedicated',
      placementGroup: this.options.placementGroupOf(nodeClass),
      tags: resourceTags(nodeClass, {
        clusterName: this.options.parts.clusterName,
        nodePool: claim.metadata.labels?.[label.nodePool] ?? '',
      }),
    };
    try {
      return await this.launchFrom(wish);
    } catch (error) {
      // The template was deleted behind our back: it is forgotten now, so the second try makes it anew.
      if (awsErrorCode(error) !== 'InvalidLaunchTemplateName.NotFoundException') throw createFailed(error);
      return await this.launchFrom(wish).catch((again: unknown) => {
        throw createFailed(again);
      });
    }
  }

  private choiceFor({ spec }: NodeClaim, types: readonly InstanceTypeSpec[]): Choice {
    let known = this.choices.get(types);
    if (known === undefined || known.byClaim.size >= claimsPerMatcher) {
      known = { matcher: new LaunchMatcher(awsProviderFacts), byClaim: new Map() };
      this.choices.set(types, known);
    }
    const requests = spec.resources?.requests;
    const key = JSON.stringify([spec.requirements, requests]);
    let choice = known.byClaim.get(key);
    if (choice === undefined) {
      const match = known.matcher.match(spec.requirements, requests);
      choice = { match, candidates: this.candidatesFor(match, types) };
      known.byClaim.set(key, choice);
    }
    return choice;
  }

  private probe({ spec }: NodeClaim, types: readonly InstanceTypeSpec[]): Choice {
    const { clock, unavailable } = this.options;
    const match = new LaunchMatcher(awsProviderFacts).match(spec.requirements, spec.resources?.requests);
    const all = launchCandidates(types, match).flatMap(({ type, offerings }) =>
      offerings.map((offering) => ({ type, offering })),
    );
    const share = probeShare(
      all,
      ({ type, offering }) =>
        unavailable.lastFailedMs({
          instanceType: type.name,
          zone: zoneOf(offering),
          capacityType: capacityTypeOf(offering),
        }),
      clock.elapsed(),
    );
    const asked = new Map<InstanceTypeSpec, OfferingSpec[]>();
    for (const { type, offering } of share) asked.set(type, [...(asked.get(type) ?? []), offering]);
    return {
      match,
      candidates: this.kept(
        [...asked].map(([type, offerings]) => ({ type, offerings })),
        match,
      ),
    };
  }

  private candidatesFor(match: ClaimMatch, types: readonly InstanceTypeSpec[]): Candidate[] {
    return this.kept(launchCandidates(types, match), match);
  }

  private kept(candidates: readonly Candidate[], match: ClaimMatch): Candidate[] {
    if (candidates.length === 0) {
      throw new CloudError('insufficientCapacity', 'all requested instance types were unavailable during launch');
    }
    const truncated = cheapest(candidates, match, this.options.minValuesPolicy);
    if (truncated.kind === 'kept') return truncated.candidates;
    throw new CloudError(
      'insufficientCapacity',
      `truncating instance types, minValues requirement is not met for label(s) (label(s)=[${truncated.keys.join(' ')}])`,
    );
  }

  /** The capacity type, and only the offerings of it. */
  private purchase(
    match: ClaimMatch,
    candidates: readonly Candidate[],
  ): Pick<LaunchWish, 'capacityType' | 'candidates'> {
    const chosen = chosenCapacityType(candidates);
    if (
      chosen === capacityType.onDemand &&
      match.allows(label.capacityType, capacityType.spot) &&
      candidates.length < flexibleTypes
    ) {
      this.options.log.info('at least five instance types are needed for spot to be flexible; using on-demand', {
        'instance-type-count': candidates.length,
      });
    }
    return {
      capacityType: chosen,
      candidates: candidates.flatMap(({ type, offerings }) => {
        const own = offerings.filter((offering) => capacityTypeOf(offering) === chosen);
        return own.length === 0 ? [] : [{ type, offerings: own }];
      }),
    };
  }

  private async launchFrom(wish: LaunchWish): Promise<Ec2Instance> {
    const planned = plannedTemplates(wish, this.options.parts);
    const names = await Promise.all(planned.map(({ spec, render }) => this.options.templates.ensure(spec, render)));
    const subnets = this.options.subnets.choose(wish.nodeClass.status?.subnets ?? [], addressesIn(wish));
    let used: string | undefined;
    try {
      const share = await this.askForFleet(wish, planned, names, subnets);
      this.handleErrors(share.errors, wish, planned, names);
      const instance = this.instanceOf(share, wish, planned, names, subnets);
      used = instance.subnetId;
      return instance;
    } catch (error) {
      if (awsErrorCode(error) === 'InvalidLaunchTemplateName.NotFoundException')
        for (const name of names) this.options.templates.forget(name);
      throw error;
    } finally {
      subnets.settle(used === undefined ? [] : [used]);
    }
  }

  private askForFleet(
    wish: LaunchWish,
    planned: readonly PlannedTemplate[],
    names: readonly string[],
    { byZone }: Subnets,
  ): Promise<FleetShare> {
    const request = fleetRequest({
      ...wish,
      reservation: planned[0]?.spec.reservation,
      subnets: byZone,
      templates: planned.map(({ spec, candidates }, index) => ({
        name: names[index] ?? '',
        imageId: spec.imageId,
        candidates,
      })),
    });
    if (request === undefined) {
      throw new CloudError('createFailed', 'no capacity offerings are currently available given the constraints', {
        conditionReason: 'LaunchFailed',
        conditionMessage: 'no capacity offerings are currently available given the constraints',
      });
    }
    return this.fleets.add(request);
  }

  private handleErrors(
    errors: readonly CreateFleetError[],
    wish: LaunchWish,
    planned: readonly PlannedTemplate[],
    names: readonly string[],
  ): void {
    const partition = partitionOf(wish);
    const group = wish.placementGroup;
    this.errors.handle(errors, {
      capacityType: wish.capacityType,
      placementGroup: group === undefined ? undefined : { id: group.id, partition },
      instanceTypes: wish.allTypes,
      reservationOf: (name) => planned[names.indexOf(name)]?.spec.reservation?.id,
    });
    if (!errors.some(isRoleError)) return;
    const { metadata } = wish.claim;
    this.options.recorder.publish({
      subject: {
        apiVersion: 'karpenter.sh/v1',
        kind: 'NodeClaim',
        name: metadata.name ?? '',
        ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
      },
      type: 'Warning',
      reason: 'SpotServiceLinkedRoleMissing',
      message:
        'Attempted to launch a spot instance but failed due to "AuthFailure.ServiceLinkedRoleCreationNotPermitted"',
    });
  }

  private instanceOf(
    { instance, errors }: FleetShare,
    wish: LaunchWish,
    planned: readonly PlannedTemplate[],
    names: readonly string[],
    { byZone }: Subnets,
  ): Ec2Instance {
    const id = instance?.InstanceIds?.[0];
    if (instance === undefined || id === undefined) throw noInstance(errors);
    const { LaunchTemplateSpecification: template, Overrides } = instance.LaunchTemplateAndOverrides ?? {};
    const planOf = planned[names.indexOf(template?.LaunchTemplateName ?? '')] ?? planned[0];
    const zone = Overrides?.AvailabilityZone ?? '';
    const zoneId = byZone.get(zone)?.zoneID;
    const { nodeClass, placementGroup } = wish;
    const reservation: ReservationFacts | undefined = planOf?.spec.reservation;
    const partition = partitionOf(wish);
    const instanceType = Overrides?.InstanceType ?? instance.InstanceType ?? '';
    return {
      id,
      instanceType,
      zone,
      ...(zoneId === undefined ? {} : { zoneId }),
      imageId: Overrides?.ImageId ?? planOf?.spec.imageId ?? '',
      state: 'pending',
      launchedMs: this.options.clock.now(),
      capacityType: wish.capacityType,
      ...(reservation === undefined ? {} : { reservation }),
      subnetId: Overrides?.SubnetId ?? '',
      securityGroupIds: (nodeClass.status?.securityGroups ?? []).map((group) => group.id),
      tags: wish.tags,
      efaCount: (planOf?.spec.efaCount ?? 0) + configuredEfa(nodeClass),
      tenancy: wish.tenancy,
      ...(placementGroup === undefined ? {} : { placementGroupId: placementGroup.id }),
      ...(partition === undefined ? {} : { partition }),
    };
  }
}

function configuredEfa({ spec }: EC2NodeClass): number {
  return (spec.networkInterfaces ?? []).filter(({ interfaceType }) => interfaceType === 'efa-only').length;
}

/** At least so many addresses a node takes in a zone: one per pod of the smallest type that may come. */
function addressesIn({ candidates }: LaunchWish): (zone: string) => number {
  return (zone) => {
    const pods = candidates
      .filter(({ offerings }) => offerings.some((offering) => zoneOf(offering) === zone))
      .map(({ type }) => Number(type.capacity['pods'] ?? 0));
    return pods.length === 0 ? 0 : Math.min(...pods);
  };
}

/** EC2 had nothing, or refused. */
function noInstance(errors: readonly CreateFleetError[]): CloudError {
  const text = [...new Set(errors.map(fleetErrorText))].join('; ');
  if (errors.length > 0 && errors.every((error) => isCapacityError(error) || isRoleError(error))) {
    // What comes back with the next hour's capacity is not a failure; a full subnet or a missing role is.
    const id = failureIdOf(text);
    const isSetUp = id !== undefined && id !== 'scheduling/launch-rejected-by-provider';
    return new CloudError(
      'insufficientCapacity',
      `with fleet error(s), ${text}${isSetUp ? ` (${pointerTo(id)})` : ''}`,
    );
  }
  const { reason, message } = reportedFailure(text);
  return new CloudError('createFailed', `creating instance, with fleet error(s), ${text}`, {
    conditionReason: reason,
    conditionMessage: message,
  });
}

/**
 * What EC2 refused is reported, and so is what was never sent for want of credentials; what never got an answer is left as it
 * is, as there may be an instance all the same.
 */
function createFailed(error: unknown): unknown {
  if (error instanceof CloudError || !(isAwsAnswer(error) || isCredentialProblem(error))) return error;
  const { reason, message } = reportedFailure(error);
  const text = error instanceof Error ? error.message : String(error);
  return new CloudError('createFailed', `creating instance, ${awsErrorCode(error) ?? 'error'}: ${text}`, {
    cause: error,
    conditionReason: reason,
    conditionMessage: message,
  });
}
