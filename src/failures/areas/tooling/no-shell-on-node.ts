// Sessions on a node need the SSM policy on its role; a node without it can only be read from outside.

import type { Evidence } from '../../evidence.ts';
import { nodeRoles } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { aroundOf, caught, foundIn, refsOf } from '../../found.ts';
import { answer } from '../../needs.ts';

const managesSessions = /AmazonSSM(?:ManagedInstanceCore|FullAccess)|AmazonEC2RoleforSSM/;

export const noShellOnNode: Failure = {
  id: 'tooling/no-shell-on-node',
  severity: 'low',
  symptom: '`aws ssm start-session` answers `TargetNotConnected`; the kubelet journal is out of reach.',
  cause: 'The role of the nodes lacks `AmazonSSMManagedInstanceCore`, or the SSM endpoints cannot be reached',
  fix: 'Attach `AmazonSSMManagedInstanceCore` to the node role. Console output needs no agent: `aws ec2 get-console-output`.',
  needs: [answer('iam-list-attached-role-policies')],
  signs: [
    {
      words: ['targetnotconnected', 'is not connected'],
      pattern: /TargetNotConnected|StartSession operation: (?<instance>i-[0-9a-f]+) is not connected/i,
    },
    {
      words: [
        'ssm:updateinstanceinformation',
        'instance management role is not configured',
        'ssm agent is not online',
        'ssm agent was unable to connect',
      ],
      pattern:
        /not authorized to perform: ssm:UpdateInstanceInformation|Systems Manager's instance management role is not configured|SSM Agent (?:is not online|was unable to connect to a Systems Manager endpoint)/i,
    },
  ],
  fromText(sightings, evidence) {
    const instance = caught(sightings, 'instance') ?? aroundOf(sightings, /\b(i-[0-9a-f]{4,17})\b/) ?? '"$INSTANCE"';
    const role = nodeRoles(evidence)[0]?.role ?? '"$NODE_ROLE"';
    return [
      foundIn(sightings, {
        summary: `No session can be opened on ${instance === '"$INSTANCE"' ? 'the node' : instance}: the SSM agent does not reach Systems Manager with the rights of the node's role.`,
        fix: [attach(role), console_(instance)],
      }),
    ];
  },
  check(evidence): Found[] {
    return nodeRoles(evidence).flatMap(({ role, nodeClasses }) => {
      const policies = attachedTo(role, evidence);
      if (policies === undefined || policies.names.some((name) => managesSessions.test(name))) return [];
      // Without the policies that nodes need to join, sessions are the smaller problem: that finding names the role.
      if (!policies.names.some((name) => name.includes('AmazonEKSWorkerNode'))) return [];
      return [
        {
          confidence: 'likely' as const,
          summary: `Role ${role} does not have AmazonSSMManagedInstanceCore: no session can be opened on its nodes.`,
          objects: refsOf(nodeClasses),
          evidence: [{ source: policies.source, text: `${role}: ${policies.names.join(', ')}` }],
          fix: [attach(role), console_('"$INSTANCE"')],
          key: role,
        },
      ];
    });
  },
};

function attachedTo(role: string, { aws }: Evidence): { names: string[]; source: string } | undefined {
  const own = aws.of('iam-list-attached-role-policies').filter(({ suffix }) => suffix === role);
  const only = aws.of('iam-list-attached-role-policies').length === 1 ? aws.of('iam-list-attached-role-policies') : [];
  const [answered] = own.length > 0 ? own : only.filter(({ suffix }) => suffix === '');
  if (answered === undefined) return undefined;
  const names = aws
    .items('iam-list-attached-role-policies')
    .filter(({ source }) => source === answered.source)
    .map(({ item }) => textAt(item, 'PolicyName'));
  return { names, source: answered.source };
}

const attach = (role: string): string =>
  `aws iam attach-role-policy --role-name ${role} --policy-arn arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore`;
const console_ = (instance: string): string =>
  `aws ec2 get-console-output --latest --instance-id ${instance} --output text (needs no agent)`;
