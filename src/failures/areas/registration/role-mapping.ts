// How the cluster knows the role of a node: by an access entry, by the ConfigMap aws-auth, or not at all.
import type { Evidence } from '../../evidence.ts';
import type { EvidenceItem } from '../../failure.ts';
import { textAt } from '../../fields.ts';

export type Mapping =
  | { kind: 'mapped' }
  | { kind: 'unknown' }
  /** Everything that could name the role was looked at (`certain`), or only a part of it. */
  | { kind: 'absent'; isSure: boolean; evidence: EvidenceItem[] }
  | { kind: 'wrong'; what: string; evidence: EvidenceItem[] };

/** `API`, `CONFIG_MAP`, `API_AND_CONFIG_MAP`; undefined when unknown. */
export function authenticationMode({ aws }: Evidence): string | undefined {
  const mode = aws
    .bodies('eks-describe-cluster')
    .map(({ item }) => textAt(item, 'accessConfig', 'authenticationMode'))[0];
  return mode === '' ? undefined : mode;
}

export function mappingOf(role: string, evidence: Evidence): Mapping {
  const mode = authenticationMode(evidence);
  const byEntry = mode === 'CONFIG_MAP' ? ignored : entryFor(role, evidence);
  const byMap = mode === 'API' ? ignored : configMapFor(role, evidence);
  if (byEntry.kind === 'mapped' || byMap.kind === 'mapped') return { kind: 'mapped' };
  if (byEntry.kind === 'wrong') return byEntry;
  if (byMap.kind === 'wrong') return byMap;
  const looked = [byEntry, byMap].filter((one) => one.kind === 'absent');
  if (looked.length === 0) return { kind: 'unknown' };
  const isSure = byEntry !== unknown && byMap !== unknown;
  return { kind: 'absent', isSure, evidence: looked.flatMap(({ evidence: items }) => items) };
}

type Half = Mapping | { kind: 'ignored' };
const unknown: Half = { kind: 'unknown' };
/** This way of mapping is off in the cluster. */
const ignored: Half = { kind: 'ignored' };

function entryFor(role: string, { aws }: Evidence): Half {
  const described = aws
    .bodies('eks-describe-access-entry')
    .find(({ item }) => isRole(textAt(item, 'principalArn'), role));
  if (described !== undefined) {
    const type = textAt(described.item, 'type');
    if (type !== 'STANDARD') return { kind: 'mapped' };
    return {
      kind: 'wrong',
      what: `its access entry is of type ${type} instead of EC2_LINUX`,
      evidence: [
        { source: described.source, text: `accessEntry ${textAt(described.item, 'principalArn')}: type ${type}` },
      ],
    };
  }
  const listed = aws.of('eks-list-access-entries');
  if (listed.length === 0) return unknown;
  const entries = aws.items('eks-list-access-entries').map(({ item }) => String(item));
  if (entries.some((arn) => isRole(arn, role))) return { kind: 'mapped' };
  const source = listed[0]?.source ?? '';
  return {
    kind: 'absent',
    isSure: true,
    evidence: [{ source, text: `no access entry for ${role}; there are: ${entries.join(', ') || 'none'}` }],
  };
}

const isRole = (arn: string, role: string): boolean => arn.includes(':role/') && arn.split('/').at(-1) === role;

function configMapFor(role: string, { objects }: Evidence): Half {
  if (!objects.isCollected('ConfigMap')) return unknown;
  const map = objects.find('ConfigMap', 'aws-auth', 'kube-system');
  // Other maps were collected, and this one may have been left out.
  if (
    map === undefined &&
    objects.of('ConfigMap').length > 0 &&
    !objects.of('ConfigMap').some(({ namespace }) => namespace === 'kube-system')
  )
    return unknown;
  if (map === undefined)
    return {
      kind: 'absent',
      isSure: true,
      evidence: [{ source: 'objects', text: 'there is no ConfigMap kube-system/aws-auth' }],
    };
  const text = textAt(map.object, 'data', 'mapRoles');
  const blocks = text.split(/^\s*-\s+(?=["']?(?:rolearn|groups|username)["']?:)/m);
  const item = (what: string): EvidenceItem => ({
    source: map.source,
    text: `ConfigMap kube-system/aws-auth: ${what}`,
  });
  const wrong: Mapping[] = [];
  for (const block of blocks) {
    const arn = /rolearn["']?:\s*["']?([^\s"']+)/i.exec(block)?.[1] ?? '';
    if (!arn.includes(role)) continue;
    if (arn.includes(':instance-profile/'))
      wrong.push({
        kind: 'wrong',
        what: 'aws-auth names the instance profile instead of the role',
        evidence: [item(arn)],
      });
    else if (arn.split('/').at(-1) !== role) continue;
    else if (arn.split(':role/')[1]?.includes('/') === true)
      wrong.push({
        kind: 'wrong',
        what: 'aws-auth names the role with its path, which is never matched',
        evidence: [item(arn)],
      });
    else {
      const problem = problemIn(block);
      if (problem === undefined) return { kind: 'mapped' };
      wrong.push({ kind: 'wrong', what: problem, evidence: [item(block.replaceAll(/\s+/g, ' ').trim())] });
    }
  }
  const mapped = [...text.matchAll(/rolearn["']?:\s*["']?([^\s"']+)/gi)].map((match) => match[1]);
  return (
    wrong[0] ?? {
      kind: 'absent',
      isSure: true,
      evidence: [item(`no mapping for ${role}; there are: ${mapped.join(', ') || 'none'}`)],
    }
  );
}

function problemIn(block: string): string | undefined {
  const username = /username["']?:\s*["']?([^\s"']+)/i.exec(block)?.[1] ?? '';
  if (!/^system:node:\{\{(EC2PrivateDNSName|SessionName)\}\}$/.test(username))
    return `its username in aws-auth is ${username || 'missing'} instead of system:node:{{EC2PrivateDNSName}}`;
  if (!block.includes('system:nodes') && !block.includes('system:masters'))
    return 'its groups in aws-auth lack system:nodes';
  return undefined;
}
