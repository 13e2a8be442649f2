// The node class a NodePool points at: how to find it, and how its changes wake those who look at its pools.
import type { Condition, NodePool } from '../../api/index.ts';
import type { KubeObject, Resource } from '../../ports/index.ts';
import { type ControllerContext, type Source, source } from '../context.ts';

export type NodeClass = KubeObject & { status?: { conditions?: Condition[] } };

export function nodeClassOf({ cloud, cacheOf }: ControllerContext, pool: NodePool): NodeClass | undefined {
  const { group, kind, name } = pool.spec.template.spec.nodeClassRef;
  const resource = cloud.nodeClasses.find((each) => each.group === group && each.kind === kind);
  return resource === undefined ? undefined : cacheOf(resource as Resource<NodeClass>).get(name);
}

/** A change of a node class concerns every pool that points at it. */
export function nodeClassSources({ cloud, cluster }: ControllerContext): Source[] {
  return cloud.nodeClasses.map((resource) =>
    source(resource, ({ before, after }) =>
      cluster.nodePools
        .list()
        .filter(({ spec }) => {
          const { group, kind, name } = spec.template.spec.nodeClassRef;
          return group === resource.group && kind === resource.kind && name === (after ?? before)?.metadata.name;
        })
        .map((pool) => pool.metadata.name ?? ''),
    ),
  );
}
