// The chart as a GitOps tool uses it: rendered without a cluster, piped into kubectl, compared with what is there again and
// again. A rendering that differs from run to run, or that the API server changes, would never be in sync.
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { examplesFolder, helm, kerfChart } from '../chart/helm.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';

const cluster = useControlPlane();
const users = resolve(import.meta.dirname, '../chart/users');
const files = {
  defaults: undefined,
  ...Object.fromEntries(readdirSync(users).map((name) => [name, join(users, name)])),
  'values-fargate.yaml': join(examplesFolder, 'values-fargate.yaml'),
  'values-shadow.yaml': join(examplesFolder, 'values-shadow.yaml'),
};

async function rendering(file: string | undefined): Promise<string> {
  const values = file === undefined ? ['--set', 'settings.clusterName=one'] : ['-f', file];
  return (await helm(['template', 'karpenter', kerfChart, '--namespace', 'kube-system', ...values])).stdout;
}

describe.each(Object.entries(files))('%s', (_, file) => {
  test('is rendered the same every time', async () => {
    expect(await rendering(file)).toBe(await rendering(file));
  });

  test.each([
    ['client-side', [] as string[]],
    ['server-side', ['--server-side']],
  ])('applied %s it is taken without a warning, and in sync from then on', async (_, how) => {
    const stdin = await rendering(file);
    const ask = (...args: string[]) => cluster().kubectl([...args, '-f', '-'], { stdin });
    const versions = async () => (await ask('get', '-o', 'jsonpath={.items[*].metadata.resourceVersion}')).stdout;
    onTestFinished(async () => void (await ask('delete', '--ignore-not-found')));
    expect((await ask('apply', ...how)).stderr).toBe('');
    const before = await versions();
    // Its exit code says whether there is a difference; the difference is what a failure shows.
    expect(await ask('diff', ...how)).toMatchObject({ stdout: '', stderr: '' });
    expect((await ask('apply', ...how)).stderr).toBe('');
    expect(await versions()).toBe(before);
  });
});

test('a release that Helm keeps is taken over by server-side apply without a conflict', async () => {
  const values = ['--set', 'settings.clusterName=one'];
  const flags = ['--kubeconfig', cluster().kubeconfig, '--namespace', 'kube-system'];
  await helm(['upgrade', '--install', 'karpenter', kerfChart, ...values, ...flags]);
  const { stderr } = await cluster().kubectl(['apply', '--server-side', '-f', '-'], {
    stdin: await rendering(undefined),
  });
  expect(stderr).toBe('');
  await helm(['uninstall', 'karpenter', ...flags]);
});
