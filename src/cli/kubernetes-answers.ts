// Whether a Kubernetes API answers at the address of the kubeconfig: asked before a command believes that nothing is there.
import { KerfError } from '../base/index.ts';
import { isKubeError, type Kube, type Resource, resources } from '../ports/index.ts';

/** Throws where something else answers, or nothing; a server that refuses the list is one. */
export async function expectKubernetes(kube: Pick<Kube, 'list'>): Promise<void> {
  try {
    await kube.list(resources.namespaces, { limit: 1 });
  } catch (thrown) {
    if (isKubeError(thrown, 'NotFound')) throw notKubernetes(resources.namespaces, thrown);
    if (!isKubeError(thrown, 'Forbidden')) throw thrown;
  }
}

/** Throws where the nodes may not be listed: a picture without them would say that there are none. */
export async function expectNodes(kube: Pick<Kube, 'list'>): Promise<void> {
  await kube.list(resources.nodes, { limit: 1 });
}

export function notKubernetes(wanted: Resource, cause: unknown): KerfError {
  return new KerfError(
    'NotKubernetes',
    `the server answers "not found" to a list of ${wanted.plural}, which every Kubernetes API has: check the server address of the kubeconfig, its path included`,
    { cause },
  );
}
