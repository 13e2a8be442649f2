// Nodes need AWS services before they can join: registry, EC2, STS, S3. In a private subnet these are endpoints in the VPC,
// and endpoints have security groups.

import type { Evidence } from '../../evidence.ts';
import { regionOf } from '../../facts.ts';
import type { EvidenceItem, Failure, Found } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { allCaught, fieldItem, foundIn } from '../../found.ts';
import { answer, kinds } from '../../needs.ts';
import { admits, type Group, hasWayOut, onlyVpc, routeTables, securityGroup } from '../../network-rules.ts';
import { refOf, type Stored } from '../../objects.ts';

const needed = ['ecr.api', 'ecr.dkr', 's3', 'sts', 'ec2'];

export const serviceEndpointsUnreachable: Failure = {
  id: 'registration/service-endpoints-unreachable',
  severity: 'high',
  symptom: 'It works in one region or VPC and not in another: nodes cannot reach ECR, EC2, S3 or STS.',
  cause: 'Endpoints of AWS services in the VPC are missing or do not admit the subnets or security groups of the nodes',
  fix: 'Add the endpoints (`ecr.api`, `ecr.dkr`, `s3`, `sts`, `ec2`) or an ingress rule for 443 from the node security group; or a NAT gateway.',
  needs: [kinds('EC2NodeClass'), answer('ec2-describe-vpc-endpoints'), answer('ec2-describe-route-tables')],
  signs: [
    {
      words: ['amazonaws.com'],
      pattern:
        /https:\/\/(?<service>api\.ecr|ecr|ec2|sts|s3|ssm|eks|sqs|iam|\d{12}\.dkr\.ecr)(?:[.-][\w-]+)*\.amazonaws\.com(?:\.cn)?\/?[^\s]{0,80}[":]{0,3} ?.{0,120}(?:dial tcp (?:[\d.]+|\[[\da-f:]+\]):443: (?:connect: )?(?:i\/o timeout|connection timed out|connection refused|no route)|dial tcp: i\/o timeout|dial tcp timeout|Connect timeout|connection timed out|context deadline exceeded|net\/http: request canceled)|(?:Connect timeout on endpoint URL|Could not connect to the endpoint URL): ["']?https:\/\/(?<service2>api\.ecr|ec2|sts|s3|ssm|eks)[.-]/i,
      // The pause image and prices are entries of their own; people's own tools are not nodes.
      unless: /pause|sandbox|pricing|lookup |kubectl|terraform|\/\/sts\.[\w.-]*\/?"?: dial tcp: i\/o timeout/i,
      where: ['node', 'log', 'asked'],
      confidence: 'likely',
      until: ['registered', 'nodeReady', 'controllerStarted', 'launched'],
    },
    // nodeadm asks EC2 about its instance and waits half a minute for each answer.
    {
      words: ['retrying request ec2/describeinstances'],
      pattern: /nodeadm.{0,80}retrying request (?<service>EC2)\/DescribeInstances, attempt (?:[5-9]|\d\d)\b/i,
      unless: /UnauthorizedOperation|not authorized|RequestLimitExceeded/i,
      where: ['node', 'asked'],
      confidence: 'likely',
      until: ['registered', 'nodeReady'],
    },
    // Bottlerocket asks EC2 and EKS for a node's own facts before it starts the kubelet.
    {
      words: ['timed out retrieving', 'failed with exit code', 'failed to start generate additional settings'],
      pattern:
        /(?:pluto|sundog)\b.{0,160}\b(?:Timed out|Timeout|deadline has elapsed).{0,120}?(?:from|to) (?<service>EC2|EKS|IMDS)\b|Timed out retrieving [\w -]{1,40} from (?<service2>EC2|EKS): deadline has elapsed/i,
      where: ['node', 'log', 'asked'],
      confidence: 'likely',
      until: ['registered', 'nodeReady'],
    },
  ],
  fromText(sightings, evidence) {
    const services = [...new Set([...allCaught(sightings, 'service'), ...allCaught(sightings, 'service2')])];
    return [
      foundIn(sightings, {
        summary: `Calls to ${services.join(', ')} time out from inside the VPC: there is no endpoint or NAT, or the endpoint does not admit the caller. A time-out is not a missing permission.`,
        fix: [
          `aws ec2 describe-vpc-endpoints --region ${regionOf(evidence)}  # a service without an endpoint needs one (or a NAT gateway); an endpoint's security group must admit 443 from the node security group`,
        ],
      }),
    ];
  },
  check(evidence): Found[] {
    return evidence.objects
      .of('EC2NodeClass')
      .flatMap((nodeClass) => [...refusing(nodeClass, evidence), ...missing(nodeClass, evidence)]);
  },
  explains: ['ami/sandbox-image-pull-stuck', 'registration/undiagnosed-timeout', 'init/cni-not-initialised'],
};

interface Endpoint {
  id: string;
  service: string;
  groups: Group[];
  isInterface: boolean;
  vpc: string;
  source: string;
}

function endpoints(evidence: Evidence): Endpoint[] {
  return evidence.aws.items('ec2-describe-vpc-endpoints').map(({ item, source }) => ({
    id: textAt(item, 'VpcEndpointId'),
    service: textAt(item, 'ServiceName').replace(/^(?:cn\.)?com\.amazonaws\.[\w-]+\./, ''),
    groups: listAt(item, 'Groups').flatMap((group) => securityGroup(evidence, textAt(group, 'GroupId')) ?? []),
    isInterface: textAt(item, 'VpcEndpointType') === 'Interface',
    vpc: textAt(item, 'VpcId'),
    source,
  }));
}

/** Endpoints with private names take all calls to their service; one that refuses the nodes is worse than none. */
function refusing(nodeClass: Stored, evidence: Evidence): Found[] {
  const own = listAt(nodeClass.object, 'status', 'securityGroups').map((one) => textAt(one, 'id'));
  if (own.length === 0) return [];
  const closed = endpoints(evidence).filter(
    ({ isInterface, groups, service }) =>
      isInterface && needed.includes(service) && groups.length > 0 && !admits(groups, 443, own),
  );
  if (closed.length === 0) return [];
  return [
    {
      confidence: 'certain',
      summary: `The endpoints for ${closed.map(({ service }) => service).join(', ')} do not admit port 443 from the nodes of EC2NodeClass ${nodeClass.name} (${own.join(', ')}).`,
      objects: [refOf(nodeClass)],
      evidence: [
        ...closed.map(({ source, id, service, groups }) => ({
          source,
          text: `${id} (${service}): groups ${groups.map((group) => group.id).join(', ')}`,
        })),
        fieldItem(nodeClass, 'status.securityGroups', own.join(', ')),
      ],
      fix: [...new Set(closed.flatMap(({ groups }) => groups.map((group) => group.id)))].map(
        (group) =>
          `aws ec2 authorize-security-group-ingress --group-id ${group} --protocol tcp --port 443 --source-group ${own[0]}`,
      ),
      key: nodeClass.name,
    },
  ];
}

function missing(nodeClass: Stored, evidence: Evidence): Found[] {
  if (evidence.aws.of('ec2-describe-vpc-endpoints').length === 0) return [];
  const vpc = textAt(evidence.aws.bodies('eks-describe-cluster')[0]?.item, 'resourcesVpcConfig', 'vpcId');
  const shut = listAt(nodeClass.object, 'status', 'subnets')
    .map((one) => textAt(one, 'id'))
    .filter((id) => hasWayOut(evidence, id, vpc) === false);
  const there = endpoints(evidence).filter((one) => vpc === '' || one.vpc === '' || one.vpc === vpc);
  const absent = needed.filter((service) => !there.some((one) => one.service === service));
  if (shut.length === 0 || absent.length === 0) return [];
  const region = regionOf(evidence);
  const items: EvidenceItem[] = [
    {
      source: evidence.aws.of('ec2-describe-vpc-endpoints')[0]?.source ?? '',
      text: `endpoints: ${there.map(({ service }) => service).join(', ') || 'none'}`,
    },
    ...shut.map((id) => ({
      source: evidence.aws.of('ec2-describe-route-tables')[0]?.source ?? '',
      text: `${id} has no default route`,
    })),
  ];
  return [
    {
      confidence: 'certain',
      summary: `The subnets ${shut.join(', ')} of EC2NodeClass ${nodeClass.name} have no way out, and the VPC has no endpoint for ${absent.join(', ')}.`,
      objects: [refOf(nodeClass)],
      evidence: items,
      fix: absent.map(
        (service) =>
          `aws ec2 create-vpc-endpoint --vpc-id ${vpc || onlyVpc(evidence.aws) || '"$VPC"'} --service-name com.amazonaws.${region}.${service} ${service === 's3' ? `--route-table-ids ${routeTables(evidence, vpc)}` : `--vpc-endpoint-type Interface --private-dns-enabled --subnet-ids ${shut.join(' ')}`}`,
      ),
      key: nodeClass.name,
    },
  ];
}
