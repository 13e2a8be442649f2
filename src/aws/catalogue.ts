// What there is to know about AWS without asking it: catalogues for plans without an account, and the policies and
// infrastructure a cluster needs. The room's light door: it never loads the AWS SDK.
export {
  type ClusterAccount,
  controllerRoleName,
  dnsSuffixOf,
  nodeRoleName,
  partitionOf,
  queueNameOf,
  ruleNameOf,
} from './iam/account.ts';
export {
  checksPart,
  controllerPolicies,
  type PolicyDocument,
  type PolicyPart,
  policyName,
  policyParts,
} from './iam/controller-policies.ts';
export { eventRules, queueArn, queuePolicy, retentionSeconds } from './iam/queue.ts';
export {
  managedPolicyArn,
  nodePolicies,
  nodeRoleArn,
  nodeTrust,
  podIdentityTrust,
  webIdentityTrust,
} from './iam/roles.ts';
export { type BuiltInCatalogue, builtInCatalogue } from './instance-types/built-in.ts';
export { builtInMachineSizes, type MachineSize } from './instance-types/machine-sizes.ts';
export type { NodeClassShape } from './instance-types/node-class.ts';
export { awsProviderFacts } from './instance-types/provider-facts.ts';
