export {
  again,
  type Controller,
  type ControllerContext,
  type ControllerSettings,
  type DecisionRecording,
  ownKey,
  source,
  untrustedClockMs,
} from './context.ts';
export { type Controllers, controllersOf } from './controllers-of.ts';
export { decideRemoval } from './decisions.ts';
export { compileUntrustedSelector } from './device-selectors.ts';
export { aboutClaim, aboutNode, aboutPool, subjectOf } from './event-subjects.ts';
export { malformedController, type Refused, type RefusedObjects } from './malformed.ts';
export { isServedBy } from './managed.ts';
export { type ClaimMetrics, claimMetrics } from './nodeclaim/claim-metrics.ts';
export { endClaim } from './nodeclaim/end-claim.ts';
export { nodeClaims, nodeOverlays, nodePools } from './own-resources.ts';
export { allSharesMs, Collection, heldBackGauge, nextShareMs, shareOf } from './ownership/collection.ts';
export { claimNamesOf, isStoredAsLeaving, storedClaim, storedClaims } from './ownership/stored.ts';
export { instanceTypesOfPools, roundOver, snapshotFor } from './planning.ts';
export {
  type AboutProvider,
  type PublishedSettings,
  type PublishedState,
  publishedAnnotations,
} from './published.ts';
export { type Shadow, shadowOf } from './shadow/shadow-of.ts';
export { deleteObject, patchObject, patchStatus } from './writes.ts';
