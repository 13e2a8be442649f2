export { type BuiltInCatalogue, builtInCatalogue } from './instance-types/built-in.ts';
export type { NodeClassShape } from './instance-types/node-class.ts';
export { awsProviderFacts } from './instance-types/provider-facts.ts';
