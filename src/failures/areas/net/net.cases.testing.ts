// Cases of net/.
import { condition, type FailureCase, object } from '../../case.testing.ts';

const sandbox =
  'time=2023-06-12T19:18:15Z type=Warning reason=FailedCreatePodSandBox from=kubelet message=Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "0f46": plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container';
const cni = (...env: [string, string][]): object =>
  object(
    'DaemonSet',
    'aws-node',
    {
      spec: {
        template: { spec: { containers: [{ name: 'aws-node', env: env.map(([name, value]) => ({ name, value })) }] } },
      },
    },
    'kube-system',
  );
const nodeClass = (spec: object, status: object = {}): object =>
  object('EC2NodeClass', 'default', { spec: { amiSelectorTerms: [{ alias: 'al2023@latest' }], ...spec }, status });
const pool = object('NodePool', 'default', {
  spec: {
    template: {
      spec: {
        nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
        requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['t3.medium'] }],
      },
    },
  },
});
const controller = (...env: [string, string][]): object =>
  object(
    'Deployment',
    'karpenter',
    {
      metadata: { labels: { 'app.kubernetes.io/name': 'karpenter' } },
      spec: {
        template: {
          spec: {
            containers: [
              {
                name: 'controller',
                env: env.map(([name, value]) => ({ name, value })),
                resources: { requests: { cpu: '1' } },
              },
            ],
          },
        },
      },
    },
    'kube-system',
  );
const subnet = (free: number, VpcId = 'vpc-1'): object => ({
  Subnets: [
    {
      SubnetId: 'subnet-1',
      VpcId,
      AvailabilityZone: 'us-east-1a',
      CidrBlock: '10.0.0.0/24',
      AvailableIpAddressCount: free,
      Tags: [{ Key: 'karpenter.sh/discovery', Value: 'other' }],
    },
  ],
});
const withSubnet = { subnets: [{ id: 'subnet-1', zone: 'us-east-1a' }] };
const eniPod = object(
  'Pod',
  'db-1',
  {
    spec: { nodeName: 'n1', containers: [{ resources: { limits: { 'vpc.amazonaws.com/pod-eni': '1' } } }] },
    status: { phase: 'Pending' },
  },
  'shop',
);
const node = (labels: object): object =>
  object('Node', 'n1', {
    metadata: { labels: { 'karpenter.sh/nodepool': 'default', ...labels } },
    status: { conditions: [condition('Ready', 'True')] },
  });
const groups = (from: string): object => ({
  SecurityGroups: [
    { GroupId: 'sg-old', IpPermissions: [{ IpProtocol: '-1', UserIdGroupPairs: [{ GroupId: from }] }] },
    { GroupId: 'sg-new', IpPermissions: [] },
  ],
});
const instances = {
  Reservations: [
    {
      Instances: [
        {
          InstanceId: 'i-1',
          Tags: [{ Key: 'eks:nodegroup-name', Value: 'system' }],
          SecurityGroups: [{ GroupId: 'sg-old' }],
        },
      ],
    },
  ],
};
const cluster = {
  cluster: { name: 'prod', resourcesVpcConfig: { vpcId: 'vpc-1', subnetIds: ['subnet-7', 'subnet-8'] } },
};
const terms = (value: string): object => ({ subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': value } }] });

const dnsClass = (...clusterDNS: string[]): object =>
  object('EC2NodeClass', 'default', { spec: { kubelet: { clusterDNS } } });

const serviceRange = {
  'eks-describe-cluster': {
    cluster: { name: 'prod', kubernetesNetworkConfig: { serviceIpv4Cidr: '172.20.0.0/16' } },
  },
};

export const netCases: readonly FailureCase[] = [
  {
    id: 'net/max-pods-above-ip-capacity',
    name: 'more pods than addresses',
    objects: [nodeClass({ kubelet: { maxPods: 110 } }), pool, cni()],
    confidence: 'certain',
    fix: ['ec2nodeclass default'],
  },
  { id: 'net/max-pods-above-ip-capacity', name: 'an event', text: sandbox, confidence: 'likely' },
  {
    id: 'net/max-pods-above-ip-capacity',
    name: 'prefixes',
    nearMiss: true,
    objects: [nodeClass({ kubelet: { maxPods: 110 } }), pool, cni(['ENABLE_PREFIX_DELEGATION', 'true'])],
  },
  {
    id: 'net/trunk-eni-reduces-density',
    name: 'pods without addresses and a trunk',
    objects: [nodeClass({}), cni(['ENABLE_POD_ENI', 'true']), controller()],
    texts: { 'logs/events.txt': sandbox },
    confidence: 'certain',
    fix: ['reservedENIs=1'],
  },
  {
    id: 'net/trunk-eni-reduces-density',
    name: 'a trunk that has not hurt yet',
    objects: [nodeClass({}), cni(['ENABLE_POD_ENI', 'true']), controller()],
    confidence: 'possible',
  },
  {
    id: 'net/trunk-eni-reduces-density',
    name: 'a reserved interface',
    nearMiss: true,
    objects: [nodeClass({}), cni(['ENABLE_POD_ENI', 'true']), controller(['RESERVED_ENIS', '1'])],
  },
  {
    id: 'net/subnet-addresses-exhausted',
    name: 'a full subnet',
    objects: [nodeClass({}, withSubnet)],
    aws: { 'ec2-describe-subnets': subnet(2) },
    confidence: 'certain',
  },
  {
    id: 'net/subnet-addresses-exhausted',
    name: 'a fleet error',
    text: "creating instance, with fleet error(s), InsufficientFreeAddressesInSubnet: There are not enough free addresses in subnet 'subnet-0abc' to satisfy the requested number of instances.",
  },
  {
    id: 'net/subnet-addresses-exhausted',
    name: 'a subnet with room',
    nearMiss: true,
    objects: [nodeClass({}, withSubnet)],
    aws: { 'ec2-describe-subnets': subnet(200) },
  },
  {
    id: 'net/security-groups-for-pods-slow-start',
    name: 'a node without the label',
    objects: [eniPod, node({}), pool],
    confidence: 'certain',
    fix: ['has-trunk-attached', 'nodepool default'],
  },
  {
    id: 'net/security-groups-for-pods-slow-start',
    name: 'an event of the scheduler',
    text: 'Warning  FailedScheduling  0/5 nodes are available: 5 Insufficient vpc.amazonaws.com/pod-eni.',
  },
  {
    id: 'net/security-groups-for-pods-slow-start',
    name: 'a node with the label',
    nearMiss: true,
    objects: [eniPod, node({ 'vpc.amazonaws.com/has-trunk-attached': 'true' }), pool],
  },
  {
    id: 'net/cluster-dns-unreachable-from-node',
    name: 'an address of DNS that is not of this cluster',
    objects: [dnsClass('10.100.0.10')],
    aws: serviceRange,
    confidence: 'likely',
    fix: ['"clusterDNS":["172.20.0.10"]'],
  },
  {
    id: 'net/cluster-dns-unreachable-from-node',
    name: 'an address of this cluster, or of a cache on the node',
    nearMiss: true,
    objects: [dnsClass('172.20.0.10', '169.254.20.10')],
    aws: serviceRange,
  },
  {
    id: 'net/cluster-dns-unreachable-from-node',
    name: 'groups that do not know each other',
    objects: [nodeClass({}, { securityGroups: [{ id: 'sg-new' }] })],
    aws: { 'ec2-describe-security-groups': groups('sg-old'), 'ec2-describe-instances': instances },
    confidence: 'certain',
    fix: ['--group-id sg-old', 'sg-new'],
  },
  {
    id: 'net/cluster-dns-unreachable-from-node',
    name: 'a pod that cannot resolve',
    text: 'dial tcp: lookup redis.shop.svc.cluster.local on 172.20.0.10:53: read udp 10.0.5.6:41234->172.20.0.10:53: i/o timeout',
  },
  {
    id: 'net/cluster-dns-unreachable-from-node',
    name: 'groups that let each other through',
    nearMiss: true,
    objects: [nodeClass({}, { securityGroups: [{ id: 'sg-new' }] })],
    aws: { 'ec2-describe-security-groups': groups('sg-new'), 'ec2-describe-instances': instances },
  },
  {
    id: 'net/discovery-tag-missing',
    name: 'a condition',
    objects: [
      nodeClass(terms('prod'), {
        conditions: [condition('SubnetsReady', 'False', 'SubnetsNotFound', 'SubnetSelector did not match any Subnets')],
      }),
    ],
    aws: { 'eks-describe-cluster': cluster, 'ec2-describe-subnets': subnet(100) },
    confidence: 'certain',
    fix: ['subnet-7 subnet-8', 'Value=prod'],
  },
  {
    id: 'net/discovery-tag-missing',
    name: 'a line of the log',
    text: 'ERROR controller.nodeclass no security groups exist given constraints [{karpenter.sh/discovery prod}]',
  },
  {
    id: 'net/discovery-tag-missing',
    name: 'a class whose lookups worked',
    nearMiss: true,
    objects: [nodeClass(terms('prod'), { ...withSubnet, conditions: [condition('SubnetsReady', 'True')] })],
  },
  {
    id: 'net/discovery-tag-not-cluster-scoped',
    name: 'a generic value',
    objects: [nodeClass(terms('true'), withSubnet)],
    cluster: { name: 'prod' },
    confidence: 'certain',
    fix: ['Value=prod'],
  },
  {
    id: 'net/discovery-tag-not-cluster-scoped',
    name: 'a subnet of another VPC',
    objects: [nodeClass(terms('prod'), withSubnet)],
    aws: { 'eks-describe-cluster': cluster, 'ec2-describe-subnets': subnet(100, 'vpc-2') },
  },
  {
    id: 'net/discovery-tag-not-cluster-scoped',
    name: 'a manifest',
    text: '  subnetSelectorTerms:\n    - tags:\n        karpenter.sh/discovery: "true"',
  },
  {
    id: 'net/discovery-tag-not-cluster-scoped',
    name: "the cluster's name",
    nearMiss: true,
    objects: [nodeClass(terms('prod'), withSubnet)],
    aws: { 'eks-describe-cluster': cluster, 'ec2-describe-subnets': subnet(100) },
  },
];
