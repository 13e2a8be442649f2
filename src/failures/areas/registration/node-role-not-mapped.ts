// The kubelet proves who it is with the node role, and the API server does not know that role.
import { instanceOf, unregisteredClaims } from '../../claims.ts';
import type { Evidence } from '../../evidence.ts';
import { clusterName, named, nodeRoles, roleArn } from '../../facts.ts';
import type { EvidenceItem, Failure, Found } from '../../failure.ts';
import { listAt, textAt, textsAt } from '../../fields.ts';
import { aroundOf, conditionItem, foundIn, refsOf } from '../../found.ts';
import { answer, anyOf, kinds } from '../../needs.ts';
import { conditionOf, type Stored } from '../../objects.ts';
import { nodeClassNameOf } from '../../relations.ts';
import { authenticationMode, mappingOf } from './role-mapping.ts';

export const nodeRoleNotMapped: Failure = {
  id: 'registration/node-role-not-mapped',
  severity: 'critical',
  symptom:
    'Instances run and their bootstrap completes, but no Node appears; the kubelet says `Unable to register node with API server" err="Unauthorized"`.',
  cause:
    'The cluster has no access entry or aws-auth mapping for the node role, or one of the wrong type, so the API server refuses the kubelet',
  fix: 'Access entry (any mode but CONFIG_MAP): `aws eks create-access-entry --cluster-name "$C" --principal-arn "$ROLE_ARN" --type EC2_LINUX`. CONFIG_MAP mode: `eksctl create iamidentitymapping …`. Never replace the whole ConfigMap.',
  needs: [kinds('EC2NodeClass'), anyOf(answer('eks-list-access-entries'), kinds('ConfigMap'))],
  signs: [
    {
      words: ['unauthorized', 'must be logged in', 'nodes is forbidden'],
      pattern:
        /Unable to register node\b.{0,120}(?:err="|with API server: )(?:Unauthorized|.{0,60}must be logged in)|Failed to contact API server when waiting for CSINode publishing: Unauthorized|(?:initialize CSINode|CSINode annotation).{0,160}caused by: Unauthorized|Unable to register node\b.{0,120}nodes is forbidden: User "(?!system:node:)[^"]+" cannot create resource|Failed to ensure lease exists.{0,60}Unauthorized|failed to (?:list|watch) \*v1\.(?:Node|Service|CSIDriver|RuntimeClass|Pod)\b: Unauthorized|Error updating node status.{0,120}Unauthorized/i,
      until: ['registered', 'nodeReady'],
      where: ['node', 'asked', 'cli', 'log'],
    },
    {
      words: ['arn is not mapped', 'is not mapped'],
      pattern:
        /ARN is not mapped: (?<arn>arn:\S+:(?:role|assumed-role)\/[\w+=,.@/-]+)|access denied.{0,120}(?<arn2>arn:aws[\w-]*:iam::\d+:role\/\S+).{0,60}is not mapped|access denied.{0,60}(?:ARN|Identity) is not mapped/i,
    },
    {
      words: ['is not allowed to modify node', 'only its own node object'],
      pattern:
        /nodes "(?<node>[^"]+)" is forbidden: node "(?<as>[^"]*)" is not allowed to modify node|node ['"](?<as2>[^'"]*)['"] cannot read ['"](?<node2>[^'"]+)['"], only its own Node object/i,
      until: ['registered'],
    },
  ],
  fromText(sightings, evidence) {
    const arn = aroundOf(sightings, /not mapped: (arn:aws[\w-]*:iam::\d+:role\/[\w+=,.@/-]+)/);
    const roles = nodeRoles(evidence).map(({ role }) => role);
    const role = arn?.split('/').at(-1) ?? (roles.length === 1 ? roles[0] : undefined);
    const isName = sightings.every(({ groups }) => (groups['node'] ?? groups['node2']) !== undefined);
    return [
      {
        ...foundIn(sightings, {
          summary: isName
            ? "The node's name in its mapping is not its own: the username template of the node role is wrong."
            : `The API server refuses the kubelet: the cluster has no access entry or mapping for the node role${role === undefined ? '' : ` ${role}`}.`,
          fix: fixFor(evidence, role ?? '"$NODE_ROLE"', false),
        }),
        objects: refsOf(unregisteredClaims(evidence)),
      },
    ];
  },
  check(evidence): Found[] {
    return nodeRoles(evidence).flatMap(({ role, nodeClasses }): Found[] => {
      const mapping = mappingOf(role, evidence);
      if (mapping.kind === 'mapped' || mapping.kind === 'unknown') return [];
      const names = nodeClasses.map(({ name }) => name);
      const claims = evidence.objects.of('NodeClaim').filter((claim) => names.includes(nodeClassNameOf(claim)));
      const joined = claims.filter(({ object }) => conditionOf(object, 'Registered')?.status === 'True');
      const waiting = unregisteredClaims(evidence).filter((claim) => claims.includes(claim));
      // Nodes of this role are there: whatever was not found, something maps it.
      if (joined.length > 0 && waiting.length === 0) return [];
      const isSure = mapping.kind === 'wrong' || (mapping.isSure && joined.length === 0);
      if (!isSure && waiting.length === 0) return [];
      // Where access entries are on and were not collected, most roles are mapped by one; where they were, the role is not
      // among them, and none of its nodes ever joined, aws-auth hardly names it.
      const isListed = evidence.aws.of('eks-list-access-entries').length > 0 && joined.length === 0;
      const isLikely =
        mapping.kind === 'wrong' || mapping.isSure || isListed || authenticationMode(evidence) === undefined;
      const problem = mapping.kind === 'wrong' ? mapping.what : 'the cluster has no access entry or mapping for it';
      return [
        {
          confidence: isSure ? 'certain' : isLikely ? 'likely' : 'possible',
          summary: `Nodes of role ${role} cannot join: ${problem}.${waiting.length > 0 ? ` ${waiting.length === 1 ? 'NodeClaim' : `${waiting.length} NodeClaims`} ${named(waiting)} ${waiting.length === 1 ? 'has' : 'have'} not registered.` : ''}`,
          objects: [...refsOf(waiting), ...(waiting.length === 0 ? refsOf(nodeClasses) : [])],
          evidence: [...mapping.evidence, ...waiting.slice(0, 3).flatMap((claim) => claimEvidence(claim, evidence))],
          fix: fixFor(
            evidence,
            role,
            isWindows(nodeClasses),
            mapping.kind === 'wrong' && mapping.what.includes('STANDARD'),
          ),
          key: role,
        },
      ];
    });
  },
  explains: [
    'registration/undiagnosed-timeout',
    'init/cni-not-initialised',
    'registration/kubelet-never-posted-status',
    'scheduling/no-usable-nodepool',
    'init/core-daemonsets-absent',
  ],
};

function claimEvidence(claim: Stored, { aws }: Evidence): EvidenceItem[] {
  const registered = conditionOf(claim.object, 'Registered') ?? conditionOf(claim.object, 'Initialized');
  const id = instanceOf(claim);
  const running = aws.items('ec2-describe-instances').flatMap(({ item, source }) =>
    listAt(item, 'Instances')
      .filter((instance) => textAt(instance, 'InstanceId') === id)
      .map((instance) => ({ source, text: `${id} is ${textAt(instance, 'State', 'Name')}` })),
  );
  return [...(registered === undefined ? [] : [conditionItem(claim, registered)]), ...running];
}

function isWindows(nodeClasses: readonly Stored[]): boolean {
  return nodeClasses.some(({ object }) => {
    const aliases = listAt(object, 'spec', 'amiSelectorTerms').flatMap((term) => textsAt(term, 'alias'));
    return [textAt(object, 'spec', 'amiFamily'), ...aliases].some((name) => /^windows/i.test(name));
  });
}

function fixFor(evidence: Evidence, role: string, windows: boolean, isWrongType = false): string[] {
  const cluster = clusterName(evidence);
  const arn = role.startsWith('"') ? role : roleArn(evidence, role);
  // Paths are part of the principal of an access entry, and must not be in aws-auth.
  if (authenticationMode(evidence) === 'CONFIG_MAP')
    return [
      `eksctl create iamidentitymapping --cluster ${cluster} --arn ${arn.replace(/:role\/.*\//, ':role/')} --username 'system:node:{{EC2PrivateDNSName}}' --group system:bootstrappers --group system:nodes${windows ? ' --group eks:kube-proxy-windows' : ''}`,
      'Do not apply a complete aws-auth file: it replaces the mappings of everybody else.',
    ];
  return [
    ...(isWrongType ? [`aws eks delete-access-entry --cluster-name ${cluster} --principal-arn ${arn}`] : []),
    `aws eks create-access-entry --cluster-name ${cluster} --principal-arn ${arn} --type ${windows ? 'EC2_WINDOWS' : 'EC2_LINUX'}`,
    ...(authenticationMode(evidence) === undefined
      ? [
          `Where the authentication mode is CONFIG_MAP: eksctl create iamidentitymapping --cluster ${cluster} --arn ${arn} --username 'system:node:{{EC2PrivateDNSName}}' --group system:bootstrappers --group system:nodes`,
        ]
      : []),
  ];
}
