import { expect, test } from 'vitest';
import { nodePools } from '../../controllers/index.ts';
import { type Kube, resources } from '../../ports/index.ts';
import { RealClock } from '../../runtime/index.ts';
import { createCluster, SimKube } from '../../sim/index.ts';
import { applyManifests } from './apply-manifests.ts';
import { installDefaults, installDefinitions } from './default-objects.ts';

async function cluster(): Promise<Kube> {
  const { machinery } = await createCluster({ clock: new RealClock() });
  const kube = new SimKube(machinery);
  await installDefinitions(kube);
  await installDefaults(kube, { catalogue: 'generic', faults: undefined });
  return kube;
}

const pool = (limit: number): string => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: web }
spec:
  limits: { cpu: ${limit} }
  template:
    spec:
      nodeClassRef: { group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default }
      requirements: []
`;

test('what is written is there: created first, changed after that', async () => {
  const kube = await cluster();
  expect(await applyManifests(kube, pool(10))).toEqual(['NodePool web created']);
  expect(await applyManifests(kube, pool(20))).toEqual(['NodePool web changed']);
  expect((await kube.get(nodePools, { name: 'web' })).spec.limits).toEqual({ cpu: 20 });
});

test('nothing is written when one of the manifests cannot be', async () => {
  const kube = await cluster();
  const secret = '---\napiVersion: v1\nkind: Secret\nmetadata: { name: s }\n';
  await expect(applyManifests(kube, `${pool(10)}${secret}`)).rejects.toThrow('a Secret cannot be applied here');
  await expect(applyManifests(kube, `${pool(10)}---\nkind: [`)).rejects.toThrow();
  await expect(kube.get(nodePools, { name: 'web' })).rejects.toThrow('not found');
});

test('an object without a namespace goes to the default one', async () => {
  const kube = await cluster();
  const budget =
    'apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: { name: b }\nspec: { maxUnavailable: 0, selector: {} }\n';
  await applyManifests(kube, budget);
  expect(await kube.get(resources.podDisruptionBudgets, { name: 'b', namespace: 'default' })).toBeDefined();
});
