// The services credentials come from, on loopback: the agent of EKS Pod Identity, the instance metadata service and the
// portal of IAM Identity Center. Each hands out a new key at every question, named after itself, and checks what it is
// shown first. STS is the emulator's.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export const podToken = 'token-of-the-service-account';
export const ssoToken = 'token-of-the-signed-in-user';
const metadataToken = 'token-of-the-metadata-service';

export type Source = 'pod' | 'imds' | 'sso';

interface Answer {
  status: number;
  body: string | object;
}

export interface CredentialSources {
  url: string;
  /** How often each was asked for credentials. */
  asked: Record<Source, number>;
  /** Switch these at will. */
  works: Record<Source, boolean>;
  /** What the pod must show; its file may be written anew. */
  podToken: string;
  /** When credentials handed out from now on end. */
  expiresAtMs: number;
  stop(): void;
}

export async function startCredentialSources(): Promise<CredentialSources> {
  const asked = { pod: 0, imds: 0, sso: 0 };
  const works = { pod: true, imds: true, sso: true };
  const server = createServer((request, response) => {
    const { status, body } = answerTo(request, sources);
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sources: CredentialSources = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    works,
    podToken,
    expiresAtMs: Date.now() + 6 * 3_600_000,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
  return sources;
}

function answerTo(request: IncomingMessage, sources: CredentialSources): Answer {
  const { pathname, searchParams } = new URL(request.url ?? '/', sources.url);
  const { headers, method } = request;
  if (pathname === '/pod-identity') {
    if (headers.authorization !== sources.podToken) return { status: 401, body: { message: 'not your token' } };
    return issue('pod', sources, ({ key, secret, token, end }) => ({
      AccessKeyId: key,
      SecretAccessKey: secret,
      Token: token,
      Expiration: end.toISOString(),
      AccountId: '123456789012',
    }));
  }
  if (pathname === '/federation/credentials') {
    if (headers['x-amz-sso_bearer_token'] !== ssoToken || searchParams.get('role_name') !== 'operator')
      return { status: 401, body: { message: 'Session token not found or invalid' } };
    return issue('sso', sources, ({ key, secret, token, end }) => ({
      roleCredentials: { accessKeyId: key, secretAccessKey: secret, sessionToken: token, expiration: end.getTime() },
    }));
  }
  if (pathname === '/latest/api/token' && method === 'PUT') return { status: 200, body: metadataToken };
  if (headers['x-aws-ec2-metadata-token'] !== metadataToken) return { status: 401, body: 'no token' };
  if (pathname === '/latest/meta-data/placement/region') return { status: 200, body: 'us-west-2' };
  if (pathname === '/latest/meta-data/iam/security-credentials/') return { status: 200, body: 'node-role' };
  if (pathname === '/latest/meta-data/iam/security-credentials/node-role')
    return issue('imds', sources, ({ key, secret, token, end }) => ({
      Code: 'Success',
      Type: 'AWS-HMAC',
      LastUpdated: new Date().toISOString(),
      AccessKeyId: key,
      SecretAccessKey: secret,
      Token: token,
      Expiration: end.toISOString(),
    }));
  return { status: 404, body: 'nothing here' };
}

interface Issued {
  key: string;
  secret: string;
  token: string;
  end: Date;
}

function issue(source: Source, sources: CredentialSources, shape: (issued: Issued) => object): Answer {
  sources.asked[source] += 1;
  if (!sources.works[source]) return { status: 404, body: { message: 'there is no association' } };
  const key = `AKIA${source.toUpperCase()}${sources.asked[source]}`;
  return { status: 200, body: shape({ key, secret: 's', token: 't', end: new Date(sources.expiresAtMs) }) };
}
