// The credentials of this process, shared by every client: looked up (credential-chain.ts), kept until shortly before they
// expire, and looked up anew, files included, as soon as AWS refuses them. So a renewed file or token is taken up
// without a restart.
import { readFileSync } from 'node:fs';
import type { AwsCredentialIdentity } from '@smithy/types';
import { type Clock, messageOf, within } from '../../base/index.ts';
import { credentialsMissing } from './credential-chain.ts';

/** As long before the end as the SDK itself: a call that starts now may take minutes. */
const renewBeforeMs = 300_000;
/** A chain that just failed is not asked again within this time: each try may cost calls to STS or the metadata service. */
const failureHoldsMs = 1_000;

/** A source is a file, a service one hop away or a process; one that says nothing for so long is asked anew. */
const lookUpMs = 60_000;

/** What AWS says when it does not accept the credentials themselves, as opposed to what they may do. */
const refusals = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'RequestExpired',
  'TokenRefreshRequired',
  'InvalidClientTokenId',
  'UnrecognizedClientException',
  'InvalidToken',
  'CredentialsProviderError',
  'TokenProviderError',
]);

export function isCredentialProblem(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  // EC2 says AuthFailure for unknown keys, and also for images that are not shared.
  if (error.name === 'AuthFailure') return /validate the provided access credentials/i.test(error.message);
  return refusals.has(error.name);
}

export class Credentials {
  private readonly lookUp: () => Promise<AwsCredentialIdentity>;
  private readonly clock: Clock;
  private current: AwsCredentialIdentity | undefined;
  private pending: Promise<AwsCredentialIdentity> | undefined;
  private failure: { error: unknown; atMs: number } | undefined;

  constructor(clock: Clock, lookUp: () => Promise<AwsCredentialIdentity>) {
    this.clock = clock;
    this.lookUp = lookUp;
  }

  async get(): Promise<AwsCredentialIdentity> {
    const nowMs = this.clock.now();
    const leftMs = (this.current?.expiration?.getTime() ?? Infinity) - nowMs;
    if (this.current !== undefined && leftMs > renewBeforeMs) return this.current;
    if (this.failure !== undefined && this.clock.elapsed() - this.failure.atMs < failureHoldsMs) {
      if (this.current !== undefined && leftMs > 0) return this.current;
      throw this.failure.error;
    }
    this.pending ??= this.renew().finally(() => {
      this.pending = undefined;
    });
    return this.pending;
  }

  /** AWS refused these: the next call looks them up again. Others may have been found meanwhile; they stay. */
  refuse(refused: AwsCredentialIdentity): void {
    if (this.current === undefined || isSame(this.current, refused)) this.current = undefined;
  }

  private async renew(): Promise<AwsCredentialIdentity> {
    try {
      this.current = await within(
        this.clock,
        lookUpMs,
        this.lookUp(),
        () => new Error(`the source of AWS credentials gave none within ${lookUpMs / 1000} s`),
      );
      this.failure = undefined;
      return this.current;
    } catch (error) {
      this.failure = { error, atMs: this.clock.elapsed() };
      // Not yet expired ones serve while the source is out of order.
      if (this.current !== undefined && (this.current.expiration?.getTime() ?? 0) > this.clock.now())
        return this.current;
      throw error;
    }
  }
}

export function isSame(left: AwsCredentialIdentity, right: AwsCredentialIdentity): boolean {
  return (
    left.accessKeyId === right.accessKeyId &&
    left.secretAccessKey === right.secretAccessKey &&
    left.sessionToken === right.sessionToken
  );
}

/** Part of every message about refused credentials. */
export const credentialsRefused = 'AWS did not accept the credentials of this process';

/** The error, with what a person needs to fix it added to its message; its name and type stay. */
export function explainCredentialProblem<T extends Error>(error: T, env: Record<string, string | undefined>): T {
  if (error.message.includes(credentialsMissing)) return error;
  const token = webIdentity(env['AWS_WEB_IDENTITY_TOKEN_FILE']);
  const advice =
    token !== undefined && /AssumeRoleWithWebIdentity|IDP|web identity/i.test(error.message)
      ? `the role's trust policy must accept ${token}`
      : 'renew them where they come from (environment, shared files, SSO, Pod Identity association, instance role)';
  const text = `${error.message} (${credentialsRefused}: ${advice}; they are read again at the next call, no restart is needed)`;
  if (!error.message.includes(credentialsRefused)) error.message = text;
  return error;
}

/** Who the projected service account token says we are, so that it can be compared with a trust policy. */
function webIdentity(file: string | undefined): string | undefined {
  if (!file) return undefined;
  try {
    const payload = readFileSync(file, 'utf8').split('.')[1] ?? '';
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    return `subject ${String(claims['sub'])}, audience ${String(claims['aud'])}, issuer ${String(claims['iss'])}`;
  } catch (error) {
    return `the token in ${file}, which cannot be read: ${messageOf(error)}`;
  }
}
