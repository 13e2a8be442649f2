// Every client for AWS, built in one place: one set of credentials, one connection pool, our retries, token buckets,
// metrics and user agent. AWS_ENDPOINT_URL and AWS_ENDPOINT_URL_<SERVICE> are the SDK's own settings for other endpoints.
import { EC2Client } from '@aws-sdk/client-ec2';
import { EKSClient } from '@aws-sdk/client-eks';
import { IAMClient } from '@aws-sdk/client-iam';
import { PricingClient } from '@aws-sdk/client-pricing';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { STSClient } from '@aws-sdk/client-sts';
import type { AwsCredentialIdentity } from '@smithy/types';
import type { Clock } from '../../base/index.ts';
import type { Metrics } from '../../ports/index.ts';
import { credentialChain } from './credential-chain.ts';
import { Credentials } from './credentials.ts';
import { httpHandler } from './http.ts';
import { type Instruments, instrument } from './instrument.ts';
import { type JsonServices, jsonServices } from './json-services.ts';
import { RateLimits } from './rate-limits.ts';
import { discoverRegion, pricingRegionOf } from './region.ts';
import { requestMetrics } from './request-metrics.ts';
import type { SignedRequestOptions } from './signing.ts';
import { ZonalShiftClient } from './zonal-shift.ts';

export interface AwsClients {
  region: string;
  ec2: EC2Client;
  eks: EKSClient;
  iam: IAMClient;
  pricing: PricingClient;
  sqs: SQSClient;
  ssm: SSMClient;
  sts: STSClient;
  zonalShift: ZonalShiftClient;
  /** KMS and EventBridge. */
  json: JsonServices;
  /** Ends every connection. */
  destroy(): void;
}

export interface AwsClientOptions {
  clock: Clock;
  metrics: Metrics;
  env: Record<string, string | undefined>;
  version: string;
  /** Discovered unless given. */
  region?: string;
  /** Asked right before a call that changes something is sent: false refuses it. Absent: always. */
  mayWrite?: () => boolean;
  /** How long one attempt may take, and a call in all. */
  attemptTimeoutMs?: number;
  callTimeoutMs?: number;
  /** Instead of the SDK's default chain. */
  lookUpCredentials?: () => Promise<AwsCredentialIdentity>;
}

/** The first try and two more, with the SDK's jittered back-off in between. */
const maxAttempts = 3;
/** Three attempts of the longest kind fit; a call that waits at a token bucket for longer is better asked anew. */
const defaultCallTimeoutMs = 240_000;

export async function createAwsClients(options: AwsClientOptions): Promise<AwsClients> {
  const { clock, env, version } = options;
  const region = options.region ?? (await discoverRegion(env));
  const handler = httpHandler(env, options.attemptTimeoutMs);
  const lookUp = options.lookUpCredentials ?? credentialChain({ region, requestHandler: handler, env });
  const credentials = new Credentials(clock, lookUp);
  const metrics = requestMetrics(options.metrics);
  const callMs = options.callTimeoutMs ?? defaultCallTimeoutMs;
  const { mayWrite = () => true } = options;
  const limits = new RateLimits(clock);
  const instruments: Instruments = { clock, env, credentials, limits, metrics, callMs, mayWrite };
  // Marked as memoized, so that the SDK asks ours at every call instead of keeping what it got.
  const provider = Object.assign(() => credentials.get(), { memoized: true });
  const shared = {
    region,
    credentials: provider,
    requestHandler: handler,
    retryMode: 'standard',
    maxAttempts,
    customUserAgent: `karpenter.sh-${version}`,
  };
  const signed: SignedRequestOptions = { region, env, credentials: provider, handler, clock, metrics };
  return {
    region,
    ec2: instrument(new EC2Client(shared), instruments),
    eks: instrument(new EKSClient(shared), instruments),
    iam: instrument(new IAMClient(shared), instruments),
    pricing: instrument(new PricingClient({ ...shared, region: pricingRegionOf(region) }), instruments),
    sqs: instrument(new SQSClient(shared), instruments),
    ssm: instrument(new SSMClient(shared), instruments),
    sts: instrument(new STSClient(shared), instruments),
    zonalShift: new ZonalShiftClient(signed),
    json: jsonServices(signed),
    destroy: () => handler.destroy(),
  };
}
