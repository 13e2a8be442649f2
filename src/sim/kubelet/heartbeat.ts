// The Lease by which a kubelet shows that it is alive. It belongs to its Node and goes with it.
import { formatMicroTime } from '../../base/index.ts';
import { isKubeError, type Kube, type Node, resources } from '../../ports/index.ts';

const namespace = 'kube-node-lease';
/** As kubelets: after this long without renewal the node counts as silent. */
export const leaseDurationSeconds = 40;

export async function renewLease(kube: Kube, node: Node, nowMs: number): Promise<void> {
  const { name = '', uid = '' } = node.metadata;
  const renewTime = formatMicroTime(nowMs);
  try {
    await kube.patch(resources.leases, { name, namespace }, { type: 'merge', body: { spec: { renewTime } } });
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
    await kube.create(resources.leases, {
      metadata: { name, namespace, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
      spec: { holderIdentity: name, leaseDurationSeconds, renewTime },
    });
  }
}
