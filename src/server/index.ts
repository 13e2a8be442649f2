export { type Assembly, type AssemblyOptions, assemble } from './assemble.ts';
export { awsProvider } from './aws/provider.ts';
export {
  type ControllerProcessOptions,
  type Provider,
  type ProviderTools,
  runControllerProcess,
} from './controller-process.ts';
export { type AwsSettings, awsSettingDefinitions } from './settings/aws.ts';
export { type SettingDefinition, settingDefinitions } from './settings/definitions.ts';
export { type ParsedSettings, parseSettings, type Settings } from './settings/parse.ts';
