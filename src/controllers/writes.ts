// Writing an object back: what changed since it was read, as merge patches, metadata and spec apart from status. With
// `locked`, a patch fails if the object moved on in between: needed wherever a list is replaced as a whole (conditions,
// finalizers, taints), because a merge patch would drop what someone else just added.
import type { NodeClaim } from '../api/index.ts';
import { mergePatchBetween } from '../base/index.ts';
import { isKubeError, type Kube, type KubeObject, type ObjectRef, type Resource } from '../ports/index.ts';
import type { ControllerContext } from './context.ts';
import { nodeClaims } from './own-resources.ts';

type WithStatus = KubeObject & { status?: unknown };

/** Returns the object as the server has it now; the one given if nothing changed. */
export async function patchObject<T extends KubeObject>(
  kube: Kube,
  resource: Resource<T>,
  before: T,
  after: T,
  options: { locked?: boolean } = {},
): Promise<T> {
  const { status: _old, ...from } = before as WithStatus;
  const { status: _new, ...to } = after as WithStatus;
  const patch = mergePatchBetween(from, to);
  return patch === undefined ? before : send(kube, resource, before, patch, options.locked ?? false);
}

export async function patchStatus<T extends KubeObject>(
  kube: Kube,
  resource: Resource<T>,
  before: T,
  after: T,
): Promise<T> {
  const patch = mergePatchBetween({ status: (before as WithStatus).status }, { status: (after as WithStatus).status });
  return patch === undefined ? before : send(kube, resource, before, patch, true, 'status');
}

function send<T extends KubeObject>(
  kube: Kube,
  resource: Resource<T>,
  object: T,
  patch: Record<string, unknown>,
  locked: boolean,
  subresource?: 'status',
): Promise<T> {
  const { name = '', namespace, resourceVersion } = object.metadata;
  const metadata = patch['metadata'] as Record<string, unknown> | undefined;
  const body =
    locked && resourceVersion !== undefined ? { ...patch, metadata: { ...metadata, resourceVersion } } : patch;
  const ref = namespace === undefined ? { name } : { name, namespace };
  return kube.patch(resource, ref, { type: 'merge', body }, subresource === undefined ? {} : { subresource });
}

/** Deletes the object if it is still there; when this returns, it is gone or going. */
export async function deleteObject(kube: Kube, resource: Resource, object: KubeObject): Promise<void> {
  const { name = '', namespace, uid } = object.metadata;
  const ref = namespace === undefined ? { name } : { name, namespace };
  try {
    await kube.delete(resource, ref, uid === undefined ? {} : { preconditions: { uid } });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return;
    // Either another object has taken its name, or the server lost a race of its own and means: try again.
    if (!isKubeError(error, 'Conflict') || (await isStillThere(kube, resource, ref, uid))) throw error;
  }
}

async function isStillThere(kube: Kube, resource: Resource, ref: ObjectRef, uid: string | undefined): Promise<boolean> {
  try {
    const { metadata } = await kube.get(resource, ref);
    return metadata.uid === uid && metadata.deletionTimestamp === undefined;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return false;
    throw error;
  }
}

/** Deletes a claim, and lets the model know at once: whoever looks next does not delete and count it again. */
export async function deleteClaim(
  { cluster, kube }: Pick<ControllerContext, 'cluster' | 'kube'>,
  claim: NodeClaim,
): Promise<void> {
  await deleteObject(kube, nodeClaims, claim);
  cluster.markClaimDeleted(claim);
}
