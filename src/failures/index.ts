export { AwsAnswers, callOf } from './aws-answers.ts';
export { knownBeforeLaunch, notMadeBeforeLaunch, stopsLaunches } from './before-launch.ts';
export { areas, catalogue } from './catalogue.ts';
export { instanceOf, unregisteredClaims } from './claims.ts';
export { type Classifier, classifier } from './classify.ts';
export { controllerIdentity } from './controller-identity.ts';
export { diagnose, isAtLeast } from './diagnose.ts';
export { type Evidence, evidenceOf } from './evidence.ts';
export { clusterName, controllerDeployments, controllerPods, nodeRoles, settingOf } from './facts.ts';
export {
  type CheckOutcome,
  type Diagnosis,
  type Failure,
  type FailureId,
  type Finding,
  type ObjectRef,
  type Severity,
  type Sighting,
  severities,
  type TextKind,
} from './failure.ts';
export { listAt, textAt } from './fields.ts';
export { apiServerGroups, endpointGroups } from './network-rules.ts';
export { objectTexts } from './object-texts.ts';
export { Objects } from './objects.ts';
export { failuresPage } from './reference-page.ts';
export type { Codec } from './text/lines.ts';
export { type ScannedText, TextScanner, type TextSource } from './text/scan.ts';
export { stillOpen } from './text/still-open.ts';
export { pageOf, pointerTo, reasonOf, saidOf } from './words.ts';
