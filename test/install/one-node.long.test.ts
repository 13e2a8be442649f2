// A cluster with one node that the pods may run on: one replica, none that waits for ever, and two once there are two nodes.
import { expect, test } from 'vitest';
import { all } from '../end-to-end/harness/api.ts';
import { namespace, simulated, useInstallWorld } from './world.ts';

const world = useInstallWorld(['system-1']);

test('one replica where there is one node for it, the rest when there are more', async () => {
  await world.installCrds();
  const said = await world.install(simulated);
  expect(said).toContain('Only one node could run the pods, so there is 1 replica instead of 2.');
  await world.ready(1);
  expect(await world.api.list(all.pods, { namespace })).toHaveLength(1);
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'second', labels: { 'kubernetes.io/os': 'linux' } },
  };
  await world.cluster().request('POST', '/api/v1/nodes', node);
  expect(await world.install(simulated)).not.toContain('Only one node');
  const { spec } = (await world.api.get(all.deployments, 'karpenter', namespace)) as unknown as {
    spec: { replicas: number };
  };
  expect(spec.replicas).toBe(2);
  // Two nodes, of which the user's own affinity allows one.
  const required = (key: string, operator: string, values: string[]) =>
    JSON.stringify({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key, operator, values }] }],
        },
      },
    });
  const only = ['--set-json', `affinity=${required('metadata.name', 'In', ['second'])}`];
  expect(await world.install([...simulated, ...only, '--dry-run=server'])).toContain(
    'Only one node could run the pods',
  );
  const both = ['--set-json', `affinity=${required('metadata.name', 'NotIn', ['third'])}`];
  expect(await world.install([...simulated, ...both, '--dry-run=server'])).not.toContain('Only one node');
});
