// The kubelet cannot reach the API server: groups, routes, or an address that is not (or no longer) the cluster's.
import { unregisteredClaims } from '../../claims.ts';
import type { Evidence } from '../../evidence.ts';
import { clusterName, controllerDeployments, releaseNamespace, settingOf } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { answer, kinds } from '../../needs.ts';
import { addressesOf, admits, apiServerGroups, hasWayOut, securityGroup } from '../../network-rules.ts';
import { refOf } from '../../objects.ts';

const endpoint = String.raw`[\w.-]*\.(?:eks\.amazonaws\.com(?:\.cn)?|eks\.api\.aws)`;
const trouble = String.raw`(?:i\/o timeout|no such host|connection refused|network is unreachable|no route to host|x509: [^"]{0,120}|TLS handshake timeout|context deadline exceeded|Client\.Timeout exceeded|connection timed out|certificate signed by unknown authority)`;

export const apiServerUnreachable: Failure = {
  id: 'registration/api-server-unreachable',
  severity: 'critical',
  symptom: 'The node never registers, or is NotReady; the kubelet times out to the endpoint of the API server.',
  cause:
    'Security groups, routes or the access to the endpoint do not let the node reach the API server, or CLUSTER_ENDPOINT is that of another cluster',
  fix: 'Attach the cluster security group or open 443 from the nodes to the control plane and 10250 back; enable the private endpoint or give the nodes a way out; correct or remove `settings.clusterEndpoint`.',
  needs: [kinds('EC2NodeClass'), answer('eks-describe-cluster'), answer('ec2-describe-security-groups')],
  signs: [
    {
      words: ['.eks.amazonaws.com', '.eks.api.aws'],
      pattern: new RegExp(`(?<host>${endpoint})(?::443)?\\b.{0,260}${trouble}`, 'i'),
      unless:
        /Unable to connect to the server|The connection to the server|kubectl|\/\/oidc\.eks|helm|Error: Kubernetes cluster unreachable/i,
      where: ['node', 'asked', 'log'],
      until: ['registered', 'nodeReady'],
      atLeast: 1,
    },
    {
      words: ['unable to register node'],
      pattern: new RegExp(`Unable to register node\\b.{0,300}${trouble}`, 'i'),
      until: ['registered', 'nodeReady'],
    },
  ],
  fromText(sightings, evidence) {
    const host = sightings.map(({ groups }) => groups['host']).find((one) => one !== undefined);
    const isWrong = sightings.some(({ text, around }) =>
      /no such host|x509|unknown authority/.test(`${text} ${around}`),
    );
    return [
      {
        ...foundIn(sightings, {
          summary: isWrong
            ? `The nodes call an API server that is not this cluster's${host === undefined ? '' : ` (${host})`}: the endpoint or its certificate is stale or wrong.`
            : `The kubelet does not reach the API server${host === undefined ? '' : ` ${host}`}: groups, routes or endpoint access are in the way. This is not a missing permission.`,
          fix: fixFor(evidence, isWrong),
        }),
        objects: refsOf(unregisteredClaims(evidence)),
      },
    ];
  },
  check(evidence): Found[] {
    return [...closedGroups(evidence), ...noWay(evidence), ...staleEndpoint(evidence)];
  },
  // A group that lets nothing of the nodes in lets no DNS in either.
  explains: [
    'net/cluster-dns-unreachable-from-node',
    'registration/undiagnosed-timeout',
    'init/cni-not-initialised',
    'registration/kubelet-never-posted-status',
  ],
};

function closedGroups(evidence: Evidence): Found[] {
  const ids = apiServerGroups(evidence);
  const groups = ids.flatMap((id) => securityGroup(evidence, id) ?? []);
  if (ids.length === 0 || groups.length < ids.length) return [];
  return evidence.objects.of('EC2NodeClass').flatMap((nodeClass): Found[] => {
    const own = listAt(nodeClass.object, 'status', 'securityGroups').map((one) => textAt(one, 'id'));
    if (own.length === 0 || admits(groups, 443, own, addressesOf(evidence, own))) return [];
    return [
      {
        confidence: 'certain',
        summary: `No security group of the API server (${ids.join(', ')}) admits port 443 from the nodes of EC2NodeClass ${nodeClass.name} (${own.join(', ')}).`,
        objects: [refOf(nodeClass)],
        evidence: [
          ...groups.map(({ source, id, rules }) => ({
            source,
            text: `${id}: ${rules.length} rules, none for 443 from ${own.join(', ')}`,
          })),
          fieldItem(nodeClass, 'status.securityGroups', own.join(', ')),
        ],
        fix: [
          `aws ec2 authorize-security-group-ingress --group-id ${ids[0]} --protocol tcp --port 443 --source-group ${own[0]}`,
          `aws ec2 authorize-security-group-ingress --group-id ${own[0]} --protocol tcp --port 10250 --source-group ${ids[0]}`,
          `Or select the cluster security group ${ids[0]} in spec.securityGroupSelectorTerms of ${nodeClass.name}.`,
        ],
        key: nodeClass.name,
      },
    ];
  });
}

/** A public endpoint alone, and subnets from which nothing leads out. */
function noWay(evidence: Evidence): Found[] {
  const [cluster] = evidence.aws.bodies('eks-describe-cluster');
  if (cluster === undefined || textAt(cluster.item, 'resourcesVpcConfig', 'endpointPrivateAccess') !== 'false')
    return [];
  const vpc = textAt(cluster.item, 'resourcesVpcConfig', 'vpcId');
  return evidence.objects.of('EC2NodeClass').flatMap((nodeClass): Found[] => {
    const shut = listAt(nodeClass.object, 'status', 'subnets')
      .map((one) => textAt(one, 'id'))
      .filter((id) => hasWayOut(evidence, id, vpc) === false);
    if (shut.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `The API server has only a public endpoint, and the subnets ${shut.join(', ')} of EC2NodeClass ${nodeClass.name} have no way out.`,
        objects: [refOf(nodeClass)],
        evidence: [
          { source: cluster.source, text: 'endpointPrivateAccess: false' },
          ...shut.map((id) => ({
            source: evidence.aws.of('ec2-describe-route-tables')[0]?.source ?? '',
            text: `${id} has no default route`,
          })),
        ],
        fix: [
          `aws eks update-cluster-config --name ${clusterName(evidence)} --resources-vpc-config endpointPrivateAccess=true`,
        ],
        key: `${nodeClass.name} routes`,
      },
    ];
  });
}

function staleEndpoint(evidence: Evidence): Found[] {
  const [cluster] = evidence.aws.bodies('eks-describe-cluster');
  const real = textAt(cluster?.item, 'endpoint').toLowerCase();
  return controllerDeployments(evidence).flatMap((deployment): Found[] => {
    const set = settingOf(deployment, 'CLUSTER_ENDPOINT') ?? '';
    if (real === '' || set === '' || set.toLowerCase().replace(/\/$/, '') === real) return [];
    return [
      {
        confidence: 'certain',
        summary: `CLUSTER_ENDPOINT of the controller is ${set}, but the endpoint of the cluster is ${real}: nodes get the endpoint of another API server.`,
        objects: [refOf(deployment)],
        evidence: [
          fieldItem(deployment, 'CLUSTER_ENDPOINT', set),
          { source: cluster?.source ?? '', text: `endpoint: ${real}` },
        ],
        fix: fixFor(evidence, true),
      },
    ];
  });
}

function fixFor(evidence: Evidence, isWrong: boolean): string[] {
  const cluster = clusterName(evidence);
  if (isWrong)
    return [
      `helm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter --namespace ${releaseNamespace(evidence)} --reuse-values --set settings.clusterEndpoint=$(aws eks describe-cluster --name ${cluster} --query cluster.endpoint --output text)  # or leave it empty: it is looked up`,
    ];
  return [
    `aws eks describe-cluster --name ${cluster} --query cluster.resourcesVpcConfig  # clusterSecurityGroupId must admit 443 from the nodes' groups; endpointPrivateAccess or a way out of the subnets`,
    "Select the cluster's security group in spec.securityGroupSelectorTerms of the EC2NodeClass, or add rules for 443 to it and for 10250 back.",
  ];
}
