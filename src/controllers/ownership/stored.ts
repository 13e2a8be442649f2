// What the API server stores, asked of it right before something that cannot be undone. Caches may be behind (a watch that
// went silent is noticed after minutes) and hide claims that cannot be worked with; whoever concludes that something has no
// owner, or may go, and takes it away for that, asks here. Claims are read with tolerance: one that cannot be parsed still
// owns what it names.
import type { NodeClaim } from '../../api/index.ts';
import { conditionOf } from '../../base/index.ts';
import { isKubeError, type KubeObject, type Pod, type Resource, resources } from '../../ports/index.ts';
import type { ControllerContext } from '../context.ts';
import { nodeClaims } from '../own-resources.ts';

export interface StoredClaim {
  name: string;
  uid: string | undefined;
  isDeleting: boolean;
  providerID: string | undefined;
  /** Undefined where the reference cannot be read: the claim may be of any class. */
  nodeClass: { group: string; kind: string; name: string } | undefined;
  annotations: Readonly<Record<string, unknown>>;
}

export type Stored = Pick<ControllerContext, 'stored'>;

const pageSize = 500;
/** More claims than any cluster has; a server that pages for ever is not believed. */
const mostPages = 1_000;

/** Every claim there is, whichever provider's and however malformed. Throws rather than leave one out. */
export async function storedClaims(context: Stored): Promise<StoredClaim[]> {
  return everyStored(context, nodeClaims, readClaim);
}

/** Provider ids of every Node there is. Throws rather than leave one out. */
export async function storedNodes(context: Stored): Promise<ReadonlySet<string>> {
  const ids = await everyStored(context, resources.nodes, ({ spec }) => textOf(spec?.providerID));
  return new Set(ids.filter((id) => id !== undefined));
}

async function everyStored<T extends KubeObject, R>(
  { stored }: Stored,
  resource: Resource<T>,
  read: (object: T) => R,
): Promise<R[]> {
  const found: R[] = [];
  let next: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    // Without a resource version the server answers from what is stored, not from a cache of its own.
    const list = await stored.list(resource, { limit: pageSize, ...(next === undefined ? {} : { continue: next }) });
    for (const item of list.items) found.push(read(item));
    next = list.continue;
    if (next === undefined) return found;
  }
  throw new Error(`cannot list ${resource.plural}: there are more than ${mostPages} pages of ${pageSize}`);
}

/** Undefined only if the server says that there is no claim of that name. */
export async function storedClaim(context: Stored, name: string): Promise<StoredClaim | undefined> {
  const found = await storedObject(context, nodeClaims, name);
  return found === undefined ? undefined : readClaim(found);
}

/** Undefined only if the server says that there is no object of that name. */
export async function storedObject<T extends KubeObject>(
  { stored }: Stored,
  resource: Resource<T>,
  name: string,
): Promise<T | undefined> {
  try {
    return await stored.get(resource, { name });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** The object, by UID, is stored and being deleted: a cache may be behind a server that was restored from a backup. */
export async function isStoredAsLeaving<T extends KubeObject>(
  context: Stored,
  resource: Resource<T>,
  { metadata: { name = '', uid } }: T,
): Promise<boolean> {
  const stored = await storedObject(context, resource, name);
  return stored?.metadata.uid === uid && stored?.metadata.deletionTimestamp !== undefined;
}

/** The claim, by UID, is stored and its condition of that type is not True: another replica may have come further. */
export async function isStoredAsWaiting(
  context: Stored,
  { metadata: { name = '', uid } }: NodeClaim,
  type: string,
): Promise<boolean> {
  const stored = await storedObject(context, nodeClaims, name);
  return stored?.metadata.uid === uid && conditionOf(stored?.status?.conditions, type)?.status !== 'True';
}

/**
 * Pods that are bound to the node. A list of one says how far the server's history is, and the list of the node's pods must
 * not be older: then it may come from the server's cache, which finds pods by their node, instead of from all there are.
 */
export async function storedPods({ stored }: Stored, nodeName: string): Promise<Pod[]> {
  const { resourceVersion } = await stored.list(resources.pods, { limit: 1 });
  const { items } = await stored.list(resources.pods, {
    fieldSelector: `spec.nodeName=${nodeName}`,
    resourceVersion,
    resourceVersionMatch: 'NotOlderThan',
  });
  return items;
}

/** Names of the claims a Node says it belongs to. */
export function claimNamesOf({ metadata }: KubeObject): string[] {
  return (metadata.ownerReferences ?? []).filter(({ kind }) => kind === nodeClaims.kind).map(({ name }) => name);
}

function readClaim(object: KubeObject): StoredClaim {
  const { metadata, spec, status } = object as KubeObject & { spec?: unknown; status?: unknown };
  const ref = fieldOf(spec, 'nodeClassRef');
  const [group, kind, name] = ['group', 'kind', 'name'].map((field) => textOf(fieldOf(ref, field)));
  const isReadable = group !== undefined && kind !== undefined && name !== undefined;
  return {
    name: metadata.name ?? '',
    uid: metadata.uid,
    isDeleting: metadata.deletionTimestamp !== undefined,
    providerID: textOf(fieldOf(status, 'providerID')),
    nodeClass: isReadable ? { group, kind, name } : undefined,
    annotations: metadata.annotations ?? {},
  };
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : undefined;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
