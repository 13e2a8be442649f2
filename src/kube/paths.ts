// Where things live on an API server: paths, query parameters, and how a call is named in errors.
import { KubeError, type ObjectRef, type Resource } from '../ports/index.ts';

export interface Place {
  path: string;
  /** What a person would call it: `pods/default/web-0/status`. */
  label: string;
}

/** The path of a resource's collection (`namespace` absent: of all namespaces) or of one object. */
export function placeOf(resource: Resource, ref: Partial<ObjectRef> = {}, subresource?: string): Place {
  const { group, version, plural, namespaced } = resource;
  const label = [plural, ref.namespace, ref.name, subresource].filter((part) => part !== undefined).join('/');
  if (ref.name === '' || ref.namespace === '') throw badRequest(label, 'the name or namespace is empty');
  if (namespaced && ref.name !== undefined && ref.namespace === undefined) {
    throw badRequest(label, `${plural} live in namespaces; say which one`);
  }
  if (!namespaced && ref.namespace !== undefined) {
    throw badRequest(label, `${plural} do not live in namespaces; leave the namespace out`);
  }
  const parts = group === '' ? ['api', version] : ['apis', group, version];
  if (ref.namespace !== undefined) parts.push('namespaces', ref.namespace);
  parts.push(plural);
  if (ref.name !== undefined) parts.push(ref.name);
  if (subresource !== undefined) parts.push(subresource);
  return { path: `/${parts.map(encodeURIComponent).join('/')}`, label };
}

export type Query = Record<string, string | number | boolean | undefined>;

export function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

function badRequest(label: string, problem: string): KubeError {
  return new KubeError({
    status: 0,
    reason: 'BadRequest',
    message: `cannot address ${label}: ${problem}`,
    call: label,
  });
}
