// Tells what a manifest is: an object with apiVersion and kind, or, in text documents, a piece of one. Documents explain
// fields by showing a few lines (`budgets:` and what is below); such a fragment is put back where it belongs, so that the
// same schema and rules judge it.
import { asMap, asText, type FieldPath, isMap, type Manifest, type PlainMap } from '../manifests/index.ts';
import type { Subject } from './finding.ts';

export type Identified =
  | { kind: 'object'; subject: Subject }
  /** An object that lacks apiVersion or kind. */
  | { kind: 'incomplete'; missing: 'apiVersion' | 'kind' | 'both' }
  /** Something else: chart values, a list, prose. */
  | { kind: 'other' };

/** Where lone fields belong. Ambiguous names (`tags`, `name`) are left out: they come with others or not at all. */
const homes: readonly { kind: string; base: FieldPath; fields: readonly string[] }[] = [
  { kind: 'NodePool', base: ['spec'], fields: ['template', 'disruption', 'limits', 'weight'] },
  {
    kind: 'NodePool',
    base: ['spec', 'template', 'spec'],
    fields: ['requirements', 'nodeClassRef', 'taints', 'startupTaints', 'expireAfter', 'terminationGracePeriod'],
  },
  {
    kind: 'NodePool',
    base: ['spec', 'disruption'],
    fields: ['budgets', 'consolidationPolicy', 'consolidateAfter'],
  },
  {
    kind: 'EC2NodeClass',
    base: ['spec'],
    fields: [
      'amiFamily',
      'amiSelectorTerms',
      'subnetSelector',
      'subnetSelectorTerms',
      'securityGroupSelector',
      'securityGroupSelectorTerms',
      'blockDeviceMappings',
      'metadataOptions',
      'instanceProfile',
      'instanceStorePolicy',
      'role',
      'kubelet',
      'userData',
    ],
  },
  { kind: 'EC2NodeClass', base: ['spec', 'blockDeviceMappings', 0, 'ebs'], fields: ['volumeSize', 'volumeType'] },
];

const groups: Readonly<Record<string, string>> = { NodePool: 'karpenter.sh', EC2NodeClass: 'karpenter.k8s.aws' };

export function identify(manifest: Manifest): Identified {
  const { value } = manifest;
  if (!isMap(value)) return { kind: 'other' };
  const apiVersion = asText(value['apiVersion']) ?? asText(value['appVersion']);
  const kind = asText(value['kind']);
  if (apiVersion !== undefined && kind !== undefined)
    return { kind: 'object', subject: subjectOf(manifest, apiVersion, kind, value) };
  const isEmbedded = manifest.fenceLine !== undefined;
  if (isEmbedded) {
    const subject = fragmentOf(manifest, value, apiVersion);
    if (subject !== undefined) return { kind: 'object', subject };
  }
  if (isEmbedded || (apiVersion === undefined && kind === undefined && !('metadata' in value && 'spec' in value)))
    return { kind: 'other' };
  return {
    kind: 'incomplete',
    missing: apiVersion !== undefined ? 'kind' : kind !== undefined ? 'apiVersion' : 'both',
  };
}

export function subjectOf(manifest: Manifest, apiVersion: string, kind: string, value: PlainMap): Subject {
  const slash = apiVersion.indexOf('/');
  return {
    manifest,
    apiVersion,
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    kind,
    name: asText(asMap(value['metadata'])['name']) ?? '',
    value,
  };
}

function fragmentOf(manifest: Manifest, value: PlainMap, apiVersion: string | undefined): Subject | undefined {
  const spec = asMap(value['spec']);
  if (isMap(value['spec'])) {
    const home = homes.find(({ base, fields }) => base.length === 1 && fields.some((field) => field in spec));
    return home === undefined ? undefined : fragment(manifest, home.kind, [], value, apiVersion);
  }
  const home = homes.find(({ fields }) => fields.some((field) => field in value));
  return home === undefined ? undefined : fragment(manifest, home.kind, home.base, value, apiVersion);
}

/** A piece of an object, inside the object it could come from. */
export function fragment(
  manifest: Manifest,
  kind: string,
  base: FieldPath,
  piece: unknown,
  apiVersion = `${groups[kind]}/v1`,
): Subject {
  const value = base.reduceRight<unknown>(
    (inner, part) => (typeof part === 'number' ? [inner] : { [part]: inner }),
    piece,
  );
  return { ...subjectOf(manifest, apiVersion, kind, asMap(value)), fragment: { base } };
}
