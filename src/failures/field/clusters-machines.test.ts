// Healthy clusters in which machines, credentials or the network are broken: exactly the root causes are named.
import { test } from 'vitest';
import { condition, minutesAgo, object } from '../case.testing.ts';
import {
  add,
  event,
  expectCauses,
  type FieldCluster,
  get,
  healthy,
  unregistered,
  waitingPod,
} from './field.testing.ts';

const T = 'registration/undiagnosed-timeout';
const N = 'nodes/i-0ff10x100000/console.txt';
const withConsole = (text: string) => {
  const e = add(healthy({ nodes: 0 }), unregistered('default-x1'), waitingPod('w'));
  e.texts = { ...e.texts, [N]: text };
  return e;
};
test('names ami/swap-blocks-kubelet: swap', () => {
  expectCauses(
    withConsole(
      'kubelet[1]: "command failed" err="failed to run Kubelet: running with swap on is not supported, please disable swap!"\n',
    ),
    ['ami/swap-blocks-kubelet'],
    [T],
  );
});
test('names ami/eni-max-pods-entry-missing: eni', () => {
  expectCauses(
    withConsole('No entry for c9i.xlarge in /etc/eks/eni-max-pods.txt\n'),
    ['ami/eni-max-pods-entry-missing'],
    [T],
  );
});
test('names ami/containerd-config-missing: containerd cfg', () => {
  expectCauses(
    withConsole(
      "sed: can't read /etc/eks/containerd/containerd-config.toml: No such file or directory\nExited with error on line 469\n",
    ),
    ['ami/containerd-config-missing'],
    [T],
  );
});
test('names registration/node-role-not-mapped: unauth', () => {
  expectCauses(
    withConsole('"Unable to register node with API server" err="Unauthorized" node="ip-10"\n'),
    ['registration/node-role-not-mapped'],
    [T],
  );
});
test('names registration/api-server-unreachable: api unreachable', () => {
  expectCauses(
    withConsole(
      '"Unable to register node with API server" err="Post \\"https://ABC.gr7.us-east-1.eks.amazonaws.com/api/v1/nodes\\": dial tcp 10.0.0.1:443: i/o timeout"\n',
    ),
    ['registration/api-server-unreachable'],
    [T],
  );
});
test('names registration/undiagnosed-timeout: nodeadm warn only', () => {
  expectCauses(
    withConsole(
      "cloud-init: Unhandled unknown content-type (application/node.eks.aws) userdata: 'b'# Karpenter Generated No'...'\n",
    ),
    [T],
    [],
  );
});
test('names ami/sandbox-image-pull-stuck: sandbox', () => {
  expectCauses(
    withConsole('sandbox-image.service - pull sandbox image\n Active: activating (start) since Mon; 15min ago\n'),
    ['ami/sandbox-image-pull-stuck'],
    [T],
  );
});
test('names registration/service-endpoints-unreachable: endpoint refuses', () => {
  const e = withConsole(
    'pull-sandbox-image.sh[1]: + aws ecr get-login-password --region us-east-1\nConnect timeout on endpoint URL: "https://api.ecr.us-east-1.amazonaws.com/"\nsandbox-image.service: start operation timed out\n',
  );
  e.aws['ec2-describe-vpc-endpoints'] = {
    VpcEndpoints: [
      {
        VpcEndpointId: 'vpce-1',
        ServiceName: 'com.amazonaws.us-east-1.ecr.api',
        VpcEndpointType: 'Interface',
        VpcId: 'vpc-1',
        Groups: [{ GroupId: 'sg-vpce' }],
        PrivateDnsEnabled: true,
        SubnetIds: ['subnet-us-east-1a'],
      },
    ],
  };
  e.aws['ec2-describe-security-groups'].SecurityGroups.push({
    GroupId: 'sg-vpce',
    IpPermissions: [{ IpProtocol: 'tcp', FromPort: 443, ToPort: 443, UserIdGroupPairs: [{ GroupId: 'sg-other' }] }],
  });
  e.aws['ec2-describe-route-tables'] = {
    RouteTables: [
      {
        RouteTableId: 'rtb-1',
        VpcId: 'vpc-1',
        Associations: [{ Main: true }],
        Routes: [{ DestinationCidrBlock: '10.0.0.0/16', GatewayId: 'local' }],
      },
    ],
  };
  expectCauses(e, ['registration/service-endpoints-unreachable'], ['ami/sandbox-image-pull-stuck', T]);
});
test('names registration/service-endpoints-unreachable: no endpoints no nat', () => {
  const e = add(healthy({ nodes: 0 }), unregistered('default-x1'), waitingPod('w'));
  e.aws['ec2-describe-vpc-endpoints'] = { VpcEndpoints: [] };
  e.aws['ec2-describe-route-tables'] = {
    RouteTables: [
      {
        RouteTableId: 'rtb-1',
        VpcId: 'vpc-1',
        Associations: [{ Main: true }],
        Routes: [{ DestinationCidrBlock: '10.0.0.0/16', GatewayId: 'local' }],
      },
    ],
  };
  expectCauses(e, ['registration/service-endpoints-unreachable'], [T]);
});
test('names registration/undiagnosed-timeout: nat is there', () => {
  const e = add(healthy({ nodes: 0 }), unregistered('default-x1'), waitingPod('w'));
  e.aws['ec2-describe-vpc-endpoints'] = { VpcEndpoints: [] };
  e.aws['ec2-describe-route-tables'] = {
    RouteTables: [
      {
        RouteTableId: 'rtb-1',
        VpcId: 'vpc-1',
        Associations: [{ Main: true }],
        Routes: [
          { DestinationCidrBlock: '10.0.0.0/16', GatewayId: 'local' },
          { DestinationCidrBlock: '0.0.0.0/0', NatGatewayId: 'nat-1', State: 'active' },
        ],
      },
    ],
  };
  expectCauses(e, [T], []);
});
test('names registration/api-server-unreachable: closed sg', () => {
  const e = add(healthy({ nodes: 0 }), unregistered('default-x1'), waitingPod('w'));
  get(e, 'EC2NodeClass', 'default').status.securityGroups = [{ id: 'sg-node' }];
  e.aws['ec2-describe-security-groups'].SecurityGroups.push({
    GroupId: 'sg-node',
    IpPermissions: [{ IpProtocol: '-1', UserIdGroupPairs: [{ GroupId: 'sg-node' }] }],
  });
  expectCauses(e, ['registration/api-server-unreachable'], [T]);
});
test('names iam/node-role-trust-wrong: trust wrong', () => {
  const e = add(healthy({ nodes: 0 }), unregistered('default-x1'), waitingPod('w'));
  const r = e.aws['iam-get-role-KarpenterNodeRole-prod'].Role;
  r.AssumeRolePolicyDocument.Statement[0].Principal = { Service: 'eks.amazonaws.com' };
  expectCauses(e, ['iam/node-role-trust-wrong'], [T]);
});
test('names ami/unintended-image-selected: foreign image', () => {
  const e = add(healthy({ nodes: 0 }), unregistered('default-x1'), waitingPod('w'));
  const nc = get(e, 'EC2NodeClass', 'default');
  nc.spec.amiFamily = 'AL2023';
  nc.spec.amiSelectorTerms = [{ name: '*base*' }];
  nc.status.amis = [{ id: 'ami-0ff', name: 'Offseclab Base AMI' }];
  e.aws['ec2-describe-images'] = {
    Images: [{ ImageId: 'ami-0ff', Name: 'Offseclab Base AMI', OwnerId: '999988887777', RootDeviceName: '/dev/xvda' }],
  };
  expectCauses(e, ['ami/unintended-image-selected'], [T]);
});
test('names iam/ebs-kms-key-denied: kms', () => {
  const e = add(healthy({ nodes: 0 }), unregistered('default-x1'), waitingPod('w'));
  get(e, 'EC2NodeClass', 'default').spec.blockDeviceMappings = [
    {
      deviceName: '/dev/xvda',
      ebs: { encrypted: true, kmsKeyID: 'arn:aws:kms:us-east-1:111122223333:key/abc', volumeSize: '50Gi' },
    },
  ];
  e.aws['ec2-describe-instances'].Reservations = [
    {
      Instances: [
        {
          InstanceId: 'i-0ff10x100000',
          State: { Name: 'terminated' },
          StateReason: { Code: 'Client.InternalError', Message: 'Client.InternalError: Client error on launch' },
          Tags: [{ Key: 'karpenter.sh/nodepool', Value: 'default' }],
        },
      ],
    },
  ];
  expectCauses(e, ['iam/ebs-kms-key-denied'], [T]);
});
const ownPending = (msg: string) =>
  object(
    'Pod',
    'karpenter-5697769d6c-zzzzz',
    {
      metadata: {
        creationTimestamp: minutesAgo(60),
        labels: { 'app.kubernetes.io/name': 'karpenter' },
        ownerReferences: [{ kind: 'ReplicaSet', name: 'karpenter' }],
      },
      spec: { containers: [{ name: 'controller' }] },
      status: { phase: 'Pending', conditions: [condition('PodScheduled', 'False', 'Unschedulable', msg, 60)] },
    },
    'kube-system',
  );
const oneSystem = (e: FieldCluster) => {
  e.objects = e.objects.filter(
    (o) => !['system-1', 'karpenter-5697769d6c-cdwc1', 'coredns-5697769d6c-aaaa1'].includes(o.metadata.name),
  );
  const d = get(e, 'Deployment', 'karpenter');
  d.spec.template.spec.affinity = {
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }] },
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'karpenter.sh/nodepool', operator: 'DoesNotExist' }] }],
      },
    },
  };
  d.status = { replicas: 2, availableReplicas: 1, unavailableReplicas: 1 };
  return e;
};
test('names startup/replicas-exceed-unmanaged-nodes: replicas', () => {
  const e = add(
    oneSystem(healthy()),
    ownPending(
      "0/4 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 3 node(s) didn't match Pod's node affinity/selector.",
    ),
  );
  expectCauses(e, ['startup/replicas-exceed-unmanaged-nodes'], []);
});
test('names startup/replicas-exceed-unmanaged-nodes: replicas + selector log', () => {
  const e = add(
    oneSystem(healthy()),
    ownPending("0/4 nodes are available: 1 node(s) didn't match pod anti-affinity rules"),
  );
  e.texts['logs/karpenter.log'] +=
    '{"level":"ERROR","time":"2026-03-01T11:59:00.000Z","message":"could not schedule pod","Pod":{"name":"karpenter-5697769d6c-zzzzz","namespace":"kube-system"},"error":"incompatible with nodepool \\"default\\", incompatible requirements, label \\"role\\" does not have known values"}\n';
  get(e, 'Deployment', 'karpenter').spec.template.spec.nodeSelector = { role: 'system' };
  get(e, 'Node', 'system-0').metadata.labels.role = 'system';
  expectCauses(e, ['startup/replicas-exceed-unmanaged-nodes'], ['startup/controller-pod-selector-unsatisfied']);
});
test('names startup/controller-on-managed-node: on managed', () => {
  const e = healthy();
  const p = e.objects.find((o) => o.metadata.name === 'karpenter-5697769d6c-cdwc0');
  p.spec.nodeName = 'ip-10-0-0-1.ec2.internal';
  expectCauses(e, ['startup/controller-on-managed-node'], []);
});
test('names startup/controller-starved: oom', () => {
  const e = healthy();
  const p = e.objects.find((o) => o.metadata.name === 'karpenter-5697769d6c-cdwc0');
  p.status.containerStatuses = [
    {
      name: 'controller',
      ready: true,
      restartCount: 9,
      lastState: { terminated: { reason: 'OOMKilled', exitCode: 137, finishedAt: minutesAgo(10) } },
    },
  ];
  expectCauses(e, ['startup/controller-starved'], []);
});
test('names startup/cluster-endpoint-missing: endpoint panic in lastState', () => {
  const e = healthy();
  const d = get(e, 'Deployment', 'karpenter');
  d.status = { replicas: 2, unavailableReplicas: 2 };
  const p = e.objects.find((o) => o.metadata.name === 'karpenter-5697769d6c-cdwc0');
  p.status.containerStatuses = [
    {
      name: 'controller',
      ready: false,
      restartCount: 9,
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s' } },
      lastState: {
        terminated: {
          reason: 'Error',
          exitCode: 2,
          message: 'panic: "" not a valid CLUSTER_ENDPOINT URL\n\ngoroutine 1 [running]:',
        },
      },
    },
  ];
  expectCauses(e, ['startup/cluster-endpoint-missing'], []);
});
test('names startup/crd-missing-or-mismatched: crd missing', () => {
  const e = healthy();
  e.objects = e.objects.filter((o) => o.metadata.name !== 'nodeclaims.karpenter.sh');
  expectCauses(e, ['startup/crd-missing-or-mismatched'], []);
});
test('names startup/crd-missing-or-mismatched: crd old', () => {
  const e = healthy();
  for (const n of ['nodepools.karpenter.sh', 'nodeclaims.karpenter.sh', 'ec2nodeclasses.karpenter.k8s.aws'])
    get(e, 'CustomResourceDefinition', n).spec.versions = [{ name: 'v1beta1', served: true, storage: true }];
  expectCauses(e, ['startup/crd-missing-or-mismatched'], []);
});
test('names startup/sts-dns-timeout: dns refused', () => {
  const e = healthy();
  e.texts = {
    'logs/controller.log':
      '{"level":"ERROR","time":"2026-03-01T11:59:00.000Z","logger":"controller","message":"ec2 api connectivity check failed","error":"... Post \\"https://sts.us-east-1.amazonaws.com/\\": dial tcp: lookup sts.us-east-1.amazonaws.com on 172.20.0.10:53: read udp 10.0.1.1:1->172.20.0.10:53: read: connection refused"}\n',
  };
  expectCauses(e, ['startup/sts-dns-timeout'], []);
});
const irsa = (sub: string) => ({
  Role: {
    RoleName: 'KarpenterController',
    Arn: 'arn:aws:iam::111122223333:role/KarpenterController',
    AssumeRolePolicyDocument: {
      Statement: [
        {
          Effect: 'Allow',
          Principal: { Federated: 'arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/ABC' },
          Action: 'sts:AssumeRoleWithWebIdentity',
          Condition: {
            StringEquals: {
              'oidc.eks.us-east-1.amazonaws.com/id/ABC:sub': sub,
              'oidc.eks.us-east-1.amazonaws.com/id/ABC:aud': 'sts.amazonaws.com',
            },
          },
        },
      ],
    },
  },
});
const crash =
  '{"level":"ERROR","time":"2026-03-01T11:59:00.000Z","logger":"controller","message":"panic","error":"operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 403, RequestID: 1, api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity"}\n';
const oidc = (e: FieldCluster) => {
  e.aws['eks-describe-cluster'].cluster.identity = {
    oidc: { issuer: 'https://oidc.eks.us-east-1.amazonaws.com/id/ABC' },
  };
  e.aws['iam-list-open-id-connect-providers'] = {
    OpenIDConnectProviderList: [
      { Arn: 'arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/ABC' },
    ],
  };
  return e;
};
test('has nothing above low: irsa ok', () => {
  const e = oidc(healthy());
  e.aws['iam-get-role-KarpenterController'] = irsa('system:serviceaccount:kube-system:karpenter');
  expectCauses(e, [], []);
});
test('names iam/irsa-trust-subject-mismatch: irsa mismatch', () => {
  const e = oidc(healthy());
  e.aws['iam-get-role-KarpenterController'] = irsa('system:serviceaccount:karpenter:karpenter');
  e.texts['logs/karpenter.log'] = crash;
  expectCauses(e, ['iam/irsa-trust-subject-mismatch'], []);
});
test('names iam/oidc-provider-missing: oidc missing', () => {
  const e = oidc(healthy());
  e.aws['iam-get-role-KarpenterController'] = irsa('system:serviceaccount:kube-system:karpenter');
  e.aws['iam-list-open-id-connect-providers'].OpenIDConnectProviderList = [];
  e.texts['logs/karpenter.log'] = crash;
  expectCauses(e, ['iam/oidc-provider-missing'], ['iam/irsa-trust-subject-mismatch']);
});
test('names iam/pod-identity-association-wrong: pod identity other sa', () => {
  const e = healthy({ usesPodIdentity: true });
  e.aws['eks-list-pod-identity-associations'].associations = [
    { namespace: 'kube-system', serviceAccount: 'karpenter-sa', associationId: 'a-1' },
  ];
  expectCauses(e, ['iam/pod-identity-association-wrong'], []);
});
test('names iam/pod-identity-association-wrong: agent absent', () => {
  const e = healthy({ usesPodIdentity: true });
  e.objects = e.objects.filter((o) => o.metadata.name !== 'eks-pod-identity-agent');
  expectCauses(e, ['iam/pod-identity-association-wrong'], []);
});
test('names helm/namespace-moved: namespace moved', () => {
  const e = oidc(healthy());
  e.aws['iam-get-role-KarpenterController'] = irsa('system:serviceaccount:karpenter:karpenter');
  e.texts['logs/karpenter.log'] = crash;
  const crd = get(e, 'CustomResourceDefinition', 'nodeclaims.karpenter.sh');
  crd.spec.conversion = {
    strategy: 'Webhook',
    webhook: { clientConfig: { service: { name: 'karpenter', namespace: 'karpenter', port: 8443 } } },
  };
  add(
    e,
    object('Service', 'karpenter', { spec: { ports: [{ port: 8000 }] } }, 'kube-system'),
    object('Endpoints', 'karpenter', { subsets: [{ addresses: [{ ip: '1.1.1.1' }] }] }, 'kube-system'),
  );
  expectCauses(e, ['helm/namespace-moved'], ['iam/irsa-trust-subject-mismatch', 'crd/conversion-webhook-wrong-target']);
});
test('names crd/conversion-webhook-wrong-target: conversion', () => {
  const e = healthy();
  for (const n of ['nodepools.karpenter.sh', 'nodeclaims.karpenter.sh'])
    get(e, 'CustomResourceDefinition', n).spec.conversion = {
      strategy: 'Webhook',
      webhook: { clientConfig: { service: { name: 'karpenter', namespace: 'kube-system', port: 8443 } } },
    };
  add(e, object('Service', 'karpenter', { spec: { ports: [{ port: 8080 }] } }, 'kube-system'));
  e.texts['logs/kcm.log'] =
    'E0301 garbagecollector.go:1 unable to sync: failed to list *v1.PartialObjectMetadata: conversion webhook for karpenter.sh/v1beta1, Kind=NodePool failed: Post "https://karpenter.kube-system.svc:8443/?timeout=30s": no endpoints available for service "karpenter"\n';
  expectCauses(e, ['crd/conversion-webhook-wrong-target'], ['crd/conversion-webhook-blocks-garbage-collection']);
});
test('names crd/conversion-webhook-blocks-garbage-collection: conversion no endpoints', () => {
  const e = healthy();
  for (const n of ['nodepools.karpenter.sh'])
    get(e, 'CustomResourceDefinition', n).spec.conversion = {
      strategy: 'Webhook',
      webhook: { clientConfig: { service: { name: 'karpenter', namespace: 'kube-system', port: 8443 } } },
    };
  add(
    e,
    object('Service', 'karpenter', { spec: { ports: [{ port: 8443 }] } }, 'kube-system'),
    object('Endpoints', 'karpenter', {}, 'kube-system'),
  );
  expectCauses(e, ['crd/conversion-webhook-blocks-garbage-collection'], []);
});
test('names iam/imds-open-to-pods: imds', () => {
  const e = healthy();
  get(e, 'EC2NodeClass', 'default').spec.metadataOptions = { httpTokens: 'required', httpPutResponseHopLimit: 2 };
  expectCauses(e, ['iam/imds-open-to-pods'], []);
});
test('names iam/controller-policy-too-broad: too broad', () => {
  const e = healthy();
  e.aws['iam-list-attached-role-policies-KarpenterController'] = {
    AttachedPolicies: [{ PolicyName: 'PowerUserAccess', PolicyArn: 'arn:aws:iam::aws:policy/PowerUserAccess' }],
  };
  expectCauses(e, ['iam/controller-policy-too-broad'], []);
});
test('names net/discovery-tag-not-cluster-scoped: generic tag', () => {
  const e = healthy();
  get(e, 'EC2NodeClass', 'default').spec.subnetSelectorTerms = [{ tags: { 'karpenter.sh/discovery': 'true' } }];
  expectCauses(e, ['net/discovery-tag-not-cluster-scoped'], []);
});
test('names net/max-pods-above-ip-capacity: maxpods', () => {
  const e = healthy();
  get(e, 'EC2NodeClass', 'default').spec.kubelet = { maxPods: 110 };
  expectCauses(e, ['net/max-pods-above-ip-capacity'], []);
});
test('has nothing above low: maxpods with prefixes', () => {
  const e = healthy();
  get(e, 'EC2NodeClass', 'default').spec.kubelet = { maxPods: 110 };
  get(e, 'DaemonSet', 'aws-node').spec.template.spec.containers[0].env.push({
    name: 'ENABLE_PREFIX_DELEGATION',
    value: 'true',
  });
  expectCauses(e, [], []);
});
test('names net/trunk-eni-reduces-density: trunk', () => {
  const e = healthy();
  get(e, 'DaemonSet', 'aws-node').spec.template.spec.containers[0].env = [{ name: 'ENABLE_POD_ENI', value: 'true' }];
  add(
    e,
    object(
      'Pod',
      'stuck-1',
      {
        metadata: { creationTimestamp: minutesAgo(20) },
        spec: {
          nodeName: 'ip-10-0-0-1.ec2.internal',
          containers: [{ name: 'a', resources: { requests: { cpu: '1', memory: '1Gi' } } }],
        },
        status: {
          phase: 'Pending',
          containerStatuses: [{ name: 'a', ready: false, state: { waiting: { reason: 'ContainerCreating' } } }],
        },
      },
      'shop',
    ),
    event(
      's',
      'Pod',
      'stuck-1',
      'FailedCreatePodSandBox',
      'Failed to create pod sandbox: plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container',
    ),
  );
  expectCauses(e, ['net/trunk-eni-reduces-density'], []);
});
