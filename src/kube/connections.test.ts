// Who is at the other end, and which way there: TLS verification, client certificates, proxies.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { HurriedClock } from '../../test/kube/hurried-clock.ts';
import { CertificateAuthority } from '../../test/setup/control-plane/certificates.ts';
import { resources } from '../ports/index.ts';
import { RealClock } from '../runtime/index.ts';
import type { ClusterAccess } from './access.ts';
import { KubeClient } from './client.ts';
import { Connections } from './connections.ts';
import { type Credentials, StoredCredentials, WatchedFile } from './credentials.ts';

const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const authority = new CertificateAuthority('kerf test');

/** An API that answers with who asked: the name in the client's certificate, or the authorization header. */
async function startApi(names: string[]): Promise<number> {
  const { certPem, keyPem } = authority.issue({ commonName: 'api', names });
  const options = { cert: certPem, key: keyPem, ca: authority.certPem, requestCert: true, rejectUnauthorized: false };
  return listening(
    createHttpsServer(options, (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      const name = subject?.CN ?? request.headers.authorization ?? 'nobody';
      response.end(JSON.stringify({ kind: 'Node', metadata: { name: 'a', uid: name } }));
    }),
  );
}

function client(access: Partial<ClusterAccess> & { server: string }): KubeClient {
  const kube = new KubeClient({
    access: {
      source: 'test',
      namespace: 'default',
      tls: { ca: authority.certPem, insecure: false },
      credentials: new StoredCredentials({ kind: 'token', token: 'abc' }),
      ...access,
    },
    clock: new RealClock(),
    userAgent: 'kerf/test',
    rateLimit: { qps: 0, burst: 0 },
  });
  closers.push(() => kube.close());
  return kube;
}

const whoAsked = async (access: Partial<ClusterAccess> & { server: string }): Promise<string | undefined> =>
  (await client(access).get(resources.nodes, { name: 'a' })).metadata.uid;

test('the server is verified against the authority, by its address or by the name given', async () => {
  const ca = authority.certPem;
  const byAddress = `https://127.0.0.1:${await startApi(['127.0.0.1'])}`;
  expect(await whoAsked({ server: byAddress })).toBe('Bearer abc');
  await expect(whoAsked({ server: byAddress, tls: { insecure: false } })).rejects.toMatchObject({
    reason: 'Transport',
  });
  const byName = `https://127.0.0.1:${await startApi(['kubernetes'])}`;
  expect(await whoAsked({ server: byName, tls: { ca, serverName: 'kubernetes', insecure: false } })).toBe('Bearer abc');
  await expect(whoAsked({ server: byName })).rejects.toThrow(/is not for 127\.0\.0\.1, but for kubernetes/);
  expect(await whoAsked({ server: byName, tls: { insecure: true } })).toBe('Bearer abc');
});

test('a client certificate is presented, and a renewed one on new connections', async () => {
  const server = `https://127.0.0.1:${await startApi(['127.0.0.1'])}`;
  const issue = (commonName: string) => {
    const { certPem, keyPem } = authority.issue({ commonName });
    return { certificate: certPem, key: keyPem };
  };
  let current = issue('ana');
  const credentials: Credentials = {
    headers: async () => ({}),
    certificate: async () => current,
    rejected: () => false,
  };
  const kube = client({ server, credentials });
  expect((await kube.get(resources.nodes, { name: 'a' })).metadata.uid).toBe('ana');
  current = issue('bob');
  expect((await kube.get(resources.nodes, { name: 'a' })).metadata.uid).toBe('bob');
});

/** The API as proxies know it. */
const startProxied = (): Promise<number> => startApi(['api.example.com']);
const throughProxy = (proxyUrl: string): Promise<string | undefined> =>
  whoAsked({ server: 'https://api.example.com:6443', proxyUrl });

const pipe = (a: Socket, b: Socket): void => {
  a.pipe(b).pipe(a);
  a.on('error', () => b.destroy());
  b.on('error', () => a.destroy());
};

test('an HTTP proxy is asked for a tunnel, with its own credentials and never with ours', async () => {
  const api = await startProxied();
  const asked: unknown[] = [];
  const proxy = createHttpServer();
  proxy.on('connect', (request, socket: Socket) => {
    asked.push({
      target: request.url,
      proxy: request.headers['proxy-authorization'],
      ours: request.headers.authorization,
    });
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    pipe(connect(api, '127.0.0.1'), socket);
  });
  expect(await throughProxy(`http://ana:secret@127.0.0.1:${await listening(proxy)}`)).toBe('Bearer abc');
  expect(asked).toEqual([
    {
      target: 'api.example.com:6443',
      proxy: `Basic ${Buffer.from('ana:secret').toString('base64')}`,
      ours: undefined,
    },
  ]);
});

test('a SOCKS proxy is given the name of the server, so that it resolves it', async () => {
  const api = await startProxied();
  const asked: string[] = [];
  const proxy = createServer((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', (request) => {
        const length = request[4] ?? 0;
        asked.push(`${request.toString('latin1', 5, 5 + length)}:${request.readUInt16BE(5 + length)}`);
        socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
        pipe(connect(api, '127.0.0.1'), socket);
      });
    });
  });
  expect(await throughProxy(`socks5h://127.0.0.1:${await listening(proxy)}`)).toBe('Bearer abc');
  expect(asked).toEqual(['api.example.com:6443']);
});

test('a proxy that refuses is a Transport error', async () => {
  const proxy = createHttpServer();
  proxy.on('connect', (_request, socket: Socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  const asked = throughProxy(`http://127.0.0.1:${await listening(proxy)}`);
  await expect(asked).rejects.toMatchObject({ reason: 'Transport' });
});

test('an authority that is renewed in its file is trusted on new connections, without a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kerf-ca-'));
  try {
    const file = join(folder, 'ca.crt');
    writeFileSync(file, 'one');
    const clock = new HurriedClock(1_000_000);
    const caFile = new WatchedFile(file, clock);
    const connections = new Connections({ tls: { insecure: false, ca: 'one', caFile } } as ClusterAccess);
    const first = connections.for(undefined, await caFile.read());
    expect(connections.for(undefined, await caFile.read())).toBe(first);
    writeFileSync(file, 'two');
    await clock.sleep(61_000);
    expect(await caFile.read()).toBe('two');
    expect(connections.for(undefined, await caFile.read())).not.toBe(first);
    await connections.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
