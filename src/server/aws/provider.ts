// The aws provider of the controller process. What needs the AWS SDK is imported only when the provider is started, so
// that every other command starts without it.
import type { Provider, ProviderTools } from '../controller-process.ts';
import type { AwsSettings } from '../settings/aws.ts';
import type { Settings } from '../settings/parse.ts';

export interface AwsProviderOptions {
  settings: Settings;
  aws: AwsSettings;
  env: Record<string, string | undefined>;
  version: string;
  /** The certificates we trust the API server with, PEM. */
  ownAuthority: string | undefined;
}

export function awsProvider(options: AwsProviderOptions): (tools: ProviderTools) => Promise<Provider> {
  return async (tools) => (await import('./start.ts')).startAws(options, tools);
}
