// Where credentials come from: the SDK's default chain (environment, shared files with profiles and SSO, processes, web
// identity, EKS Pod Identity and other containers, instance metadata), in its order. A new chain each time, past the SDK's
// memory of files. Services it asks on the way (STS, SSO) are reached as everything else is: same proxies, same authorities.
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import type { NodeHttpHandler } from '@smithy/node-http-handler';
import type { AwsCredentialIdentity } from '@smithy/types';

export interface CredentialChainOptions {
  /** STS is asked here unless a profile says otherwise. */
  region: string;
  requestHandler: NodeHttpHandler;
  env: Record<string, string | undefined>;
}

/** Part of the message when no source has any. */
export const credentialsMissing = 'no AWS credentials were found';

/** Sources tell in this form why they have nothing. */
const reported = /^@smithy\/property-provider -> (.*)$/s;
/** Reported by sources that no one can set up, and by settings that are merely absent. */
const noise = /Skipping SSO provider|METADATA_V1_DISABLED/;

export function credentialChain({ region, requestHandler, env }: CredentialChainOptions) {
  return async (): Promise<AwsCredentialIdentity> => {
    const said = new Set<string>();
    const listen = (line: unknown): void => {
      const why = reported.exec(String(line))?.[1];
      if (why !== undefined && !noise.test(why)) said.add(why.replace(/\.$/, ''));
    };
    const silent = (): void => {};
    const logger = { debug: listen, info: silent, warn: silent, error: silent };
    try {
      return await defaultProvider({
        ignoreCache: true,
        logger,
        clientConfig: { requestHandler },
        parentClientConfig: { region },
      })();
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('Could not load credentials from any providers'))
        throw nothingFound([...said, ...silentSources(env)], error);
      throw error;
    }
  };
}

/** Services that were asked, and whose refusals the SDK keeps to itself. */
function silentSources(env: CredentialChainOptions['env']): string[] {
  const container = env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] || env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'];
  if (container) return [`${container} (the agent of EKS Pod Identity, or of another container service) gave none`];
  const isDisabled = (env['AWS_EC2_METADATA_DISABLED'] || 'false') !== 'false';
  return isDisabled ? [] : ['the instance metadata service gave none'];
}

function nothingFound(said: readonly string[], cause: Error): Error {
  const error = new Error(
    `${credentialsMissing} (${said.join('; ')}): create a Pod Identity association or a role annotation for the service account, or set AWS_PROFILE; they are looked for again at the next call, no restart is needed`,
    { cause },
  );
  error.name = 'CredentialsProviderError';
  return error;
}
