// Connections to AWS. Certificates are always checked, whatever the environment says; a private authority may be added
// with AWS_CA_BUNDLE. HTTPS_PROXY, HTTP_PROXY and NO_PROXY are respected as every other tool of a cluster does.
import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { rootCertificates } from 'node:tls';
import type { NodeHttpHandler } from '@smithy/node-http-handler';
import { KerfError, messageOf } from '../../base/index.ts';
import { BoundedHttpHandler } from './bounded-handler.ts';

/** More than the longest poll (20 s) and the largest list; three attempts stay under four minutes. */
const attemptTimeoutMs = 70_000;
const connectTimeoutMs = 5_000;
/** A batch of launches may have a hundred calls under way; more would only wait in EC2's own queue. */
const mostConnections = 150;

export function httpHandler(
  env: Record<string, string | undefined>,
  exchangeMs: number = attemptTimeoutMs,
): NodeHttpHandler {
  const ca = authorities(env['AWS_CA_BUNDLE']);
  const shared = { keepAlive: true, maxSockets: mostConnections, proxyEnv: env as NodeJS.ProcessEnv };
  const options = {
    connectionTimeout: connectTimeoutMs,
    requestTimeout: exchangeMs,
    throwOnRequestTimeout: true,
    httpAgent: new HttpAgent(shared),
    httpsAgent: new HttpsAgent({ ...shared, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) }),
  };
  return new BoundedHttpHandler(options, exchangeMs);
}

function authorities(file: string | undefined): string[] | undefined {
  if (!file) return undefined;
  try {
    return [...rootCertificates, readFileSync(file, 'utf8')];
  } catch (error) {
    throw new KerfError('CaBundleUnreadable', `cannot read AWS_CA_BUNDLE ${file}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
