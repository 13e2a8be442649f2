// Whether EC2 would let us launch with a class: a launch template is made for real, then a fleet and an instance as dry
// runs. In that order, stopping at the first that fails.
import {
  CreateFleetCommand,
  type EC2Client,
  type InstanceNetworkInterfaceSpecification,
  type _InstanceType as InstanceTypeName,
  type ResourceType,
  RunInstancesCommand,
  type TagSpecification,
} from '@aws-sdk/client-ec2';
import { awsGroup, capacityType, conditionReason, type EC2NodeClass, type NodeClaim } from '../../api/index.ts';
import { KerfError } from '../../base/index.ts';
import type { InstanceTypeSpec } from '../../core/index.ts';
import type { FailureId } from '../../failures/index.ts';
import { awsErrorCode, isServerError, isThrottled, isUnauthorized, wouldHaveWorked } from '../aws-errors.ts';

import { failureIdOf, failureReason } from '../fleet/failure-reason.ts';

import { type BootParts, plannedTemplates } from '../launch-templates/launch-plan.ts';
import type { LaunchTemplates } from '../launch-templates/launch-templates.ts';
import { resourceTags, tagList } from '../tags.ts';
import { sendOnce } from './send-once.ts';

export type CheckOutcome =
  | { kind: 'passed' }
  /**
   * Launches would fail: reason and message of the class's condition. `mayPass` where that can end without a change of
   * the class.
   */
  | { kind: 'refused'; reason: string; message: string; failure: FailureId | undefined; mayPass?: true }
  /** AWS is busy, or has not heard of the new profile everywhere yet. */
  | { kind: 'later' };

export interface LaunchChecksOptions {
  ec2: EC2Client;
  clusterName: string;
  templates: Pick<LaunchTemplates, 'ensure'>;
  parts: BootParts;
  placementGroupOf(nodeClass: EC2NodeClass): { id: string; strategy: string } | undefined;
}

export interface CheckedLaunch {
  nodeClass: EC2NodeClass;
  type: InstanceTypeSpec;
  tenancy: string;
}

export class LaunchChecks {
  private readonly options: LaunchChecksOptions;

  constructor(options: LaunchChecksOptions) {
    this.options = options;
  }

  /** Anything EC2 says that is neither yes, no, nor later is thrown. */
  async run(launch: CheckedLaunch): Promise<CheckOutcome> {
    // As launches tag it, for a pool without a name.
    const tags = resourceTags(launch.nodeClass, { clusterName: this.options.clusterName, nodePool: '' });
    let template = '';
    const checks: Check[] = [
      {
        action: 'CreateLaunchTemplate',
        reason: conditionReason.createLaunchTemplateAuthCheckFailed,
        run: async () => void (template = await this.makeTemplate(launch, tags)),
      },
      {
        action: 'CreateFleet',
        reason: conditionReason.createFleetAuthCheckFailed,
        run: () => this.tryFleet(launch, template, tags),
      },
      {
        action: 'RunInstances',
        reason: conditionReason.runInstancesAuthCheckFailed,
        run: () => this.tryInstances(launch, template, tags),
      },
    ];
    for (const check of checks) {
      try {
        await check.run();
      } catch (error) {
        return outcomeOf(error, check, launch.nodeClass);
      }
    }
    return { kind: 'passed' };
  }

  private async makeTemplate(
    { nodeClass, type, tenancy }: CheckedLaunch,
    tags: Record<string, string>,
  ): Promise<string> {
    const { parts, templates, placementGroupOf } = this.options;
    const [planned] = plannedTemplates(
      {
        nodeClass,
        claim: anyClaim(nodeClass),
        candidates: [{ type, offerings: [{ requirements: [], price: 0, available: true }] }],
        allTypes: [type.name],
        capacityType: capacityType.onDemand,
        tenancy,
        placementGroup: placementGroupOf(nodeClass),
        tags,
      },
      parts,
    );
    if (planned === undefined)
      throw new KerfError(
        'NoImage',
        `no image of EC2NodeClass ${nodeClass.metadata.name} fits ${type.name}; select one of its architecture in spec.amiSelectorTerms`,
        {
          retryable: true,
        },
      );
    return templates.ensure(planned.spec, planned.render);
  }

  private tryFleet({ nodeClass, type }: CheckedLaunch, template: string, tags: Record<string, string>): Promise<void> {
    const command = new CreateFleetCommand({
      DryRun: true,
      Type: 'instant',
      TargetCapacitySpecification: { DefaultTargetCapacityType: 'on-demand', TotalTargetCapacity: 1 },
      OnDemandOptions: { AllocationStrategy: 'lowest-price' },
      LaunchTemplateConfigs: [
        {
          LaunchTemplateSpecification: { LaunchTemplateName: template, Version: '$Latest' },
          Overrides: (nodeClass.status?.subnets ?? []).map(({ id }) => ({
            InstanceType: type.name as InstanceTypeName,
            SubnetId: id,
          })),
        },
      ],
      TagSpecifications: tagged(['instance', 'volume', 'fleet'], tags),
    });
    return this.dryRun(command);
  }

  /** One subnet that works is enough; if none does, the first says why. */
  private async tryInstances(
    { nodeClass, type }: CheckedLaunch,
    templateName: string,
    tags: Record<string, string>,
  ): Promise<void> {
    const errors: unknown[] = [];
    for (const { id } of nodeClass.status?.subnets ?? []) {
      const command = new RunInstancesCommand({
        DryRun: true,
        MinCount: 1,
        MaxCount: 1,
        LaunchTemplate: { LaunchTemplateName: templateName, Version: '$Latest' },
        InstanceType: type.name as InstanceTypeName,
        NetworkInterfaces: interfacesIn(id, nodeClass),
        TagSpecifications: tagged(['instance', 'volume', 'network-interface'], tags),
      });
      try {
        await this.dryRun(command);
        return;
      } catch (error) {
        errors.push(error);
      }
    }
    throw errors[0];
  }

  private async dryRun(command: CreateFleetCommand | RunInstancesCommand): Promise<void> {
    try {
      await sendOnce(this.options.ec2, command);
    } catch (error) {
      if (!wouldHaveWorked(error)) throw error;
    }
  }
}

interface Check {
  action: string;
  /** Of the condition when we are not allowed to. */
  reason: string;
  run(): Promise<void>;
}

function outcomeOf(error: unknown, { action, reason }: Check, { spec }: EC2NodeClass): CheckOutcome {
  if (isUnauthorized(error)) {
    const { message } = failureReason(error);
    const text = `Controller isn't authorized to call ec2:${action}: ${message}`;
    return { kind: 'refused', reason, message: text, failure: failureIdOf(error) };
  }
  if (isProfileUnknown(error) && spec.instanceProfile !== undefined) {
    const message = `Instance profile "${spec.instanceProfile}" not found`;
    return {
      kind: 'refused',
      reason: conditionReason.instanceProfileNotFound,
      message,
      failure: failureIdOf(error),
      mayPass: true,
    };
  }
  if (isThrottled(error) || isServerError(error) || isProfileUnknown(error)) return { kind: 'later' };
  const failure = failureReason(error);
  if (awsErrorCode(error) === 'InvalidUserData.Malformed' && failure.reason === 'UserDataSizeLimitExceeded') {
    return {
      kind: 'refused',
      reason: conditionReason.userDataSizeLimitExceeded,
      message: `ec2:${action} rejected the rendered user data as too large: ${failure.message}`,
      failure: failureIdOf(error),
    };
  }
  throw error;
}

/** IAM tells EC2 about a new profile within seconds, not at once: one that was made for the class is waited for. */
function isProfileUnknown(error: unknown): boolean {
  return (
    awsErrorCode(error) === 'InvalidParameterValue' &&
    error instanceof Error &&
    error.message.includes('Invalid IAM Instance Profile name')
  );
}

function interfacesIn(subnet: string, { spec }: EC2NodeClass): InstanceNetworkInterfaceSpecification[] {
  const configured = spec.networkInterfaces ?? [];
  if (configured.length === 0) return [{ DeviceIndex: 0, SubnetId: subnet }];
  return configured.map(({ networkCardIndex, deviceIndex, interfaceType }) => ({
    NetworkCardIndex: networkCardIndex,
    DeviceIndex: deviceIndex,
    InterfaceType: interfaceType,
    SubnetId: subnet,
  }));
}

const tagged = (types: readonly ResourceType[], tags: Record<string, string>): TagSpecification[] =>
  types.map((ResourceType) => ({ ResourceType, Tags: tagList(tags) }));

/** What a launch is for does not matter to what we are allowed to do. */
function anyClaim({ metadata }: EC2NodeClass): NodeClaim {
  const nodeClassRef = { group: awsGroup, kind: 'EC2NodeClass', name: metadata.name ?? '' };
  return { metadata: {}, spec: { nodeClassRef, requirements: [] } };
}
