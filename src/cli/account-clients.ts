// Clients for the AWS account of whoever runs a command, where there are credentials. They only read: a call that would
// change something is refused before it is sent.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AwsClients } from '../aws/index.ts';
import { version } from './version.ts';

export interface AccountOptions {
  env: Record<string, string | undefined>;
  region?: string;
}

/** Short: a command that waits for minutes on a closed network does not help. */
const callTimeoutMs = 15_000;

const variables = [
  'AWS_ACCESS_KEY_ID',
  'AWS_PROFILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
];

/** By a variable, or by the files that `aws configure` writes. The metadata service of an instance is not asked. */
export function hasAwsCredentials(env: AccountOptions['env']): boolean {
  const ofHome = (name: string): string => join(env['HOME'] ?? '/', '.aws', name);
  return (
    variables.some((name) => env[name]) ||
    existsSync(env['AWS_SHARED_CREDENTIALS_FILE'] || ofHome('credentials')) ||
    existsSync(env['AWS_CONFIG_FILE'] || ofHome('config'))
  );
}

/** Undefined without credentials or region: the account is then not asked. */
export async function accountClients({ env, region }: AccountOptions): Promise<AwsClients | undefined> {
  if (!hasAwsCredentials(env)) return undefined;
  const [{ createAwsClients }, { RealClock }, { prometheusMetrics }] = await Promise.all([
    import('../aws/index.ts'),
    import('../runtime/index.ts'),
    import('../telemetry/index.ts'),
  ]);
  try {
    return await createAwsClients({
      clock: new RealClock(),
      metrics: prometheusMetrics(),
      // A command on someone's machine must not wait for a metadata service that is not there.
      env: { AWS_EC2_METADATA_DISABLED: 'true', ...env },
      version,
      callTimeoutMs,
      mayWrite: () => false,
      ...(region === undefined ? {} : { region }),
    });
  } catch {
    // No region after all.
    return undefined;
  }
}
