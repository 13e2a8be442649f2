// The controller may launch instances, but not give them the node role.
import type { Failure } from '../../failure.ts';
import { caught, foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';

export const passRoleDenied: Failure = {
  id: 'iam/pass-role-denied',
  severity: 'critical',
  symptom: 'Launches are refused: `is not authorized to perform: iam:PassRole on resource: …`.',
  cause: 'The role of the controller may not pass the node role to EC2; PowerUserAccess, for one, leaves out IAM',
  fix: "Allow `iam:PassRole` on the node role's ARN with the condition `iam:PassedToService = ec2.amazonaws.com`; or create a profile beforehand and set `spec.instanceProfile`.",
  needs: [texts('log', 'object')],
  signs: [
    {
      words: ['iam:passrole'],
      pattern:
        /(?:not authorized|AccessDenied|UnauthorizedOperation|denied|explicit deny|"allowed": ?false).{0,300}?iam:PassRole(?: on resource: (?<role>arn:[^\s",]+))?|assumed-role\/[^"]+"[ },]{0,6}"action": ?"iam:PassRole", ?"resource": ?"|iam:PassRole(?: on resource: (?<role2>arn:[^\s",]+))?.{0,120}(?:is not authorized|AccessDenied|denied)/i,
      unless: /An error occurred \((?:AccessDenied|AccessDeniedException)\) when calling|cloudformation|:user\//i,
      where: ['log', 'object', 'asked'],
      until: ['launched'],
    },
  ],
  fromText(sightings) {
    const role = caught(sightings, 'role') ?? caught(sightings, 'role2');
    return [
      foundIn(sightings, {
        summary: `The role of the controller may not pass the node role${role === undefined ? '' : ` ${role}`} to EC2.`,
        fix: [
          `Add to the controller's policy: ${JSON.stringify({ Effect: 'Allow', Action: 'iam:PassRole', Resource: role ?? 'the ARN of the node role', Condition: { StringEquals: { 'iam:PassedToService': 'ec2.amazonaws.com' } } })}`,
          'Check that the ARN is exact, path included: a role that was recreated under another name or path is another resource.',
        ],
      }),
    ];
  },
  explains: [
    'scheduling/launch-rejected-by-provider',
    'iam/controller-permission-missing',
    'crd/nodepool-not-ready-because-nodeclass',
  ],
};
