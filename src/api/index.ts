export { type AdmitOptions, admitKind, compiledKind, kindOf } from './admit-kind.ts';
export { compileDeviceSelector, type DeviceFacts } from './cel/device-selector.ts';
export { compileKubeletExpression, type KubeletVariables } from './cel/kubelet-expression.ts';
export { compileRules, evaluateRules, type RuleProblem, type RuleTree } from './cel/rules.ts';
export {
  type ConditionChange,
  type ConditionContext,
  type ConditionSet,
  clearCondition,
  ec2NodeClassConditions,
  initConditions,
  isTrue,
  nodeClaimConditions,
  nodeOverlayConditions,
  nodePoolConditions,
  setCondition,
} from './conditions.ts';
export { type CustomResourceDefinition, customResourceDefinition, objectSchema } from './crd.ts';
export { durationMs } from './duration.ts';
export { ec2NodeClassDrifted, nodePoolDrifted } from './hash/drift.ts';
export { ec2NodeClassHash, ec2NodeClassHashVersion, resolvedAmiFamily } from './hash/ec2-node-class-hash.ts';
export { nodePoolHash, nodePoolHashVersion } from './hash/node-pool-hash.ts';
export { textHash } from './hash/structural-hash.ts';
export type { CapacityBuffer } from './kinds/capacity-buffer.ts';
export type { Condition } from './kinds/conditions.ts';
export type { KindDefinition, PrinterColumn } from './kinds/definition.ts';
export type { EC2NodeClass, EC2NodeClassSpec } from './kinds/ec2-node-class.ts';
export { kinds } from './kinds/index.ts';
export type { KWOKNodeClass, KwokFaults } from './kinds/kwok-node-class.ts';
export type { NodeClaim } from './kinds/node-claim.ts';
export type { NodeOverlay } from './kinds/node-overlay.ts';
export type { DisruptionBudget, NodeClaimTemplate, NodePool, NodePoolSpec } from './kinds/node-pool.ts';
export {
  type KubeletExpression,
  type KubeletProblem,
  kubeletExpressions,
  kubeletProblem,
  type StaticKubelet,
  staticKubelet,
} from './kubelet-configuration.ts';
export {
  awsLabels,
  keyProblems,
  kwokLabels,
  type LabelAdditions,
  type LabelPolicy,
  labelPolicy,
  restrictionOf,
  valueProblems,
} from './labels.ts';
export {
  isConfigKey,
  isLabel,
  isLabelValue,
  isPathSegment,
  isQualifiedName,
  isSubdomain,
  type NameRule,
} from './name-rules.ts';
export * from './names.ts';
export type { ObjectMeta, OwnerReference } from './object-meta.ts';
export { joinErrors, nodeOverlayProblems, nodePoolProblems } from './runtime-validation.ts';
export {
  type Admission,
  admit,
  type CompiledSchema,
  compileSchema,
  validateAgainstSchema,
} from './schema/admission.ts';
export { applyDefaults } from './schema/defaults.ts';
export { type FieldError, type FieldErrorReason, fieldErrorText } from './schema/field-error.ts';
export { prune, type UnknownField } from './schema/prune.ts';
export type { Structural, ValidationRule } from './schema/structural.ts';
export { byWeight } from './weight.ts';
