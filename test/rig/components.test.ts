// What is said on a machine that lacks something.
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { provideMoto } from '../setup/aws/moto.ts';
import { mustHaveEverything } from '../setup/components.ts';
import { provideControlPlane } from '../setup/control-plane/programs.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-components-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const silent = (): void => {};

test('KUBEBUILDER_ASSETS is used as it is, and what is not in it is named', async () => {
  const env = { KUBEBUILDER_ASSETS: folder };
  for (const name of ['etcd', 'kube-apiserver', 'kubectl']) {
    writeFileSync(join(folder, name), '');
    chmodSync(join(folder, name), 0o755);
  }
  await expect(provideControlPlane(silent, env)).rejects.toThrow(
    `KUBEBUILDER_ASSETS (${folder}) has no executable kube-controller-manager, kube-scheduler; put`,
  );
  for (const name of ['kube-controller-manager', 'kube-scheduler']) {
    writeFileSync(join(folder, name), '');
    chmodSync(join(folder, name), 0o755);
  }
  expect((await provideControlPlane(silent, env)).etcd).toBe(join(folder, 'etcd'));
});

test('without Go, a control plane asks for Go, and nothing half-made stays', async () => {
  const env = { KERF_CACHE: folder, PATH: folder };
  await expect(provideControlPlane(silent, env)).rejects.toMatchObject({
    code: 'MissingComponent',
    message: expect.stringContaining('install Go 1.26 or newer, or set KUBEBUILDER_ASSETS'),
  });
  expect(readdirSync(folder)).toEqual([]);
});

test('without Python, the AWS emulator asks for Python', async () => {
  await expect(provideMoto(silent, { KERF_CACHE: folder, PATH: folder })).rejects.toMatchObject({
    code: 'MissingComponent',
    message: expect.stringContaining('install Python 3.10 or newer'),
  });
});

test('a missing component is an error in CI and a note elsewhere', () => {
  expect([{ CI: 'true' }, { CI: '1' }, { CI: '' }, { CI: 'false' }, {}].map(mustHaveEverything)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
