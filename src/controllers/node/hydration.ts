// node.hydration: Nodes of our claims get the node class label if they lack it. Without it a Node counts as someone
// else's, and no one would drain it. Whatever a claim's status names is not ours for that.
import { isKubeError, resources } from '../../ports/index.ts';
import { done } from '../../runtime/index.ts';
import { type Controller, type ControllerContext, concurrencyFor, ownKey, source } from '../context.ts';
import { nodeClassLabel } from '../managed.ts';
import { foreignReason } from '../nodeclaim/lifecycle/foreign-node.ts';
import { nodeClaims } from '../own-resources.ts';
import { patchObject } from '../writes.ts';

export function nodeHydrationController(context: ControllerContext): Controller {
  const { cluster, isManaged, kube, settings } = context;
  return {
    name: 'node.hydration',
    sources: [
      ownKey(resources.nodes),
      source(nodeClaims, ({ after }) =>
        cluster.nodes.filedUnder(after?.status?.providerID ?? '').map(({ metadata }) => metadata.name ?? ''),
      ),
    ],
    concurrency: concurrencyFor(settings, 10, 1_000),
    async reconcile(name) {
      const node = cluster.nodes.get(name);
      const [claim, ...others] = cluster.claims.filedUnder(node?.spec?.providerID ?? '');
      if (node === undefined || claim === undefined || others.length > 0) return done;
      const { nodeClassRef } = claim.spec;
      const key = nodeClassLabel(nodeClassRef);
      if (!isManaged(nodeClassRef) || node.metadata.labels?.[key] !== undefined) return done;
      if ((await foreignReason(context, claim, node)) !== undefined) return done;
      const labels = { ...node.metadata.labels, [key]: nodeClassRef.name };
      try {
        const next = { ...node, metadata: { ...node.metadata, labels } };
        cluster.setNode(await patchObject(kube, resources.nodes, node, next));
      } catch (error) {
        if (!isKubeError(error, 'NotFound')) throw error;
      }
      return done;
    },
  };
}
