export { Cluster, type ContextKind } from './cluster.ts';
export { LaunchLedger, largestOf } from './launch-ledger.ts';
export {
  capacityOf,
  conditionOf,
  hasTerminationFinalizer,
  isInitialized,
  isLeaving,
  isRegistered,
  type Machine,
  nodePoolOf,
} from './machine.ts';
export { keyOf, ObjectStore } from './object-store.ts';
export { PodAmounts } from './pod-amounts.ts';
export {
  doNotDisruptEndsMs,
  evictionCost,
  isActive,
  isDoNotDisruptActive,
  isDrainable,
  isEvictable,
  isOwnedByDaemonSet,
  isProvisionable,
  isTerminal,
  isWaitingEviction,
} from './pod-classes.ts';
export { needsPlace, type SnapshotInputs, takeSnapshot } from './snapshot.ts';
