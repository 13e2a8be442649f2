// Instance profiles that node classes name instead of a role: one that does not exist, or has no role in it, gives its
// instances no credentials.
import type { Evidence } from '../../evidence.ts';
import type { Found } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { refsOf } from '../../found.ts';
import type { Stored } from '../../objects.ts';

export function incompleteProfiles(evidence: Evidence): Found[] {
  const named = new Map<string, Stored[]>();
  for (const nodeClass of evidence.objects.of('EC2NodeClass')) {
    const profile = textAt(nodeClass.object, 'spec', 'instanceProfile');
    if (profile !== '') named.set(profile, [...(named.get(profile) ?? []), nodeClass]);
  }
  return [...named].flatMap(([profile, classes]): Found[] => {
    const state = stateOf(profile, evidence);
    if (state === undefined) return [];
    const role = '"$NODE_ROLE"';
    return [
      {
        confidence: 'certain',
        summary: `The instance profile ${profile} of EC2NodeClass ${classes.map(({ name }) => name).join(', ')} ${state.says}: its instances have no role, and cannot join.`,
        objects: refsOf(classes),
        evidence: [{ source: state.source, text: state.text }],
        fix: [
          ...(state.isAbsent ? [`aws iam create-instance-profile --instance-profile-name ${profile}`] : []),
          `aws iam add-role-to-instance-profile --instance-profile-name ${profile} --role-name ${role}`,
          'Or name the role itself in spec.role of the EC2NodeClass instead of spec.instanceProfile: the profile is then made for you.',
        ],
        key: profile,
      },
    ];
  });
}

interface ProfileState {
  says: string;
  isAbsent: boolean;
  source: string;
  text: string;
}

function stateOf(profile: string, { aws }: Evidence): ProfileState | undefined {
  const described = aws
    .bodies('iam-get-instance-profile')
    .find(({ item }) => textAt(item, 'InstanceProfileName') === profile);
  if (described !== undefined) {
    if (listAt(described.item, 'Roles').length > 0) return undefined;
    return { says: 'has no role', isAbsent: false, source: described.source, text: `${profile}: Roles is empty` };
  }
  const missing = aws
    .absent('iam-get-instance-profile')
    .find(({ suffix, text }) => suffix === profile || text.includes(profile));
  return missing && { says: 'does not exist', isAbsent: true, source: missing.source, text: missing.text };
}
