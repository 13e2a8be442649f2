// instanceprofile.garbagecollection: deletes profiles of this cluster that no class names, no node was launched with, and
// that are not so young that a launch may be on its way with them.
import { awsAnnotation } from '../../api/index.ts';
import { ec2NodeClasses, type InstanceProfiles } from '../../aws/index.ts';
import { again, type Controller, type ControllerContext, nodeClaims } from '../../controllers/index.ts';

const everyMs = 30 * 60_000;

export function instanceProfileCollectionController(
  { cacheOf, isManaged, log }: ControllerContext,
  profiles: Pick<InstanceProfiles, 'list' | 'delete' | 'isProtected'>,
): Controller {
  return {
    name: 'instanceprofile.garbagecollection',
    // Nobody wakes it; the caches it reads are watched by others.
    sources: [],
    startKeys: ['profiles'],
    concurrency: 1,
    async reconcile() {
      // Listed first: a profile that comes into use in between is then seen as used.
      const names = await profiles.list();
      const used = new Set<string | undefined>();
      for (const { status } of cacheOf(ec2NodeClasses).values()) used.add(status?.instanceProfile);
      for (const { metadata, spec } of cacheOf(nodeClaims).values()) {
        if (isManaged(spec.nodeClassRef)) used.add(metadata.annotations?.[awsAnnotation.instanceProfileName]);
      }
      for (const name of names) {
        if (used.has(name) || profiles.isProtected(name)) continue;
        await profiles.delete(name);
        log.info('deleted unused instance profile', { 'instance-profile': name });
      }
      return again(everyMs);
    },
  };
}
