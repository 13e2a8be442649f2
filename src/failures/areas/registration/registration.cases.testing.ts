// Cases of registration/.
import { condition, type FailureCase, minutesAgo, now, object } from '../../case.testing.ts';

const nodeClass = (status: object = {}): object =>
  object('EC2NodeClass', 'default', {
    spec: { role: 'KarpenterNodeRole-prod', amiSelectorTerms: [{ alias: 'al2023@latest' }] },
    status,
  });
const claim = (minutes = 20, extra: object[] = []): object =>
  object('NodeClaim', 'default-kb85v', {
    metadata: { creationTimestamp: minutesAgo(minutes), labels: { 'karpenter.sh/nodepool': 'default' } },
    spec: { nodeClassRef: { name: 'default' } },
    status: {
      providerID: 'aws:///us-east-1a/i-01d1ff6c07a0e70f9',
      conditions: [
        condition('Launched', 'True', '', '', minutes),
        condition('Registered', 'Unknown', 'NodeNotFound', 'Node not registered with cluster', minutes),
        ...extra,
      ],
    },
  });
const withoutTaint = object('NodeClaim', 'default-v64qz', {
  metadata: { labels: { 'karpenter.sh/nodepool': 'default' } },
  spec: { nodeClassRef: { name: 'default' } },
  status: {
    providerID: 'aws:///us-east-1a/i-01d1ff6c07a0e70f9',
    conditions: [
      condition('Launched', 'True'),
      condition(
        'Registered',
        'False',
        'UnregisteredTaintNotFound',
        'Invariant violated, karpenter.sh/unregistered taint must be present on Karpenter-managed nodes',
      ),
    ],
  },
});
const awsAuth = (mapRoles: string): object => object('ConfigMap', 'aws-auth', { data: { mapRoles } }, 'kube-system');
const mapping = (arn: string, username = 'system:node:{{EC2PrivateDNSName}}'): string =>
  `- rolearn: ${arn}\n  username: ${username}\n  groups:\n    - system:bootstrappers\n    - system:nodes\n`;
const managed = mapping('arn:aws:iam::069057294951:role/aws-2026-eks-node-role');
const cluster = (mode: string, vpc: object = {}): object => ({
  cluster: {
    name: 'prod',
    arn: 'arn:aws:eks:us-east-1:069057294951:cluster/prod',
    accessConfig: { authenticationMode: mode },
    resourcesVpcConfig: { vpcId: 'vpc-1', clusterSecurityGroupId: 'sg-cluster', endpointPrivateAccess: true, ...vpc },
  },
});
const running = { Reservations: [{ Instances: [{ InstanceId: 'i-01d1ff6c07a0e70f9', State: { Name: 'running' } }] }] };
const own = 'arn:aws:iam::069057294951:role/KarpenterNodeRole-prod';
const groups = (from: string): object => ({
  SecurityGroups: [
    {
      GroupId: 'sg-cluster',
      IpPermissions: [{ IpProtocol: 'tcp', FromPort: 443, ToPort: 443, UserIdGroupPairs: [{ GroupId: from }] }],
    },
  ],
});
const kubelet = `I0606 19:33:03.796478 3214 kubelet_node_status.go:73] "Attempting to register node" node="ip-10-150-127-198.ec2.internal"
E0606 19:33:03.828406 3214 kubelet_node_status.go:96] "Unable to register node with API server" err="Unauthorized" node="ip-10-150-127-198.ec2.internal"
I0606 19:33:04.623042 3214 csi_plugin.go:880] Failed to contact API server when waiting for CSINode publishing: Unauthorized
`;
const routes = {
  RouteTables: [
    {
      VpcId: 'vpc-1',
      Associations: [{ SubnetId: 'subnet-1' }],
      Routes: [{ DestinationCidrBlock: '10.0.0.0/16', GatewayId: 'local' }],
    },
  ],
};

export const registrationCases: readonly FailureCase[] = [
  {
    id: 'registration/node-role-not-mapped',
    name: 'a mapping for the managed nodes only',
    now,
    objects: [nodeClass(), claim(), awsAuth(managed)],
    confidence: 'likely',
    fix: ['KarpenterNodeRole-prod'],
  },
  {
    id: 'registration/node-role-not-mapped',
    name: 'three pieces of evidence',
    now,
    objects: [nodeClass(), claim(), awsAuth(managed)],
    aws: {
      'eks-describe-cluster': cluster('API_AND_CONFIG_MAP'),
      'eks-list-access-entries': { accessEntries: ['arn:aws:iam::069057294951:role/admin'] },
      'ec2-describe-instances': running,
    },
    confidence: 'certain',
    fix: [`aws eks create-access-entry --cluster-name prod --principal-arn ${own} --type EC2_LINUX`],
  },
  {
    id: 'registration/node-role-not-mapped',
    name: 'an entry of the wrong type',
    now,
    objects: [nodeClass(), claim()],
    aws: {
      'eks-describe-cluster': cluster('API'),
      'eks-list-access-entries': { accessEntries: [own] },
      'eks-describe-access-entry-x': { accessEntry: { principalArn: own, type: 'STANDARD' } },
    },
    fix: ['delete-access-entry', 'EC2_LINUX'],
  },
  {
    id: 'registration/node-role-not-mapped',
    name: 'a role with a path in aws-auth',
    now,
    objects: [nodeClass(), claim(), awsAuth(mapping('arn:aws:iam::069057294951:role/teams/a/KarpenterNodeRole-prod'))],
    aws: { 'eks-describe-cluster': cluster('CONFIG_MAP') },
    confidence: 'certain',
    fix: ['eksctl create iamidentitymapping --cluster prod'],
  },
  {
    id: 'registration/node-role-not-mapped',
    name: 'a kubelet that is refused',
    texts: { 'nodes/i-01d1ff6c07a0e70f9/kubelet.log': kubelet },
    confidence: 'certain',
  },
  {
    id: 'registration/node-role-not-mapped',
    name: 'a name that is not its own',
    text: 'E1 kubelet_node_status.go:92] "Unable to register node with API server" err="nodes \\"ip-10-0-0-1.ec2.internal\\" is forbidden: node \\"i-0abc\\" is not allowed to modify node \\"ip-10-0-0-1.ec2.internal\\""',
  },
  {
    id: 'registration/node-role-not-mapped',
    name: 'a kubelet that is refused first and registers then',
    nearMiss: true,
    texts: {
      'nodes/i-01d1ff6c07a0e70f9/kubelet.log': `${kubelet}I0606 19:33:13.828406 3214 kubelet_node_status.go:76] "Successfully registered node" node="ip-10-150-127-198.ec2.internal"\n`,
    },
  },
  {
    id: 'registration/node-role-not-mapped',
    name: 'a line of the start of a node that is Ready now',
    nearMiss: true,
    now,
    objects: [
      object('Node', 'ip-10-150-127-198.ec2.internal', {
        spec: { providerID: 'aws:///us-east-1a/i-01d1ff6c07a0e70f9' },
        status: { conditions: [condition('Ready', 'True')] },
      }),
    ],
    texts: { 'nodes/i-01d1ff6c07a0e70f9/console.txt': kubelet },
  },
  {
    id: 'registration/node-role-not-mapped',
    name: 'a claim that was launched a minute ago, with an entry',
    nearMiss: true,
    now,
    objects: [nodeClass(), claim(1)],
    aws: { 'eks-describe-cluster': cluster('API'), 'eks-list-access-entries': { accessEntries: [own] } },
  },
  {
    id: 'registration/api-server-unreachable',
    name: 'a kubelet that times out',
    texts: {
      'nodes/i-01d1ff6c07a0e70f9/journal.txt':
        'Apr 23 09:05:42 ip-10-0-0-1 kubelet[3214]: E0423 09:05:42.000000 3214 kubelet_node_status.go:96] "Unable to register node with API server" err="Post \\"https://ABCDEF0123456789.gr7.us-east-1.eks.amazonaws.com/api/v1/nodes\\": dial tcp 10.0.1.5:443: i/o timeout" node="ip-10-0-0-1.ec2.internal"',
    },
    confidence: 'certain',
  },
  {
    id: 'registration/api-server-unreachable',
    name: 'groups that do not admit the nodes',
    objects: [nodeClass({ securityGroups: [{ id: 'sg-node' }] })],
    aws: { 'eks-describe-cluster': cluster('API'), 'ec2-describe-security-groups': groups('sg-other') },
    confidence: 'certain',
    fix: ['--group-id sg-cluster', '--source-group sg-node'],
  },
  {
    id: 'registration/api-server-unreachable',
    name: 'an endpoint of a deleted cluster',
    text: 'kubelet[99]: E0101 "Unable to register node with API server" err="Post \\"https://OLD0123456789.gr7.us-east-1.eks.amazonaws.com/api/v1/nodes\\": dial tcp: lookup OLD0123456789.gr7.us-east-1.eks.amazonaws.com on 10.0.0.2:53: no such host"',
    fix: ['clusterEndpoint'],
  },
  {
    id: 'registration/api-server-unreachable',
    name: 'groups that admit the nodes',
    nearMiss: true,
    objects: [nodeClass({ securityGroups: [{ id: 'sg-node' }] })],
    aws: { 'eks-describe-cluster': cluster('API'), 'ec2-describe-security-groups': groups('sg-node') },
  },
  {
    id: 'registration/api-server-unreachable',
    name: 'a refusal',
    nearMiss: true,
    instead: 'registration/node-role-not-mapped',
    text: kubelet,
  },
  {
    id: 'registration/kubelet-never-posted-status',
    name: 'a node without a heartbeat',
    now,
    objects: [
      object('Node', 'ip-10-10-11-198', {
        status: {
          conditions: [condition('Ready', 'Unknown', 'NodeStatusNeverUpdated', 'Kubelet never posted node status.')],
        },
      }),
    ],
    confidence: 'certain',
    fix: ['ip-10-10-11-198'],
  },
  {
    id: 'registration/kubelet-never-posted-status',
    name: 'a description of a node',
    text: 'Lease:              Failed to get lease: leases.coordination.k8s.io "ip-10-10-11-198.ap-southeast-1.compute.internal" not found\nConditions:\n  Ready            Unknown   Fri, 22 Apr 2022 15:37:34 +0000   Fri, 22 Apr 2022 15:38:34 +0000   NodeStatusNeverUpdated   Kubelet never posted node status.',
  },
  {
    id: 'registration/kubelet-never-posted-status',
    name: 'a kubelet that stopped later',
    nearMiss: true,
    now,
    objects: [
      object('Node', 'ip-10-10-11-198', {
        status: {
          conditions: [condition('Ready', 'Unknown', 'NodeStatusUnknown', 'Kubelet stopped posting node status.')],
        },
      }),
    ],
  },
  {
    id: 'registration/service-endpoints-unreachable',
    name: 'endpoints that refuse the nodes',
    objects: [nodeClass({ securityGroups: [{ id: 'sg-node' }] })],
    aws: {
      'ec2-describe-vpc-endpoints': {
        VpcEndpoints: [
          {
            VpcEndpointId: 'vpce-1',
            VpcEndpointType: 'Interface',
            VpcId: 'vpc-1',
            ServiceName: 'com.amazonaws.us-east-1.ecr.api',
            Groups: [{ GroupId: 'sg-cluster' }],
          },
        ],
      },
      'ec2-describe-security-groups': groups('sg-other'),
    },
    confidence: 'certain',
    fix: ['--source-group sg-node'],
  },
  {
    id: 'registration/service-endpoints-unreachable',
    name: 'a subnet without a way out',
    objects: [nodeClass({ subnets: [{ id: 'subnet-1' }] })],
    aws: {
      'eks-describe-cluster': cluster('API'),
      'ec2-describe-route-tables': routes,
      'ec2-describe-vpc-endpoints': { VpcEndpoints: [] },
    },
    fix: ['com.amazonaws.us-east-1.ecr.api', 'vpc-1'],
  },
  {
    id: 'registration/service-endpoints-unreachable',
    name: 'a bootstrap that times out',
    texts: {
      'nodes/i-01d1ff6c07a0e70f9/console.txt':
        '{"level":"fatal","caller":"nodeadm/main.go:42","msg":"Command failed","error":"operation error EC2: DescribeInstances, https response error StatusCode: 0, RequestID: , request send failed, Post \\"https://ec2.us-east-1.amazonaws.com/\\": dial tcp 10.0.3.4:443: i/o timeout"}',
    },
    confidence: 'likely',
  },
  {
    id: 'registration/service-endpoints-unreachable',
    name: 'a subnet with NAT',
    nearMiss: true,
    objects: [nodeClass({ subnets: [{ id: 'subnet-1' }] })],
    aws: {
      'eks-describe-cluster': cluster('API'),
      'ec2-describe-route-tables': {
        RouteTables: [
          {
            Associations: [{ SubnetId: 'subnet-1' }],
            Routes: [{ DestinationCidrBlock: '0.0.0.0/0', NatGatewayId: 'nat-1', State: 'active' }],
          },
        ],
      },
      'ec2-describe-vpc-endpoints': { VpcEndpoints: [] },
    },
  },
  {
    id: 'registration/undiagnosed-timeout',
    name: 'a claim without a node',
    now,
    objects: [nodeClass(), claim()],
    confidence: 'certain',
    fix: ['i-01d1ff6c07a0e70f9'],
  },
  {
    id: 'registration/undiagnosed-timeout',
    name: 'a listing of claims',
    text: 'NAME            TYPE         CAPACITY    ZONE         NODE   READY     AGE\ndefault-kb85v   t3a.xlarge   on-demand   us-east-1a          Unknown   8m36s',
  },
  {
    id: 'registration/undiagnosed-timeout',
    name: 'a claim of a minute ago',
    nearMiss: true,
    now,
    objects: [nodeClass(), claim(1)],
  },
  {
    id: 'registration/undiagnosed-timeout',
    name: 'a claim whose role is not mapped',
    nearMiss: true,
    instead: 'registration/node-role-not-mapped',
    now,
    objects: [nodeClass(), claim(), awsAuth(managed)],
    aws: { 'eks-describe-cluster': cluster('CONFIG_MAP') },
  },
  {
    id: 'registration/unregistered-taint-missing',
    name: 'a claim whose node joined without it',
    now,
    objects: [nodeClass(), withoutTaint],
    confidence: 'certain',
    fix: ['spec.userData of EC2NodeClass default', '--register-with-taints=karpenter.sh/unregistered:NoExecute'],
  },
  {
    id: 'registration/unregistered-taint-missing',
    name: 'the error of the controller',
    text: '{"level":"ERROR","time":"2024-08-21T12:03:10.958Z","logger":"controller","message":"Reconciler error","commit":"5bdf9c3","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"default-v64qz"},"error":"missing required startup taint, karpenter.sh/unregistered"}',
    confidence: 'certain',
  },
  {
    id: 'registration/unregistered-taint-missing',
    name: 'conditions as kubectl describes them',
    text: 'Conditions:\n  Last Transition Time:  2024-08-21T12:13:01Z\n  Message:               Invariant violated, karpenter.sh/unregistered taint must be present on Karpenter-managed nodes\n  Reason:                UnregisteredTaintNotFound\n  Status:                False\n  Type:                  Registered',
  },
  {
    id: 'registration/unregistered-taint-missing',
    name: 'a claim whose node did not come at all',
    nearMiss: true,
    instead: 'registration/undiagnosed-timeout',
    now,
    objects: [nodeClass(), claim()],
  },
  {
    id: 'registration/unregistered-taint-missing',
    name: 'a node that still has the taint',
    nearMiss: true,
    text: 'Warning  FailedScheduling  0/3 nodes are available: 1 node(s) had untolerated taint {karpenter.sh/unregistered: }, 2 Insufficient cpu.',
  },
];
