// What there is to know about EC2 without asking it, for plans without an account. The room's light door: it never loads
// the AWS SDK.
export { type BuiltInCatalogue, builtInCatalogue } from './instance-types/built-in.ts';
export type { NodeClassShape } from './instance-types/node-class.ts';
export { awsProviderFacts } from './instance-types/provider-facts.ts';
