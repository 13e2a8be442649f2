// What Events are about, named the way the Events API wants it.
import type { NodeClaim, NodePool } from '../api/index.ts';
import type { EventSubject, KubeObject, Node, Pod } from '../ports/index.ts';

export const subjectOf = (apiVersion: string, kind: string, { metadata }: KubeObject): EventSubject => {
  const { name = '', namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
};

export const aboutClaim = (claim: NodeClaim): EventSubject => subjectOf('karpenter.sh/v1', 'NodeClaim', claim);

export const aboutPool = (pool: NodePool): EventSubject => subjectOf('karpenter.sh/v1', 'NodePool', pool);

export const aboutNode = (node: Node): EventSubject => subjectOf('v1', 'Node', node);

export const aboutPod = (pod: Pod): EventSubject => subjectOf('v1', 'Pod', pod);
