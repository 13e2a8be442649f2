// A tag value that every cluster of the account shares.

import type { Evidence } from '../../evidence.ts';
import { clusterName } from '../../facts.ts';
import type { EvidenceItem, Failure, Found, Sighting } from '../../failure.ts';
import { listAt, mapAt, textAt } from '../../fields.ts';
import { caught, fieldItem, foundIn } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';
import { refOf, type Stored } from '../../objects.ts';

const generic = /^(true|yes|1|\*|enabled|shared|owned|karpenter)$/i;

export const discoveryTagNotClusterScoped: Failure = {
  id: 'net/discovery-tag-not-cluster-scoped',
  severity: 'high',
  symptom: "Nodes appear in another cluster's subnets or groups; unexpected drift.",
  cause: 'The value of the discovery tag is shared by every cluster of the account',
  fix: 'Use the name of the cluster as value.',
  needs: [anyOf(kinds('EC2NodeClass'), texts('cli'))],
  signs: [
    {
      words: ['karpenter.sh/discovery'],
      pattern:
        /karpenter\.sh\/discovery["']?[:=] ?["']?(?:true|\*|yes)["']?(?:\s|$|,|\}|\))|Key=karpenter\.sh\/discovery,Value=(?:true|\*)/i,
      where: ['asked', 'cli'],
    },
    // Selectors that found groups of one VPC and subnets of another.
    {
      words: ['belong to different networks', 'securitygroupsubnetvpcmismatch'],
      pattern:
        /(?<foreign>Security group (?<group>sg-\w+) and subnet (?<subnet>subnet-\w+) belong to different networks|SecurityGroupSubnetVPCMismatch)/i,
      confidence: 'likely',
      until: ['launched'],
    },
  ],
  fromText: (sightings, evidence) => [
    foundIn(sightings, {
      summary: sightings.every(({ groups }) => groups['foreign'] !== undefined)
        ? `The selectors of a node class match security groups and subnets of different VPCs${mismatchOf(sightings)}.`
        : 'The discovery tag has a value that any cluster of the account matches.',
      fix: fixFor(evidence, 'default'),
    }),
  ],
  check(evidence): Found[] {
    const vpc = textAt(evidence.aws.bodies('eks-describe-cluster')[0]?.item, 'resourcesVpcConfig', 'vpcId');
    return evidence.objects.of('EC2NodeClass').flatMap((nodeClass): Found[] => {
      const foreign = foreignTo(vpc, nodeClass, evidence);
      const shared = sharedTags(nodeClass);
      if (foreign.length === 0 && shared.length === 0) return [];
      return [
        {
          // A generic value is a trap; subnets of another VPC are one that was walked into.
          confidence: 'certain',
          summary:
            foreign.length > 0
              ? `EC2NodeClass ${nodeClass.name} selects what belongs to another VPC: ${foreign.map(({ text }) => text).join(', ')}.`
              : `EC2NodeClass ${nodeClass.name} selects by ${shared.join(', ')}, which resources of any cluster in the account may carry.`,
          objects: [refOf(nodeClass)],
          evidence: [...foreign, ...shared.map((tag) => fieldItem(nodeClass, 'selector', tag))],
          fix: fixFor(evidence, nodeClass.name),
          key: nodeClass.name,
        },
      ];
    });
  },
  explains: ['scheduling/launch-rejected-by-provider'],
};

function sharedTags({ object }: Stored): string[] {
  return ['subnetSelectorTerms', 'securityGroupSelectorTerms'].flatMap((field) =>
    listAt(object, 'spec', field).flatMap((term) =>
      Object.entries(mapAt(term, 'tags'))
        .filter(([key, value]) => key === 'karpenter.sh/discovery' && generic.test(String(value)))
        .map(([key, value]) => `${key}=${String(value)}`),
    ),
  );
}

function mismatchOf(sightings: readonly Sighting[]): string {
  const [group, subnet] = [caught(sightings, 'group'), caught(sightings, 'subnet')];
  return group === undefined || subnet === undefined ? '' : ` (${group}, ${subnet})`;
}

/** Subnets and security groups that were resolved, and are in another VPC than the cluster. */
function foreignTo(vpc: string, { object }: Stored, { aws }: Evidence): EvidenceItem[] {
  if (vpc === '') return [];
  const answers = [
    ['subnets', 'ec2-describe-subnets', 'SubnetId'],
    ['securityGroups', 'ec2-describe-security-groups', 'GroupId'],
  ] as const;
  return answers.flatMap(([field, operation, id]) => {
    const own = listAt(object, 'status', field).map((one) => textAt(one, 'id'));
    return aws
      .items(operation)
      .filter(({ item }) => own.includes(textAt(item, id)) && !['', vpc].includes(textAt(item, 'VpcId')))
      .map(({ item, source }) => ({ source, text: `${textAt(item, id)} is in ${textAt(item, 'VpcId')}` }));
  });
}

function fixFor(evidence: Evidence, name: string): string[] {
  const cluster = clusterName(evidence);
  return [
    `aws ec2 create-tags --resources $(aws eks describe-cluster --name ${cluster} --query 'cluster.resourcesVpcConfig.[subnetIds,[clusterSecurityGroupId]][]' --output text) --tags Key=karpenter.sh/discovery,Value=${cluster}`,
    `kubectl patch ec2nodeclass ${name} --type=merge -p '{"spec":{"subnetSelectorTerms":[{"tags":{"karpenter.sh/discovery":"${cluster.replaceAll('"', '')}"}}],"securityGroupSelectorTerms":[{"tags":{"karpenter.sh/discovery":"${cluster.replaceAll('"', '')}"}}]}}'`,
  ];
}
