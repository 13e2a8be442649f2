import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { afterAll, expect, test } from 'vitest';
import { writeKubeconfig } from './kubeconfig.ts';

const folder = mkdtempSync(join(tmpdir(), 'kerf-kubeconfig-'));
const server = createServer((_, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ apiVersion: 'v1', kind: 'NodeList', metadata: {}, items: [] }));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

test('the JavaScript client works with the kubeconfig of a cluster that speaks plain HTTP', async () => {
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', () => listening());
  });
  const file = join(folder, 'config');
  await writeKubeconfig(file, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const config = new KubeConfig();
  config.loadFromFile(file);
  expect((await config.makeApiClient(CoreV1Api).listNode()).items).toEqual([]);
});
