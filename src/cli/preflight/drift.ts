// Which nodes would be replaced because another controller reads their objects: by hashes that it computes otherwise, by
// requirements that labels do not meet. Expected are none; nodes that have drifted already are listed apart.
import {
  annotation,
  awsAnnotation,
  awsGroup,
  type EC2NodeClass,
  ec2NodeClassHash,
  ec2NodeClassHashVersion,
  label,
  type NodeClaim,
  type NodePool,
  nodePoolHash,
  nodePoolHashVersion,
} from '../../api/index.ts';
import { driftedFields, type ProviderFacts, requirementsDrifted } from '../../core/index.ts';
import type { PreflightInput, PreflightObject } from './input.ts';
import type { DriftLine, Finding } from './report.ts';

export function driftOf(
  { objects, caBundles }: Pick<PreflightInput, 'objects' | 'caBundles'>,
  facts: ProviderFacts,
): { drift: DriftLine[]; findings: Finding[] } {
  const of = <T>(kind: string): T[] => objects.filter((each) => each.kind === kind) as unknown as T[];
  const pools = new Map(of<NodePool>('NodePool').map((pool) => [pool.metadata.name ?? '', pool]));
  const classes = new Map(of<EC2NodeClass>('EC2NodeClass').map((each) => [each.metadata.name ?? '', each]));
  const findings: Finding[] = [...classes.values()].flatMap((each) => unsureClass(each, caBundles));
  const drift = of<NodeClaim>('NodeClaim').flatMap((claim): DriftLine[] => {
    if (claim.metadata.deletionTimestamp !== undefined) return [];
    const pool = pools.get(claim.metadata.labels?.[label.nodePool] ?? '');
    if (pool === undefined) return [];
    const about = { nodeClaim: claim.metadata.name ?? '', nodePool: pool.metadata.name ?? '' };
    const known = claim.status?.conditions?.find(({ type, status }) => type === 'Drifted' && status === 'True');
    const fields = driftedFields(pool as never, claim as never);
    if (known !== undefined) return [{ ...about, reason: known.reason ?? 'Drifted', fields, isKnown: true }];
    const ref = claim.spec.nodeClassRef;
    const nodeClass = ref.group === awsGroup ? classes.get(ref.name) : undefined;
    const reason =
      poolReason(pool, claim) ??
      (requirementsDrifted(pool.spec.template.spec.requirements ?? [], claim.metadata.labels ?? {}, facts)
        ? 'RequirementsDrifted'
        : undefined) ??
      (nodeClass === undefined ? undefined : classReason(nodeClass, claim, caBundles));
    return reason === undefined ? [] : [{ ...about, reason, fields, isKnown: false }];
  });
  return { drift, findings };
}

/** Kerf writes its own hash on the pool; claims are then compared with that one, if they are of the same version. */
function poolReason(pool: NodePool, claim: NodeClaim): string | undefined {
  const had = claim.metadata.annotations;
  const [hash, version] = [had?.[annotation.nodePoolHash], had?.[annotation.nodePoolHashVersion]];
  // Another version on the pool: every claim is stamped anew, and nothing drifts.
  const poolVersion = pool.metadata.annotations?.[annotation.nodePoolHashVersion];
  if (poolVersion !== nodePoolHashVersion || version !== nodePoolHashVersion || hash === undefined) return undefined;
  return hash === nodePoolHash(pool.spec.template) ? undefined : 'NodePoolDrifted';
}

function classHashes({ spec }: EC2NodeClass, caBundles: readonly string[]): string[] {
  return [...caBundles, ''].map((bundle) => ec2NodeClassHash(spec, bundle));
}

function stamped(nodeClass: EC2NodeClass): string | undefined {
  const { [awsAnnotation.nodeClassHash]: hash, [awsAnnotation.nodeClassHashVersion]: version } =
    nodeClass.metadata.annotations ?? {};
  return version === ec2NodeClassHashVersion ? hash : undefined;
}

/** A claim made from an older node class drifts with either controller; one that has the class's own hash does not. */
function classReason(nodeClass: EC2NodeClass, claim: NodeClaim, caBundles: readonly string[]): string | undefined {
  const hash = claim.metadata.annotations?.[awsAnnotation.nodeClassHash];
  const version = claim.metadata.annotations?.[awsAnnotation.nodeClassHashVersion];
  const wanted = stamped(nodeClass);
  if (wanted === undefined || version !== ec2NodeClassHashVersion || hash === undefined || hash === wanted)
    return undefined;
  return classHashes(nodeClass, caBundles).includes(hash) ? undefined : 'NodeClassDrift';
}

/** The hash covers the cluster's certificate, which only the controller knows for sure. */
function unsureClass(nodeClass: EC2NodeClass, caBundles: readonly string[]): Finding[] {
  const hash = stamped(nodeClass);
  if (hash === undefined || classHashes(nodeClass, caBundles).includes(hash)) return [];
  return [
    {
      level: 'look',
      about: `EC2NodeClass ${nodeClass.metadata.name}`,
      text: 'its hash could not be computed again: it covers the certificate of the cluster, which is not known here',
      fix: 'give the setting clusterCABundle the same value as today; a shadow (docs/guide/switch.md) shows whether nodes drift',
    },
  ];
}

export function claimsOf(objects: readonly PreflightObject[]): NodeClaim[] {
  return objects.filter(({ kind }) => kind === 'NodeClaim') as unknown as NodeClaim[];
}
