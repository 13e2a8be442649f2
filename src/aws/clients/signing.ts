// Requests to services whose client packages are not among our dependencies (zonal shift, KMS, EventBridge): signed, sent
// and counted like those of the SDK, one attempt each.
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { NodeHttpHandler } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import type { AwsCredentialIdentityProvider, HttpRequest } from '@smithy/types';
import type { Clock } from '../../base/index.ts';
import { dnsSuffixOf } from '../iam/account.ts';
import type { RequestMetrics } from './request-metrics.ts';

export interface SignedRequestOptions {
  region: string;
  env: Record<string, string | undefined>;
  credentials: AwsCredentialIdentityProvider;
  handler: NodeHttpHandler;
  clock: Clock;
  metrics: RequestMetrics;
}

export interface SignedRequest {
  /** In signatures and host names: `kms`. */
  service: string;
  /** In metrics: `KMS`. */
  name: string;
  action: string;
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface SignedAnswer {
  status: number;
  text: string;
  headers: Record<string, string>;
}

/** An answer that is longer is not one of those asked for here. */
const longestAnswer = 4 * 1024 * 1024;

export async function sendSigned(options: SignedRequestOptions, request: SignedRequest): Promise<SignedAnswer> {
  const { handler, clock, metrics } = options;
  const startedMs = clock.elapsed();
  let status = 0;
  try {
    const { response } = await handler.handle(
      (await signed(options, request)) as Parameters<NodeHttpHandler['handle']>[0],
    );
    status = response.statusCode;
    return { status, text: await textOf(response.body as AsyncIterable<Uint8Array>), headers: response.headers };
  } finally {
    const facts = { service: request.name, action: request.action, status, durationMs: clock.elapsed() - startedMs };
    metrics.attempted(facts);
    metrics.called(facts, 0);
  }
}

async function signed(options: SignedRequestOptions, request: SignedRequest): Promise<HttpRequest> {
  const { region, env, credentials, clock } = options;
  const { service, method, path, headers, body } = request;
  const own = `AWS_ENDPOINT_URL_${service.toUpperCase().replaceAll('-', '_')}`;
  const endpoint = new URL(
    env[own] || env['AWS_ENDPOINT_URL'] || `https://${service}.${region}.${dnsSuffixOf(region)}`,
  );
  const signer = new SignatureV4({ service, region, credentials, sha256: Sha256 });
  return signer.sign(
    {
      method,
      protocol: endpoint.protocol,
      hostname: endpoint.hostname,
      ...(endpoint.port === '' ? {} : { port: Number(endpoint.port) }),
      path,
      headers: { host: endpoint.host, accept: 'application/json', ...headers },
      query: {},
      ...(body === undefined ? {} : { body }),
    },
    { signingDate: new Date(clock.now()) },
  );
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > longestAnswer) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
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
