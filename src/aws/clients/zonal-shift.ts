// Zonal shifts of the cluster, asked of Application Recovery Controller. One signed GET, because the service's own client
// package is not among our dependencies (docs/decisions/0016-ask-for-zonal-shifts-with-one-signed-request.md).
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { NodeHttpHandler } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import type { AwsCredentialIdentityProvider, HttpRequest } from '@smithy/types';
import { type Clock, KerfError, parseTime } from '../../base/index.ts';
import { dnsSuffixOf } from '../iam/account.ts';
import type { RequestMetrics } from './request-metrics.ts';

export interface ZonalShiftClientOptions {
  region: string;
  env: Record<string, string | undefined>;
  credentials: AwsCredentialIdentityProvider;
  handler: NodeHttpHandler;
  clock: Clock;
  metrics: RequestMetrics;
}

export interface AppliedShift {
  zoneId: string;
  expiresAtMs: number;
}

export class ZonalShiftClient {
  private readonly options: ZonalShiftClientOptions;

  constructor(options: ZonalShiftClientOptions) {
    this.options = options;
  }

  /** Shifts away from a zone that are in force now. */
  async appliedShifts(clusterArn: string): Promise<AppliedShift[]> {
    const answer = await this.getManagedResource(clusterArn);
    const nowMs = this.options.clock.now();
    return (answer.zonalShifts ?? [])
      .filter(({ appliedStatus }) => appliedStatus === 'APPLIED')
      .map(({ awayFrom = '', expiryTime }) => ({ zoneId: awayFrom, expiresAtMs: timeOf(expiryTime) }))
      .filter(({ zoneId, expiresAtMs }) => zoneId !== '' && expiresAtMs > nowMs);
  }

  private async getManagedResource(arn: string): Promise<ManagedResource> {
    const { handler, clock, metrics } = this.options;
    const startedMs = clock.elapsed();
    const action = 'GetManagedResource';
    let status = 0;
    try {
      const { response } = await handler.handle((await this.signed(arn)) as Parameters<NodeHttpHandler['handle']>[0]);
      status = response.statusCode;
      const text = await textOf(response.body as AsyncIterable<Uint8Array>);
      if (status === 200) return JSON.parse(text) as ManagedResource;
      throw refusal(arn, status, text, response.headers);
    } finally {
      const facts = { service: 'ARC Zonal Shift', action, status, durationMs: clock.elapsed() - startedMs };
      metrics.attempted(facts);
      metrics.called(facts, 0);
    }
  }

  private async signed(arn: string): Promise<HttpRequest> {
    const { region, env, credentials, clock } = this.options;
    const endpoint = new URL(
      env['AWS_ENDPOINT_URL_ARC_ZONAL_SHIFT'] ||
        env['AWS_ENDPOINT_URL'] ||
        `https://arc-zonal-shift.${region}.${dnsSuffixOf(region)}`,
    );
    const signer = new SignatureV4({ service: 'arc-zonal-shift', region, credentials, sha256: Sha256 });
    return signer.sign(
      {
        method: 'GET',
        protocol: endpoint.protocol,
        hostname: endpoint.hostname,
        ...(endpoint.port === '' ? {} : { port: Number(endpoint.port) }),
        path: `/managedresources/${encodeURIComponent(arn)}`,
        headers: { host: endpoint.host, accept: 'application/json' },
        query: {},
      },
      { signingDate: new Date(clock.now()) },
    );
  }
}

interface ManagedResource {
  zonalShifts?: { appliedStatus?: string; awayFrom?: string; expiryTime?: number | string }[];
}

/** Seconds since the epoch, or RFC 3339. */
function timeOf(value: number | string | undefined): number {
  return typeof value === 'number' ? value * 1000 : (parseTime(value ?? '') ?? 0);
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function refusal(arn: string, status: number, text: string, headers: Record<string, string>): KerfError {
  const code = headers['x-amzn-errortype']?.split(':')[0] ?? `HTTP ${status}`;
  return new KerfError(
    'ZonalShiftUnknown',
    `cannot read the zonal shifts of ${arn}: ${code}: ${text.slice(0, 300)}; enable zonal shift for the cluster and allow arc-zonal-shift:GetManagedResource, or unset ENABLE_ZONAL_SHIFT`,
    { retryable: status >= 500 || status === 429 },
  );
}

/** SHA-256 in the shape the signer asks for. */
class Sha256 {
  private hash: Hash | Hmac;
  private readonly secret: string | Uint8Array | undefined;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.secret = typeof secret === 'string' || secret === undefined ? secret : bytesOf(secret);
    this.hash = this.start();
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.hash.update(typeof data === 'string' ? data : bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.hash.digest()));
  }

  reset(): void {
    this.hash = this.start();
  }

  private start(): Hash | Hmac {
    return this.secret === undefined ? createHash('sha256') : createHmac('sha256', this.secret);
  }
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
