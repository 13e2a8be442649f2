export { Cluster, type ContextKind } from './cluster.ts';
export type { LaunchPause } from './launch-backoff.ts';
export { LaunchLedger } from './launch-ledger.ts';
export { offeringKey, probeLifeMs } from './launch-pace.ts';
export {
  capacityOf,
  hasTerminationFinalizer,
  isLeaving,
  type Machine,
  nodePoolOf,
} from './machine.ts';
export { keyOf, ObjectStore } from './object-store.ts';
export { PodAmounts } from './pod-amounts.ts';
export {
  doNotDisruptEndsMs,
  evictionCost,
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
} from './pod-classes.ts';
export { countedMachines, limitsInUse } from './pool-use.ts';
export { needsPlace, pausesOf, type SnapshotInputs, takeSnapshot } from './snapshot.ts';
