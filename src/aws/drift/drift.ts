// Whether a node still is what its class asks for. Static fields are compared by hash; what is looked up live (images,
// security groups, subnets, reservation, placement group) by what the class's status says now.
//
// The first reason counts, in this order: hash, image, security groups, subnet, reservation, placement group. A status
// that is empty is not drift but an error: everything would seem to have drifted at once.
import {
  awsDriftReason,
  awsLabel,
  type EC2NodeClass,
  ec2NodeClassDrifted,
  label,
  type NodeClaim,
} from '../../api/index.ts';
import { KerfError } from '../../base/index.ts';
import type { InstanceTypeSpec } from '../../core/index.ts';
import { imageFor } from '../images/images-for.ts';

/** An instance as far as drift looks at it. */
export interface DriftInstance {
  securityGroupIds: readonly string[];
  subnetId?: string | undefined;
  /** Set while it runs in a reservation. */
  capacityReservationId?: string | undefined;
}

export interface DriftQuestion {
  claim: NodeClaim;
  nodeClass: EC2NodeClass;
  instanceType(name: string): InstanceTypeSpec | undefined;
  /** The claim's instance; with `fresh`, as EC2 says now. Throws when it is gone. */
  instance(options: { fresh: boolean }): Promise<DriftInstance>;
  /** The group the class resolves to. */
  placementGroupId?: string | undefined;
  /** No one has asked EC2 for the class's group yet: no id then does not mean that there is no group. */
  isPlacementGroupUnknown?: boolean;
}

export async function driftReason(question: DriftQuestion): Promise<string | undefined> {
  const { claim, nodeClass } = question;
  if (ec2NodeClassDrifted(nodeClass.metadata.annotations, claim.metadata.annotations)) return awsDriftReason.nodeClass;
  if (hasOtherImage(question)) return awsDriftReason.ami;
  const instance = await question.instance({ fresh: false });
  if (hasOtherSecurityGroups(nodeClass, instance)) return awsDriftReason.securityGroup;
  if (hasOtherSubnet(nodeClass, instance)) return awsDriftReason.subnet;
  // EC2 moves instances out of a reservation that ended; what we remember of one may be older than that.
  if (
    hasOtherReservation(nodeClass, instance) &&
    hasOtherReservation(nodeClass, await question.instance({ fresh: true }))
  )
    return awsDriftReason.capacityReservation;
  if (question.isPlacementGroupUnknown === true) throw cannotTell(claim, 'its placement group was not looked up yet');
  const group = claim.metadata.labels?.[awsLabel.placementGroupId] ?? '';
  return group === (question.placementGroupId ?? '') ? undefined : awsDriftReason.placementGroup;
}

function hasOtherImage({ claim, nodeClass, instanceType }: DriftQuestion): boolean {
  const name = claim.metadata.labels?.[label.instanceType];
  const type = name === undefined ? undefined : instanceType(name);
  if (type === undefined) throw cannotTell(claim, `its instance type ${name ?? '(no label)'} is not known`);
  const images = nodeClass.status?.amis ?? [];
  if (images.length === 0)
    throw cannotTell(claim, `no images in the status of EC2NodeClass ${nodeClass.metadata.name}`);
  const imageID = claim.status?.imageID;
  if (imageID === undefined || imageID === '') throw cannotTell(claim, 'its status names no image');
  return imageFor(type, images)?.id !== imageID;
}

function hasOtherSecurityGroups(nodeClass: EC2NodeClass, instance: DriftInstance): boolean {
  const wanted = new Set(nodeClass.status?.securityGroups?.map(({ id }) => id));
  if (wanted.size === 0) throw emptyStatus(nodeClass, 'security groups');
  const has = new Set(instance.securityGroupIds);
  return has.size !== wanted.size || [...has].some((id) => !wanted.has(id));
}

function hasOtherSubnet(nodeClass: EC2NodeClass, { subnetId }: DriftInstance): boolean {
  const subnets = nodeClass.status?.subnets ?? [];
  if (subnets.length === 0) throw emptyStatus(nodeClass, 'subnets');
  return !subnets.some(({ id }) => id === subnetId);
}

function hasOtherReservation(nodeClass: EC2NodeClass, { capacityReservationId: used }: DriftInstance): boolean {
  return used !== undefined && !nodeClass.status?.capacityReservations?.some(({ id }) => id === used);
}

export const cannotTell = ({ metadata }: NodeClaim, why: string): KerfError =>
  new KerfError('DriftUnknown', `cannot tell whether NodeClaim ${metadata.name} has drifted: ${why}`, {
    retryable: true,
  });

const emptyStatus = ({ metadata }: EC2NodeClass, what: string): KerfError =>
  new KerfError('DriftUnknown', `cannot tell drift: no ${what} in the status of EC2NodeClass ${metadata.name}`, {
    retryable: true,
  });
