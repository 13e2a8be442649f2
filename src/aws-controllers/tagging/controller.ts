// nodeclaim.tagging: what is only known once a node has joined goes onto its instance as tags: the node's name, the
// claim's name, the cluster's. Tags that are there already are the user's and stay. One at a time with a pause: tags are
// no one's hurry, and EC2 counts every call.
import { awsAnnotation, awsTag, type NodeClaim } from '../../api/index.ts';
import { instanceIdOf, whyForeign } from '../../aws/index.ts';
import {
  aboutClaim,
  type Controller,
  type ControllerContext,
  nodeClaims,
  ownKey,
  patchObject,
} from '../../controllers/index.ts';
import { isCloudError, isKubeError } from '../../ports/index.ts';
import { done } from '../../runtime/index.ts';

const name = 'nodeclaim.tagging';
const pauseMs = 1_000;
const marks = { [awsAnnotation.tagged]: 'true', [awsAnnotation.clusterNameTagged]: 'true' };

/** Both throw a CloudError `notFound` for an instance that is gone. */
export interface InstanceTags {
  read(instanceId: string): Promise<Readonly<Record<string, string>>>;
  add(instanceId: string, tags: Readonly<Record<string, string>>): Promise<void>;
}

export function taggingController(
  context: ControllerContext,
  { tags, clusterName }: { tags: InstanceTags; clusterName: string },
): Controller {
  const { cluster, clock, kube, isManaged, recorder } = context;
  const log = context.log.with({ controller: name });

  const isDue = ({ metadata, spec, status }: NodeClaim): boolean =>
    isManaged(spec.nodeClassRef) &&
    metadata.deletionTimestamp === undefined &&
    Boolean(status?.nodeName) &&
    Boolean(status?.providerID) &&
    Object.keys(marks).some((key) => metadata.annotations?.[key] !== 'true');

  /** Tags would make it ours, and what is ours is terminated with its claim. */
  const refuse = (claim: NodeClaim, message: string): void => {
    log.error('refusing to tag a foreign instance', message, { NodeClaim: { name: claim.metadata.name } });
    recorder.publish({ subject: aboutClaim(claim), type: 'Warning', reason: 'InstanceForeign', message });
  };

  return {
    name,
    sources: [ownKey(nodeClaims)],
    concurrency: 1,
    async reconcile(key, signal) {
      const claim = cluster.claims.get(key);
      if (claim === undefined || !isDue(claim)) return done;
      const id = instanceIdOf(claim.status?.providerID ?? '');
      if (id === undefined) {
        log.error('cannot tag instance', `${claim.status?.providerID} names no instance`, { NodeClaim: { name: key } });
        return done;
      }
      const wanted = {
        [awsTag.name]: claim.status?.nodeName ?? '',
        [awsTag.nodeClaim]: key,
        [awsTag.clusterName]: clusterName,
      };
      try {
        const present = await tags.read(id);
        const why = whyForeign(present, clusterName);
        if (why !== undefined) {
          refuse(claim, `instance ${id} ${why}: it is not one of this cluster's, and is neither tagged nor terminated`);
          return done;
        }
        const missing = Object.fromEntries(Object.entries(wanted).filter(([tag]) => present[tag] === undefined));
        if (Object.keys(missing).length > 0) {
          await tags.add(id, missing);
          await clock.sleep(pauseMs, signal);
        }
        const annotations = { ...claim.metadata.annotations, ...marks };
        await patchObject(kube, nodeClaims, claim, { ...claim, metadata: { ...claim.metadata, annotations } });
      } catch (error) {
        if (!isCloudError(error, 'notFound') && !isKubeError(error, 'NotFound')) throw error;
      }
      return done;
    },
  };
}
