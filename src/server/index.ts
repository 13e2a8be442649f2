export { type Assembly, type AssemblyOptions, assemble } from './assemble.ts';
export { awsProvider } from './aws/provider.ts';
export {
  type ControllerProcessOptions,
  type Provider,
  type ProviderTools,
  runControllerProcess,
} from './controller-process.ts';
export * from './dashboard/index.ts';
export { growSlowly } from './memory-limit.ts';
export { publisher } from './publisher.ts';
export { answerTo } from './recording/answers.ts';
export { readRecording } from './recording/read-recording.ts';
export { type MadeAgain, RecordedDay } from './recording/recorded-day.ts';
export { DecisionRecorder } from './recording/recorder.ts';
export type { PassLine, RecordingLine } from './recording/recording-lines.ts';
export { ShownKube, type ShownObject } from './recording/shown-kube.ts';
export { SnapshotChanges, SnapshotsAgain } from './recording/snapshot-changes.ts';
export {
  adminRights,
  type Circumstance,
  circumstancesOf,
  clusterRights,
  defaultLeaseName,
  dnsRights,
  isReading,
  leaseRights,
  type Right,
  rightsFor,
  shadowLeaseName,
} from './rights/rights.ts';
export { type AwsSettings, awsSettingDefinitions } from './settings/aws.ts';
export { defaultAwsGates, defaultGates, type SettingDefinition, settingDefinitions } from './settings/definitions.ts';
export { type ParsedSettings, parseSettings, type Settings } from './settings/parse.ts';
export { snapshotId } from './snapshot-id.ts';
