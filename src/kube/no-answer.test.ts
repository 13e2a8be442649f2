// What a user reads when a server cannot be talked to. The servers are real; certificates are made on the spot.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CertificateAuthority } from '../../test/setup/control-plane/certificates.ts';
import { resources } from '../ports/index.ts';
import { RealClock } from '../runtime/index.ts';
import { findAccess } from './access.ts';
import { KubeClient } from './client.ts';
import { whyNoAnswer } from './no-answer.ts';

const folder = mkdtempSync(join(tmpdir(), 'kerf-tls-'));
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

const authority = new CertificateAuthority('kerf test');
const { certPem, keyPem } = authority.issue({ commonName: 'api', names: ['api.example', '10.0.0.1'] });
const caFile = join(folder, 'ca.pem');
writeFileSync(caFile, authority.certPem);

async function listening(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function failureAt(cluster: object): Promise<string> {
  const file = join(folder, 'kubeconfig');
  const named = (what: object) => [{ name: 'c', ...what }];
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      clusters: named({ cluster }),
      users: named({ user: {} }),
      contexts: named({ context: { cluster: 'c', user: 'c' } }),
    }),
  );
  const clock = new RealClock();
  const access = await findAccess({ clock, env: {}, kubeconfig: file });
  const kube = new KubeClient({ access, clock, userAgent: 'test', rateLimit: { qps: 50, burst: 50 } });
  try {
    await kube.list(resources.namespaces);
    return 'answered';
  } catch (error) {
    return (error as Error).message;
  } finally {
    await kube.close();
  }
}

test('a certificate that is not trusted, one for other names, and a port without TLS each say what to check', async () => {
  const secure = await listening(
    createSecureServer({ key: keyPem, cert: certPem }, (_, response) => response.end('{}')),
  );
  const plain = await listening(createServer((_, response) => response.end('{}')));
  const server = `https://127.0.0.1:${secure}`;
  expect(await failureAt({ server })).toMatch(
    /not signed by an authority that the kubeconfig trusts: check certificate-authority-data.*\(\w+\)$/,
  );
  expect(await failureAt({ server, 'certificate-authority': caFile })).toMatch(
    /certificate is not for 127\.0\.0\.1, but for api\.example, 10\.0\.0\.1: .*tls-server-name/,
  );
  expect(await failureAt({ server: `https://127.0.0.1:${plain}` })).toMatch(/does not speak TLS: check the port/);
});

test('a closed port and an unknown host are distinguished', async () => {
  const server = createServer();
  const port = await listening(server);
  await new Promise((closed) => server.close(closed));
  expect(await failureAt({ server: `http://127.0.0.1:${port}` })).toMatch(/nothing listens there: .*\(ECONNREFUSED\)$/);
  expect(whyNoAnswer(Object.assign(new Error('getaddrinfo ENOTFOUND x'), { code: 'ENOTFOUND' }))).toMatch(
    /^the name of the host is unknown/,
  );
});

test('several addresses that fail alike are one text, and what is not known is said as it is', () => {
  const refused = (): Error => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(whyNoAnswer(new AggregateError([refused(), refused()]))).toMatch(/^nothing listens there[^;]*$/);
  expect(whyNoAnswer(new Error('other side closed', { cause: new Error('why') }))).toBe('other side closed: why');
});
