export { CapacityReservations } from './capacity-reservations/capacity-reservations.ts';
export { type AwsClients, createAwsClients } from './clients/clients.ts';
export { ec2NodeClasses } from './ec2-node-classes.ts';
export { Images } from './images/images.ts';
export { InstanceProfiles } from './instance-profiles/instance-profiles.ts';
export { bareRoleName } from './instance-profiles/profile-names.ts';
export { PlacementGroups } from './placement-groups/placement-groups.ts';
export { SecurityGroups } from './security-groups/security-groups.ts';
export { Subnets } from './subnets/subnets.ts';
