// Objects as Kerf reads them: what its schema refuses, fields that it does not know (they would silently count for
// nothing), definitions that still hold old versions, and what is under way at the moment of the switch.
import { admitKind, type KindDefinition, kindOf } from '../../api/index.ts';
import { asList, asMap, asText, formatPath } from '../manifests/index.ts';
import { claimsOf } from './drift.ts';
import type { PreflightObject } from './input.ts';
import type { Finding, PreflightReport } from './report.ts';

const ours = /^karpenter\.(sh|k8s\.aws|kwok\.sh)(\/|$)/;
/** Lines about one kind of problem before the rest is summed up. */
const mostLines = 20;

export function objectFindings(objects: readonly PreflightObject[]): Finding[] {
  const found = objects.filter(({ apiVersion }) => ours.test(apiVersion)).flatMap(judged);
  const shown = found.slice(0, mostLines);
  const left = found.length - shown.length;
  return [
    ...(left === 0
      ? shown
      : [...shown, { level: 'look' as const, about: 'objects', text: `and ${left} more like these` }]),
    ...objects.filter(({ kind }) => kind === 'CustomResourceDefinition').flatMap(storedVersions),
  ];
}

function judged(object: PreflightObject): Finding[] {
  const { apiVersion, kind, metadata } = object;
  const about = `${kind} ${metadata.name}`;
  const definition: KindDefinition | undefined = kindOf(apiVersion, kind);
  if (definition === undefined)
    return [
      {
        level: 'stop',
        about,
        text: `Kerf does not read ${apiVersion} ${kind}`,
        fix: '`kerf convert` rewrites manifests of older versions',
      },
    ];
  const { errors, unknownFields } = admitKind(definition, object);
  return [
    ...unknownFields.map(
      ({ path }): Finding => ({
        level: 'look',
        about,
        text: `${formatPath(path)} is a field that Kerf does not know: it would count for nothing`,
      }),
    ),
    // Claims are written by controllers; a rule that a stored one breaks does not matter any more.
    ...(kind === 'NodeClaim'
      ? []
      : errors.map(
          ({ path, message }): Finding => ({
            level: 'stop',
            about,
            text: `${path.length === 0 ? '' : `${formatPath(path)}: `}${message}`,
            fix: 'kerf validate says what to write instead',
          }),
        )),
  ];
}

/** A definition that has stored older versions must be migrated before they are taken out of it. */
function storedVersions({ metadata, status }: PreflightObject): Finding[] {
  if (!ours.test(metadata.name?.replace(/^[^.]+\./, '') ?? '')) return [];
  const old = asList(asMap(status)['storedVersions']).flatMap((version) => {
    const name = asText(version) ?? '';
    return /^v1(alpha5|beta\d+)$/.test(name) ? [name] : [];
  });
  if (old.length === 0) return [];
  return [
    {
      level: 'stop',
      about: `CustomResourceDefinition ${metadata.name}`,
      text: `objects may still be stored as ${old.join(', ')}: a definition without these versions is refused`,
      fix: 'write every object once (kubectl get … -o yaml | kubectl replace -f -), then take the versions out of status.storedVersions',
    },
  ];
}

export function countsOf(objects: readonly PreflightObject[]): PreflightReport['counts'] {
  const claims = claimsOf(objects);
  return {
    nodePools: objects.filter(({ kind }) => kind === 'NodePool').length,
    nodeClaims: claims.length,
    launching: claims.filter(({ status, metadata }) => !status?.providerID && !metadata.deletionTimestamp).length,
    leaving: claims.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length,
  };
}
