export { type Look, type LookOptions, lookAtAccount } from './account/look.ts';
export {
  type AccountAnswer,
  type AccountQuestion,
  type AccountQuestions,
  accountQuestions,
  answerOf,
  furtherQuestions,
} from './account/questions.ts';
export { isServerError } from './aws-errors.ts';
export type { NodeFacts } from './boot-parts.ts';
export {
  CapacityReservations,
  expiringBeforeEndMs,
  takenBackBeforeEndMs,
} from './capacity-reservations/capacity-reservations.ts';
export { type AwsClients, createAwsClients } from './clients/clients.ts';
export { callerOf } from './discovery/caller.ts';
export {
  checkEc2,
  type EksCluster,
  eksCluster,
  findAwsAuth,
  findCaBundle,
  findClusterDns,
  findEndpoint,
  findServiceCidr,
} from './discovery/cluster.ts';
export { KubernetesVersion } from './discovery/kubernetes-version.ts';
export { ec2NodeClasses } from './ec2-node-classes.ts';
export { Images } from './images/images.ts';
export { InstanceProfiles } from './instance-profiles/instance-profiles.ts';
export { bareRoleName } from './instance-profiles/profile-names.ts';
export { amiFamilyOf } from './instance-types/ami-family.ts';
export { instanceIdOf } from './instances/provider-id.ts';
export { checkedTenancy, checkedType } from './launch-checks/checked-type.ts';
export type { CheckedLaunch, CheckOutcome } from './launch-checks/launch-checks.ts';
export { allPages } from './paging.ts';
export { PlacementGroups } from './placement-groups/placement-groups.ts';
export { livePricing } from './pricing/pricing.ts';
export { type AwsProvider, createAwsProvider } from './provider.ts';
export { SecurityGroups } from './security-groups/security-groups.ts';
export { Subnets } from './subnets/subnets.ts';
export { restrictedTag, tagProblem, whyForeign } from './tags.ts';
export { FollowedZonalShifts, noZonalShifts, type ZonalShifts } from './zonal-shifts.ts';
