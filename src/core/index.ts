export { configurationBound } from './bound/configuration-bound.ts';
export type { LinearProgram } from './bound/linear-program.ts';
export { priceRelaxation, relaxationOf } from './bound/price-relaxation.ts';
export { roomBound } from './bound/room-bound.ts';
export { activeUntil, unreadableSchedules } from './budgets/budgets.ts';
export { isTimeZone } from './budgets/time-zone.ts';
export type { Device } from './devices/device-pools.ts';
export type { CompileDeviceSelector } from './devices/resource-claim-requests.ts';
export { afterCommand, afterPlan } from './disruption/after-command.ts';
export { approvedText, type Move, policyOf, type Score } from './disruption/balanced.ts';
export {
  type Command,
  type ConsolidationType,
  commandText,
  type Decision,
  type DisruptionReason,
  decisionOf,
  partText,
  podCount,
  type Replacement,
  savingsText,
  startedText,
} from './disruption/command.ts';
export { deletionRanks, leavingRank, type RankedNode } from './disruption/deletion-ranks.ts';
export { instanceTypeGone, requirementsDrifted } from './disruption/drift-reasons.ts';
export { driftedFields } from './disruption/drifted-fields.ts';
export { consolidationProblem, emptinessProblem } from './disruption/eligibility.ts';
export { emptinessCommand } from './disruption/emptiness.ts';
export {
  type DeletionCostsBy,
  deletionCostsBy,
  evictionCost,
  int32Of,
  lifetimeRemaining,
} from './disruption/eviction-cost.ts';
export { allowedOverTime, budgetsOf, Fleet, type Member } from './disruption/fleet.ts';
export { isWorthLookingAhead, type Sets, type Way } from './disruption/look-ahead.ts';
export type { Asked, Method, MethodMemory, MethodOutcome } from './disruption/method.ts';
export { firstOutcome, methods } from './disruption/methods.ts';
export { type ClusterMoney, clusterMoney } from './disruption/money.ts';
export { multiNodeCommand, prefixCommand, wayAhead } from './disruption/multi-node.ts';
export { Round } from './disruption/round.ts';
export { singleNodeCommand } from './disruption/single-node.ts';
export type { Rejection, Validation } from './disruption/validation.ts';
export {
  countedTypes,
  insteadText,
  type NodeVerdict,
  nodeVerdicts,
  plainText,
  verdictCode,
} from './disruption/verdicts.ts';
export { type SelectorMatch, selectorMatch } from './kube/label-selector.ts';
export { describeTaint, isEphemeral, sameTaint, tolerates, untolerated } from './kube/taints.ts';
export { type ClaimMatch, LaunchMatcher } from './launch/claim-match.ts';
export {
  allocatableOf,
  customLabels,
  isForSale,
  type LaunchOption,
  launchCapacityTypes,
  launchOptions,
  singleValuedLabels,
} from './launch/launch-options.ts';
export { daemonsToCome } from './nodes/daemons-to-come.ts';
export {
  isClaimLeaving,
  isInitialized,
  isLeaving,
  isRegistered,
  joinMachines,
  type MachineClaim,
  type MachineNode,
  reportedResources,
} from './nodes/joined-machine.ts';
export { type Repair, RepairPolicies, type RepairState, rebootTimes } from './nodes/repairs.ts';
export { applyOverlays, type Overlay, type OverlayPool, type OverlayResult } from './overlays/overlays.ts';
export type {
  ChosenOffering,
  EmptyPool,
  ExistingPlacement,
  Plan,
  PlannedNode,
  PlanOptions,
  Reason,
  ReasonCode,
  UnschedulablePod,
} from './plan.ts';
export { planSnapshot, planSnapshotInSlices, planWorld } from './planner.ts';
export { type HostPort, hostPortsOf, portsConflict } from './pods/host-ports.ts';
export {
  doNotDisruptEndsMs,
  hasResourceClaims,
  isActive,
  isDoNotDisruptActive,
  isDrainable,
  isEvictable,
  isOwnedByDaemonSet,
  isProvisionable,
  isReschedulable,
  isTerminal,
  isTerminating,
  isWaitingEviction,
  mayExpectUnknownNode,
  type NominationTest,
} from './pods/pod-classes.ts';
export { countsWhileLeaving, exceededLimit, nodesLeft, useOf } from './pools/limits.ts';
export { meetsRequirements } from './requirements/meets-requirements.ts';
export { allows, requirementOf } from './requirements/requirement.ts';
export { RequestsOfPods } from './resources/pod-requests.ts';
export { ResourceTable } from './resources/resource-table.ts';
export { type OfferingName } from './shortage/families.ts';
export { OfferingMemory } from './shortage/offering-memory.ts';
export { firstSpellMs, probeShare, probeTickMs } from './shortage/spells.ts';
export type {
  AttributeBinding,
  DefaultSpreadConstraint,
  DynamicResources,
  FailedOffering,
  InstanceTypeSpec,
  NodeStateEntry,
  OfferingSpec,
  Operator,
  Overhead,
  PoolInstanceTypes,
  PoolStateEntry,
  ProviderFacts,
  RepairAction,
  RepairPolicy,
  RequirementSpec,
  ResourceQuantities,
  ResourceSliceTemplate,
  Snapshot,
  SnapshotObject,
  SnapshotSettings,
} from './snapshot.ts';
export { indexSnapshot, type World } from './world.ts';
