// Manifests that someone drops on the simulated cluster from its page: what is written is there afterwards, as the what-if
// planned with it. Kinds that the page is about; for others there is kubectl.
import { messageOf } from '../../base/index.ts';
import { nodeOverlays, nodePools } from '../../controllers/index.ts';
import { isKubeError, type Kube, type KubeObject, type Resource, resources } from '../../ports/index.ts';
import { ApiError, readManifests } from '../../server/index.ts';
import { kwokNodeClasses } from '../../sim/index.ts';

const known: readonly Resource[] = [
  nodePools,
  nodeOverlays,
  kwokNodeClasses,
  resources.namespaces,
  resources.pods,
  resources.deployments,
  resources.statefulSets,
  resources.daemonSets,
  resources.podDisruptionBudgets,
];

/** Resolves with what was written, one text per object. All are read before the first is written. */
export async function applyManifests(kube: Pick<Kube, 'get' | 'create' | 'replace'>, text: string): Promise<string[]> {
  let objects: ReturnType<typeof readManifests>;
  try {
    objects = readManifests(text);
  } catch (error) {
    throw new ApiError(400, 'BadRequest', messageOf(error), 'run it first: the errors have their lines there');
  }
  if (objects.length === 0) throw new ApiError(400, 'BadRequest', 'there is no manifest', 'write one');
  const wanted = objects.map((object) => ({
    object: object as unknown as KubeObject,
    resource: resourceOf(object.kind),
  }));
  const done: string[] = [];
  for (const { object, resource } of wanted) {
    try {
      done.push(await write(kube, resource, object));
    } catch (error) {
      throw new ApiError(422, 'Refused', `${resource.kind} ${object.metadata.name}: ${messageOf(error)}`);
    }
  }
  return done;
}

function resourceOf(kind: string): Resource {
  const resource = known.find((each) => each.kind === kind);
  if (resource !== undefined) return resource;
  const kinds = known.map((each) => each.kind).join(', ');
  throw new ApiError(400, 'BadRequest', `a ${kind} cannot be applied here`, `use kubectl; here: ${kinds}`);
}

async function write(
  kube: Pick<Kube, 'get' | 'create' | 'replace'>,
  resource: Resource,
  object: KubeObject,
): Promise<string> {
  const { name = '', namespace = 'default' } = object.metadata;
  const ref = { name, ...(resource.namespaced && { namespace }) };
  const placed = { ...object, metadata: { ...object.metadata, ...ref } };
  try {
    const old = await kube.get<KubeObject & { status?: unknown }>(resource, ref);
    const status = old.status === undefined ? {} : { status: old.status };
    await kube.replace(resource, { ...placed, metadata: { ...old.metadata, ...placed.metadata }, ...status });
    return `${resource.kind} ${name} changed`;
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
    await kube.create(resource, placed);
    return `${resource.kind} ${name} created`;
  }
}
