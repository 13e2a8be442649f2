// nodeclass.hash: keeps the hash annotations of a class. When the algorithm's version changes, its claims get the new
// hash first, so that an upgrade drifts nothing; claims already drifted keep theirs and stay drifted.

import {
  awsAnnotation,
  conditionType,
  ec2NodeClassHash,
  ec2NodeClassHashVersion,
  type NodeClaim,
} from '../../api/index.ts';
import { ec2NodeClasses } from '../../aws/index.ts';
import { conditionOf } from '../../base/index.ts';
import { type Controller, type ControllerContext, nodeClaims, ownKey, patchObject } from '../../controllers/index.ts';
import { isKubeError } from '../../ports/index.ts';
import { done } from '../../runtime/index.ts';
import { claimsOf } from '../nodeclass/claims-of.ts';

const { nodeClassHash: hashKey, nodeClassHashVersion: versionKey } = awsAnnotation;

/** `caBundle` is part of the hash: nodes must be replaced when the cluster's authority is. */
export function nodeClassHashController(context: ControllerContext, { caBundle }: { caBundle: string }): Controller {
  const { cacheOf, cluster, kube } = context;
  const restamp = async (claim: NodeClaim, hash: string): Promise<void> => {
    const isDrifted = conditionOf(claim.status?.conditions, conditionType.drifted) !== undefined;
    const stamps = { [versionKey]: ec2NodeClassHashVersion, ...(isDrifted ? {} : { [hashKey]: hash }) };
    cluster.setClaim(await patchObject(kube, nodeClaims, claim, annotated(claim, stamps)));
  };
  return {
    name: 'nodeclass.hash',
    sources: [ownKey(ec2NodeClasses)],
    concurrency: 10,
    async reconcile(key) {
      const nodeClass = cacheOf(ec2NodeClasses).get(key);
      if (nodeClass === undefined) return done;
      const hash = ec2NodeClassHash(nodeClass.spec, caBundle);
      try {
        if (nodeClass.metadata.annotations?.[versionKey] !== ec2NodeClassHashVersion) {
          const stale = claimsOf(cacheOf(nodeClaims).values(), key).filter(
            ({ metadata }) => metadata.annotations?.[versionKey] !== ec2NodeClassHashVersion,
          );
          await Promise.all(stale.map((claim) => restamp(claim, hash)));
        }
        const stamps = { [hashKey]: hash, [versionKey]: ec2NodeClassHashVersion };
        await patchObject(kube, ec2NodeClasses, nodeClass, annotated(nodeClass, stamps));
      } catch (error) {
        if (isKubeError(error, 'Conflict')) return { kind: 'retry' };
        if (!isKubeError(error, 'NotFound')) throw error;
      }
      return done;
    },
  };
}

function annotated<T extends { metadata: { annotations?: Record<string, string> } }>(
  object: T,
  stamps: Record<string, string>,
): T {
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...stamps } } };
}
