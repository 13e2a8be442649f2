// What is served, for clients that ask before they act: group lists, resource lists, and both at once (aggregated).
import type { ResourceDefinition, SubresourceName } from '../api/definition.ts';
import type { Registry } from '../api/registry.ts';
import type { JsonObject } from '../json.ts';

const objectVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

interface SubresourceFacts {
  verbs: string[];
  group?: string;
  version?: string;
  kind?: string;
}

const subresourceFacts: Record<SubresourceName, SubresourceFacts> = {
  status: { verbs: ['get', 'patch', 'update'] },
  scale: { verbs: ['get', 'patch', 'update'], group: 'autoscaling', version: 'v1', kind: 'Scale' },
  eviction: { verbs: ['create'], group: 'policy', version: 'v1', kind: 'Eviction' },
  binding: { verbs: ['create'], group: '', version: 'v1', kind: 'Binding' },
  finalize: { verbs: ['update'] },
  resize: { verbs: ['get', 'patch', 'update'] },
  ephemeralcontainers: { verbs: ['get', 'patch', 'update'] },
};

/** Versions by group; the preferred one first. */
function groupsOf(registry: Registry): Map<string, Map<string, ResourceDefinition[]>> {
  const groups = new Map<string, Map<string, ResourceDefinition[]>>();
  for (const definition of registry.all()) {
    const versions = groups.get(definition.group) ?? new Map<string, ResourceDefinition[]>();
    groups.set(definition.group, versions);
    versions.set(definition.version, [...(versions.get(definition.version) ?? []), definition]);
  }
  for (const [group, versions] of groups)
    groups.set(group, new Map([...versions].sort(([left], [right]) => byMaturity(left, right))));
  return groups;
}

/** v2 before v1 before v1beta2 before v1alpha1. */
function byMaturity(left: string, right: string): number {
  const rank = (version: string): number[] => {
    const [, major = '0', stage = '', minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
    return [stage === '' ? 2 : stage === 'beta' ? 1 : 0, Number(major), Number(minor)];
  };
  const [a, b] = [rank(left), rank(right)];
  for (let index = 0; index < 3; index += 1) {
    const difference = (b[index] as number) - (a[index] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

const byName = (definitions: ResourceDefinition[]): ResourceDefinition[] =>
  definitions.toSorted((left, right) => (left.plural < right.plural ? -1 : 1));

export const apiVersions = (host: string): JsonObject => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: host }],
});

const apiGroup = (group: string, versions: Iterable<string>): JsonObject => {
  const list = [...versions].map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: list, preferredVersion: list[0] };
};

export const apiGroupList = (registry: Registry): JsonObject => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: [...groupsOf(registry)]
    .filter(([group]) => group !== '')
    .map(([group, versions]) => apiGroup(group, versions.keys())),
});

export function apiGroupOf(registry: Registry, group: string): JsonObject | undefined {
  const versions = groupsOf(registry).get(group);
  return versions === undefined
    ? undefined
    : { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(group, versions.keys()) };
}

export function apiResourceList(registry: Registry, group: string, version: string): JsonObject | undefined {
  const definitions = groupsOf(registry).get(group)?.get(version);
  if (definitions === undefined) return undefined;
  const resources = byName(definitions).flatMap((definition) => [
    {
      name: definition.plural,
      singularName: definition.singular,
      namespaced: definition.namespaced,
      kind: definition.kind,
      verbs: definition.verbs ?? objectVerbs,
      ...(definition.shortNames.length > 0 && { shortNames: definition.shortNames }),
      ...(definition.categories.length > 0 && { categories: definition.categories }),
    },
    ...definition.subresources.map((name) => {
      const facts = subresourceFacts[name];
      return {
        name: `${definition.plural}/${name}`,
        singularName: '',
        namespaced: definition.namespaced,
        ...(facts.group !== undefined && facts.group !== '' && { group: facts.group, version: facts.version }),
        kind: facts.kind ?? definition.kind,
        verbs: facts.verbs,
      };
    }),
  ]);
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources,
  };
}

/** apidiscovery.k8s.io/v2: everything in one document, for `/api` (the core group) or `/apis` (the others). */
export function aggregated(registry: Registry, core: boolean): JsonObject {
  const items = [...groupsOf(registry)]
    .filter(([group]) => (group === '') === core)
    .map(([group, versions]) => ({
      metadata: group === '' ? { creationTimestamp: null } : { name: group, creationTimestamp: null },
      versions: [...versions].map(([version, definitions]) => ({
        version,
        freshness: 'Current',
        resources: byName(definitions).map((definition) => aggregatedResource(definition)),
      })),
    }));
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
}

function aggregatedResource(definition: ResourceDefinition): JsonObject {
  const { group, version, kind } = definition;
  const scope = definition.namespaced ? 'Namespaced' : 'Cluster';
  const subresources = definition.subresources.map((name) => {
    const facts = subresourceFacts[name];
    const own = facts.kind === undefined;
    return {
      subresource: name,
      responseKind: own ? { group, version, kind } : { group: facts.group, version: facts.version, kind: facts.kind },
      verbs: facts.verbs,
    };
  });
  return {
    resource: definition.plural,
    responseKind: { group, version, kind },
    scope,
    singularResource: definition.singular,
    verbs: definition.verbs ?? objectVerbs,
    ...(definition.shortNames.length > 0 && { shortNames: definition.shortNames }),
    ...(definition.categories.length > 0 && { categories: definition.categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}
