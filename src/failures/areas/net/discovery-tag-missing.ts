// Subnets or security groups are not tagged as the selector terms say.

import type { Evidence } from '../../evidence.ts';
import { clusterName } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, mapAt, textAt } from '../../fields.ts';
import { conditionItem, fieldItem, foundIn } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conditionOf, refOf, type Stored } from '../../objects.ts';

export const discoveryTagMissing: Failure = {
  id: 'net/discovery-tag-missing',
  severity: 'critical',
  symptom:
    'The node class is not ready: `SubnetSelector did not match any Subnets`, `SecurityGroupSelector did not match any SecurityGroups`.',
  cause: 'Subnets or security groups are not tagged as the selector terms of the node class say',
  fix: '`aws ec2 create-tags --resources … --tags Key=karpenter.sh/discovery,Value=<cluster>`.',
  needs: [kinds('EC2NodeClass')],
  signs: [
    {
      words: [
        'did not match any subnets',
        'did not match any securitygroups',
        'subnetsnotfound',
        'securitygroupsnotfound',
        'no subnets',
        'no security groups',
        'no subnets exist',
        'failed to resolve',
      ],
      pattern:
        /SubnetSelector did not match any Subnets|SecurityGroupSelector did not match any SecurityGroups|\bSubnetsNotFound\b|\bSecurityGroupsNotFound\b|no (?:subnets|security groups) (?:exist|found|matched|match)|failed to resolve (?:subnets|security groups)\b/i,
      where: ['log', 'cli', 'asked'],
      until: ['launched'],
    },
  ],
  fromText(sightings, evidence) {
    const isGroup = sightings.every(({ text }) => /security/i.test(text));
    return [
      foundIn(sightings, {
        summary: `No ${isGroup ? 'security group' : 'subnet'} matches the selector of the node class.`,
        fix: fixFor(evidence, isGroup ? 'security-group' : 'subnet', 'karpenter.sh/discovery', clusterName(evidence)),
      }),
    ];
  },
  check(evidence): Found[] {
    return evidence.objects.of('EC2NodeClass').flatMap((nodeClass): Found[] => {
      const failed = ['SubnetsReady', 'SecurityGroupsReady'].flatMap((type) => {
        const condition = conditionOf(nodeClass.object, type);
        return condition?.status === 'False' && /NotFound/.test(condition.reason) ? [condition] : [];
      });
      if (failed.length === 0) return [];
      const what = failed.map(({ type }) => (type === 'SubnetsReady' ? 'subnet' : 'security group'));
      const first = what[0] === 'subnet' ? 'subnet' : 'security-group';
      const [key, value] = tagOf(nodeClass, first) ?? ['karpenter.sh/discovery', clusterName(evidence)];
      const near = nearMisses(evidence, first, key, value);
      return [
        {
          confidence: 'certain',
          summary: `No ${what.join(' and no ')} matches the selector of EC2NodeClass ${nodeClass.name} (${key}=${value})${near === '' ? '' : `; ${near}`}.`,
          objects: [refOf(nodeClass)],
          evidence: [
            ...failed.map((condition) => conditionItem(nodeClass, condition)),
            fieldItem(nodeClass, 'selector', `${key}=${value}`),
          ],
          fix: what.flatMap((one) => fixFor(evidence, one === 'subnet' ? 'subnet' : 'security-group', key, value)),
          key: nodeClass.name,
        },
      ];
    });
  },
  explains: ['crd/nodepool-not-ready-because-nodeclass', 'scheduling/no-usable-nodepool'],
};

function tagOf({ object }: Stored, what: 'subnet' | 'security-group'): [string, string] | undefined {
  const field = what === 'subnet' ? 'subnetSelectorTerms' : 'securityGroupSelectorTerms';
  for (const term of listAt(object, 'spec', field))
    for (const [key, value] of Object.entries(mapAt(term, 'tags'))) return [key, String(value)];
  return undefined;
}

function nearMisses({ aws }: Evidence, what: string, key: string, value: string): string {
  const items = what === 'subnet' ? aws.items('ec2-describe-subnets') : aws.items('ec2-describe-security-groups');
  const others = items.flatMap(({ item }) =>
    listAt(item, 'Tags')
      .filter((tag) => textAt(tag, 'Key') === key && textAt(tag, 'Value') !== value)
      .map((tag) => textAt(tag, 'Value')),
  );
  return others.length === 0
    ? ''
    : `${others.length} ${what === 'subnet' ? 'subnets' : 'groups'} have the key with another value (${[...new Set(others)].join(', ')})`;
}

function fixFor(evidence: Evidence, what: 'subnet' | 'security-group', key: string, value: string): string[] {
  const [cluster] = evidence.aws.bodies('eks-describe-cluster');
  const vpc = mapAt(cluster?.item, 'resourcesVpcConfig');
  const ids =
    what === 'subnet'
      ? listAt(vpc, 'subnetIds').map(String)
      : [textAt(vpc, 'clusterSecurityGroupId')].filter((id) => id !== '');
  const name = clusterName(evidence);
  const query =
    what === 'subnet' ? 'cluster.resourcesVpcConfig.subnetIds[]' : 'cluster.resourcesVpcConfig.clusterSecurityGroupId';
  return [
    `aws ec2 create-tags --resources ${ids.length > 0 ? ids.join(' ') : `$(aws eks describe-cluster --name ${name} --query '${query}' --output text)`} --tags Key=${key},Value=${value}`,
  ];
}
