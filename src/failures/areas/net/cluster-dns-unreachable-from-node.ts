// New nodes that cannot reach CoreDNS on the old ones.
import type { Evidence } from '../../evidence.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, textAt, textsAt } from '../../fields.ts';
import { fieldItem, foundIn } from '../../found.ts';
import { answer, anyOf, kinds } from '../../needs.ts';
import { type Group, isWithin, securityGroup } from '../../network-rules.ts';
import { labelsOf, refOf } from '../../objects.ts';

export const clusterDnsUnreachableFromNode: Failure = {
  id: 'net/cluster-dns-unreachable-from-node',
  severity: 'high',
  symptom: 'Pods on new nodes cannot resolve names; traffic to CoreDNS on other nodes is dropped.',
  cause: 'The security groups of the new nodes and of the old ones do not let DNS and pod traffic pass between them',
  fix: 'A rule that refers to the group itself, or a shared group; include the cluster security group.',
  needs: [
    kinds('EC2NodeClass'),
    answer('ec2-describe-security-groups'),
    anyOf(answer('ec2-describe-instances'), answer('eks-describe-cluster')),
  ],
  signs: [
    {
      words: [
        'lookup ',
        'temporary failure in name resolution',
        'could not resolve host',
        'eai_again',
        'contacting dns servers',
        'connection timed out; no servers could be reached',
        '#53: timed out',
      ],
      pattern:
        /lookup [\w.-]+(?:\.svc(?:\.cluster\.local)?)\.? on [\d.]+:53: (?:read udp .{0,60}: )?i\/o timeout|connection timed out; no servers could be reached|communications error to [\d.]+#53: timed out|getaddrinfo\(host='?[\w.-]+'?.{0,20}\): Timeout while contacting DNS servers|getaddrinfo EAI_AGAIN [\w.-]+\.svc/i,
      unless: /\bkarpenter\b(?! nodes?\b)|sts\.|ec2\.|kubelet/i,
      confidence: 'likely',
      until: ['podStarted'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: "Pods do not reach the cluster's DNS: security groups between the nodes drop it.",
      fix: fixFor('"$NODE_GROUP"', '"$CLUSTER_GROUP"'),
    }),
  ],
  check: (evidence) => [...closedGroups(evidence), ...strangeAddresses(evidence)],
};

function closedGroups(evidence: Evidence): Found[] {
  const seen = groupsOfOtherNodes(evidence);
  // Node groups of EKS have the group of the cluster, unless a launch template says otherwise.
  const others = seen.length > 0 ? seen : groupOfNodeGroups(evidence);
  if (others.length === 0) return [];
  return evidence.objects.of('EC2NodeClass').flatMap((nodeClass): Found[] => {
    const own = listAt(nodeClass.object, 'status', 'securityGroups').map((one) => textAt(one, 'id'));
    const shared = own
      .filter((id) => others.includes(id))
      .flatMap((id): Group[] => [securityGroup(evidence, id)].filter((one) => one !== undefined));
    const targets = others.flatMap((id): Group[] => [securityGroup(evidence, id)].filter((one) => one !== undefined));
    if (own.length === 0 || targets.length < others.length) return [];
    if (letsDns([...targets, ...shared], own)) return [];
    return [
      {
        confidence: seen.length > 0 ? 'certain' : 'likely',
        summary: `Nodes of EC2NodeClass ${nodeClass.name} (${own.join(', ')}) cannot reach port 53 of the other nodes (${others.join(', ')}), where CoreDNS runs.`,
        objects: [refOf(nodeClass)],
        evidence: [
          fieldItem(nodeClass, 'status.securityGroups', own.join(', ')),
          ...targets.map(({ id, source }) => ({ source, text: `${id}: no rule for UDP 53 from ${own.join(', ')}` })),
        ],
        fix: fixFor(own[0] ?? '', others[0] ?? ''),
        key: nodeClass.name,
      },
    ];
  });
}

/** Node-local caches listen there. */
const isLinkLocal = (address: string): boolean => /^(?:169\.254\.|fe80:)/i.test(address);

/** An address of DNS that a class gives its nodes and that is none of this cluster: that of another cluster, most often. */
function strangeAddresses(evidence: Evidence): Found[] {
  const cluster = evidence.aws.bodies('eks-describe-cluster')[0];
  const range = textAt(cluster?.item, 'kubernetesNetworkConfig', 'serviceIpv4Cidr');
  if (cluster === undefined || !range.includes('/')) return [];
  const base = range.split('/')[0]?.replace(/\d+$/, '10') ?? '';
  return evidence.objects.of('EC2NodeClass').flatMap((nodeClass): Found[] => {
    const strange = textsAt(nodeClass.object, 'spec', 'kubelet', 'clusterDNS').filter(
      (address) => !isLinkLocal(address) && !address.includes(':') && !isWithin(address, range),
    );
    if (strange.length === 0) return [];
    return [
      {
        // Someone may run a resolver of their own there.
        confidence: 'likely',
        summary: `EC2NodeClass ${nodeClass.name} gives its nodes ${strange.join(', ')} for DNS, which is not in the service range ${range} of the cluster: pods will not resolve names of the cluster.`,
        objects: [refOf(nodeClass)],
        evidence: [
          fieldItem(nodeClass, 'spec.kubelet.clusterDNS', strange.join(', ')),
          { source: cluster.source, text: `serviceIpv4Cidr ${range}` },
        ],
        fix: [
          `kubectl patch ec2nodeclass ${nodeClass.name} --type=merge -p '{"spec":{"kubelet":{"clusterDNS":["${base}"]}}}'  # kubectl -n kube-system get service kube-dns shows the address; without the field it is found by itself`,
        ],
        key: nodeClass.name,
      },
    ];
  });
}

/** Groups of instances that no pool manages. */
function groupsOfOtherNodes({ aws }: Evidence): string[] {
  const ids = aws.items('ec2-describe-instances').flatMap(({ item }) =>
    listAt(item, 'Instances')
      .filter(
        (one) =>
          !listAt(one, 'Tags').some((tag) => textAt(tag, 'Key') === 'karpenter.sh/nodepool') &&
          listAt(one, 'Tags').some((tag) => /^(kubernetes\.io\/cluster\/|eks:nodegroup-name)/.test(textAt(tag, 'Key'))),
      )
      .flatMap((one) => listAt(one, 'SecurityGroups').map((group) => textAt(group, 'GroupId'))),
  );
  return [...new Set(ids)];
}

function groupOfNodeGroups({ objects, aws }: Evidence): string[] {
  const hasGroups = objects
    .of('Node')
    .some(({ object }) => textAt(labelsOf(object), 'eks.amazonaws.com/nodegroup') !== '');
  const group = textAt(aws.bodies('eks-describe-cluster')[0]?.item, 'resourcesVpcConfig', 'clusterSecurityGroupId');
  return hasGroups && group !== '' ? [group] : [];
}

function letsDns(groups: readonly Group[], callers: readonly string[]): boolean {
  return groups.some(({ rules }) =>
    rules.some((rule) => {
      const protocol = textAt(rule, 'IpProtocol');
      const isDns =
        protocol === '-1' ||
        (['udp', '17'].includes(protocol) &&
          Number(textAt(rule, 'FromPort') || 0) <= 53 &&
          Number(textAt(rule, 'ToPort') || 65_535) >= 53);
      const isFrom =
        listAt(rule, 'IpRanges').length > 0 ||
        listAt(rule, 'PrefixListIds').length > 0 ||
        listAt(rule, 'UserIdGroupPairs').some((pair) => callers.includes(textAt(pair, 'GroupId')));
      return isDns && isFrom;
    }),
  );
}

const fixFor = (from: string, to: string): string[] => [
  `aws ec2 authorize-security-group-ingress --group-id ${to} --ip-permissions 'IpProtocol=-1,UserIdGroupPairs=[{GroupId=${from}}]'`,
  `aws ec2 authorize-security-group-ingress --group-id ${from} --ip-permissions 'IpProtocol=-1,UserIdGroupPairs=[{GroupId=${to}}]'`,
];
