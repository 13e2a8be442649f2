import { expect, test } from 'vitest';
import { type Kube, KubeError, type Resource } from '../../ports/index.ts';
import { readCluster } from './input.ts';

const serving = (isServed: (resource: Resource) => boolean): Pick<Kube, 'list' | 'create'> => ({
  list: (resource: Resource) =>
    isServed(resource)
      ? Promise.resolve({ items: [], resourceVersion: '1' })
      : Promise.reject(new KubeError({ status: 404, reason: 'NotFound', message: '404 page not found' })),
  create: () => Promise.reject(new Error('nothing is created')),
});

test('a server that answers "not found" to everything is not taken for a cluster without Karpenter', async () => {
  await expect(readCluster(serving(() => false))).rejects.toMatchObject({ code: 'NotKubernetes' });
});

test('a cluster without the definitions has nothing to take over', async () => {
  const cluster = serving(({ group }) => group === '');
  await expect(readCluster(cluster)).rejects.toThrow(
    'the cluster does not serve nodepools of karpenter.sh/v1: without Karpenter there is nothing to take over',
  );
});
