// instanceprofile.garbagecollection: deletes profiles of this cluster that no class names, no node was launched with, and
// that are not so young that a launch may be on its way with them. Instances lose their role with their profile, so classes
// and claims are listed anew, malformed ones included, and a profile goes only at the second look.
import { awsAnnotation } from '../../api/index.ts';
import { ec2NodeClasses, type InstanceProfiles } from '../../aws/index.ts';
import {
  again,
  Collection,
  type Controller,
  type ControllerContext,
  nodeClaims,
  storedClaims,
  untrustedClockMs,
} from '../../controllers/index.ts';

const name = 'instanceprofile.garbagecollection';
const everyMs = 30 * 60_000;

export function instanceProfileCollectionController(
  context: ControllerContext,
  profiles: Pick<InstanceProfiles, 'list' | 'delete' | 'isProtected'>,
): Controller {
  const { cacheOf, clock, log, metrics, stored, time } = context;
  const collection = new Collection<string>({ controller: name, clock, metrics, keyOf: (each) => each });

  const used = async (): Promise<ReadonlySet<unknown>> => {
    const names = new Set<unknown>();
    const classes = [...(await stored.list(ec2NodeClasses)).items, ...cacheOf(ec2NodeClasses).values()];
    for (const { spec, status } of classes) names.add(status?.instanceProfile).add(spec?.instanceProfile);
    for (const { annotations } of await storedClaims(context))
      names.add(annotations[awsAnnotation.instanceProfileName]);
    for (const { metadata } of cacheOf(nodeClaims).values())
      names.add(metadata.annotations?.[awsAnnotation.instanceProfileName]);
    return names;
  };

  return {
    name,
    // No one wakes it; the caches it reads are watched by others.
    sources: [],
    startKeys: ['profiles'],
    concurrency: 1,
    async reconcile() {
      if (time.problem() !== undefined) return again(untrustedClockMs);
      // Listed first: a profile that comes into use in between is then seen as used.
      const names = await profiles.list();
      const inUse = await used();
      const abandoned = names.filter((each) => !inUse.has(each) && !profiles.isProtected(each));
      const { due, heldBack, againMs } = collection.choose(abandoned, names.length);
      if (heldBack.length > 0)
        log.error('more unused instance profiles than are deleted at once', `${heldBack.length} wait`, {
          controller: name,
        });
      for (const each of due) {
        await profiles.delete(each);
        log.info('deleted unused instance profile', { 'instance-profile': each });
      }
      return again(againMs ?? everyMs);
    },
  };
}
