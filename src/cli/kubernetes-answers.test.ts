import { expect, test } from 'vitest';
import { type Kube, KubeError } from '../ports/index.ts';
import { expectKubernetes, expectNodes } from './kubernetes-answers.ts';

const refusing = (reason: 'NotFound' | 'Forbidden' | 'Unauthorized', status: number): Pick<Kube, 'list'> => ({
  list: () => Promise.reject(new KubeError({ reason, status, message: 'no' })),
});

test('a server that has no namespaces is not a Kubernetes API', async () => {
  await expect(expectKubernetes(refusing('NotFound', 404))).rejects.toMatchObject({ code: 'NotKubernetes' });
});

test('a server that may not be asked is one; one that does not know who asks is an error of its own', async () => {
  await expect(expectKubernetes(refusing('Forbidden', 403))).resolves.toBeUndefined();
  await expect(expectKubernetes(refusing('Unauthorized', 401))).rejects.toMatchObject({ reason: 'Unauthorized' });
});

test('who may not list nodes is not shown a cluster without nodes', async () => {
  await expect(expectNodes(refusing('Forbidden', 403))).rejects.toMatchObject({ reason: 'Forbidden' });
});
