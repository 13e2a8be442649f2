// The node role needs the worker, network and registry policies; SSM is only for debugging (tooling/no-shell-on-node).

import type { Answer } from '../../aws-answers.ts';
import type { Evidence } from '../../evidence.ts';
import { clusterName, nodeRoles } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { aroundOf, caught, foundIn, refsOf } from '../../found.ts';
import { answer, kinds } from '../../needs.ts';
import { annotationsOf } from '../../objects.ts';

interface Wanted {
  what: string;
  any: readonly string[];
}

const worker: Wanted = {
  what: 'AmazonEKSWorkerNodePolicy',
  any: ['AmazonEKSWorkerNodePolicy', 'AmazonEKSWorkerNodeMinimalPolicy'],
};
const registry: Wanted = {
  what: 'AmazonEC2ContainerRegistryPullOnly',
  any: [
    'AmazonEC2ContainerRegistryPullOnly',
    'AmazonEC2ContainerRegistryReadOnly',
    'AmazonEC2ContainerRegistryPowerUser',
    'AmazonEC2ContainerRegistryFullAccess',
  ],
};
const network: Wanted = { what: 'AmazonEKS_CNI_Policy', any: ['AmazonEKS_CNI_Policy', 'AmazonEKS_CNI_IPv6_Policy'] };

export const nodeRolePoliciesMissing: Failure = {
  id: 'iam/node-role-policies-missing',
  severity: 'high',
  symptom: 'Nodes stay NotReady (no network), cannot pull images, or cannot describe the cluster.',
  cause: 'The node role lacks the worker, network (CNI) or registry (ECR) policy',
  fix: '`aws iam attach-role-policy` for AmazonEKSWorkerNodePolicy, AmazonEC2ContainerRegistryPullOnly and AmazonEKS_CNI_Policy (unless the CNI has a role of its own).',
  needs: [kinds('EC2NodeClass'), answer('iam-list-attached-role-policies')],
  signs: [
    {
      words: ['not authorized to perform'],
      pattern:
        /(?:assumed-role\/(?<role>[\w+=,.@-]+)\/i-[0-9a-fx*]{3,17}).{0,80}not authorized to perform:? (?<action>(?:ec2|ecr|eks):\w+)/i,
      unless:
        /An error occurred \(|AssumeRole|unable to detect the cluster endpoint|failed to resolve cluster endpoint|"logger": ?"controller["./]|"commit": ?"[0-9a-f]{7}/i,
    },
    {
      words: ['ipamd', 'assignprivateipaddresses', 'networkinterface', 'unauthorizedoperation'],
      pattern:
        /(?:ipamd|aws-node|aws-cni|aws-vpc-cni|eniconfig).{0,300}(?:UnauthorizedOperation|AccessDenied|not authorized to perform:? (?<action>ec2:\w+))|(?:UnauthorizedOperation|not authorized).{0,200}ec2:(?:AssignPrivateIpAddresses|AssignIpv6Addresses|UnassignPrivateIpAddresses|CreateNetworkInterface|AttachNetworkInterface|ModifyNetworkInterfaceAttribute)/i,
    },
    {
      words: ['getauthorizationtoken', 'batchgetimage', 'dkr.ecr'],
      pattern:
        /not authorized to perform:? (?<action>ecr:(?:GetAuthorizationToken|BatchGetImage|GetDownloadUrlForLayer|BatchCheckLayerAvailability))|(?:failed to pull|pulling).{0,200}\.dkr\.ecr\.[\w.-]+amazonaws\.com\S*.{0,240}(?:403 Forbidden|401 Unauthorized|no basic auth credentials|pull access denied)/i,
      unless: /An error occurred \(|repository .{0,80}does not exist|assumed-role\/[\w+=,.@-]+\/(?!i-)/i,
      confidence: 'likely',
      until: ['podStarted', 'nodeReady'],
    },
    {
      words: ['describecluster', 'describe-cluster', 'describeinstances'],
      pattern:
        /(?:nodeadm|bootstrap|kubelet|cloud-init|early-boot-config|pluto).{0,240}(?:eks:DescribeCluster|DescribeCluster|describe-cluster|ec2:DescribeInstances|EC2: DescribeInstances).{0,200}(?:AccessDenied|UnauthorizedOperation|not authorized|403)/i,
      where: ['node', 'asked'],
    },
  ],
  fromText(sightings, evidence) {
    const action = caught(sightings, 'action') ?? aroundOf(sightings, /(ec2:(?:Assign|Attach|Create|Modify)\w+)/) ?? '';
    const role = caught(sightings, 'role') ?? nodeRoles(evidence)[0]?.role ?? '"$NODE_ROLE"';
    const wanted = action.startsWith('ecr:')
      ? registry
      : (action.startsWith('ec2:') && action !== 'ec2:DescribeInstances') || action === ''
        ? network
        : worker;
    const text = sightings.map(({ around }) => around).join(' ');
    const policy =
      action === '' && /dkr\.ecr/.test(text)
        ? registry
        : action === '' && /DescribeCluster|DescribeInstances/.test(text)
          ? worker
          : wanted;
    return [
      foundIn(sightings, {
        summary: `The node role ${role} may not call ${action || 'what nodes need'}: it lacks ${policy.what}.`,
        fix: attach(role, [policy]),
      }),
    ];
  },
  check(evidence): Found[] {
    return nodeRoles(evidence).flatMap(({ role, nodeClasses }): Found[] => {
      const attached = attachedTo(evidence, role);
      if (attached === undefined) return [];
      const isMissing = ({ any }: Wanted): boolean => !attached.names.some((name) => any.includes(name));
      const missing = [worker, registry, ...(hasOwnNetworkRole(evidence) ? [] : [network])].filter(isMissing);
      if (missing.length === 0) return [];
      const hasInline =
        evidence.aws.items('iam-list-role-policies').length > 0 ||
        attached.names.some((name) => !name.startsWith('Amazon'));
      return [
        {
          // A policy of the owner's may allow the same.
          confidence: hasInline ? 'likely' : 'certain',
          summary: `The node role ${role} lacks ${missing.map(({ what }) => what).join(', ')}.`,
          objects: refsOf(nodeClasses),
          evidence: [
            { source: attached.source, text: `attached to ${role}: ${attached.names.join(', ') || 'nothing'}` },
          ],
          fix: attach(role, missing),
          key: role,
        },
      ];
    });
  },
  explains: [
    'init/cni-not-initialised',
    'registration/undiagnosed-timeout',
    'ami/sandbox-image-pull-stuck',
    'init/never-initialised-never-removed',
  ],
};

function attach(role: string, wanted: readonly Wanted[]): string[] {
  return wanted.map(
    ({ what }) => `aws iam attach-role-policy --role-name ${role} --policy-arn arn:aws:iam::aws:policy/${what}`,
  );
}

/** The names of the policies attached to a role: by the file's name, or the only listing where there is only one role. */
export function attachedTo(evidence: Evidence, role: string): { names: string[]; source: string } | undefined {
  const answers = evidence.aws.of('iam-list-attached-role-policies');
  const named = answers.filter(
    ({ suffix }) => suffix === role || suffix.endsWith(role) || (suffix !== '' && role.endsWith(suffix)),
  );
  const plain = answers.filter((one) => /^(node|nodes|noderole|node-role)$/i.test(one.suffix) || isOfNodes(one));
  const found = named.length > 0 ? named : nodeRoles(evidence).length === 1 && plain.length === 1 ? plain : [];
  if (found.length === 0) return undefined;
  const names = evidence.aws
    .items('iam-list-attached-role-policies')
    .filter(({ source }) => found.some((one) => one.source === source))
    .map(({ item }) => textAt(item, 'PolicyName') || (textAt(item, 'PolicyArn').split('/').at(-1) ?? ''));
  return { names, source: found[0]?.source ?? '' };
}

/** A listing whose file does not name the role: one of the policies of nodes is in it, or none at all. */
function isOfNodes({ body, suffix }: Answer): boolean {
  const names = listAt(body, 'AttachedPolicies').map((item) => textAt(item, 'PolicyName'));
  if (names.length === 0) return suffix === '';
  return names.some(
    (name) =>
      [worker, registry, network].some(({ any }) => any.includes(name)) ||
      /^(?:AmazonSSMManagedInstanceCore|CloudWatchAgentServerPolicy)$/.test(name),
  );
}

function hasOwnNetworkRole(evidence: Evidence): boolean {
  const { objects, aws } = evidence;
  const account = objects.find('ServiceAccount', 'aws-node', 'kube-system');
  if (account !== undefined && textAt(annotationsOf(account.object), 'eks.amazonaws.com/role-arn') !== '') return true;
  if (aws.items('eks-list-pod-identity-associations').some(({ item }) => textAt(item, 'serviceAccount') === 'aws-node'))
    return true;
  // Another network plugin needs no policy of AWS.
  const daemons = objects.of('DaemonSet');
  return daemons.length > 0 && !daemons.some(({ name }) => name === 'aws-node') && clusterName(evidence) !== '';
}
