// Cases of ami/.
import { condition, type FailureCase, object } from '../../case.testing.ts';

const nodeClass = (spec: object, conditions: object[] = [], status: object = {}): object =>
  object('EC2NodeClass', 'default', { spec, status: { conditions, ...status } });

const imagesFor = (...architectures: string[]): object =>
  nodeClass({ amiSelectorTerms: [{ name: 'golden-*', owner: 'self' }] }, [condition('AMIsReady', 'True')], {
    amis: architectures.map((one) => ({
      id: `ami-${one}`,
      name: `golden-${one}`,
      requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: [one] }],
    })),
  });

const poolOf = (requirements: object[]): object =>
  object('NodePool', 'default', {
    spec: {
      template: {
        spec: { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' }, requirements },
      },
    },
  });

export const amiCases: readonly FailureCase[] = [
  {
    id: 'ami/unintended-image-selected',
    name: 'a foreign owner',
    objects: [
      nodeClass({ amiSelectorTerms: [{ name: 'amazon-eks-node-*' }] }, [], {
        amis: [{ id: 'ami-03ad4f0274233f98e', name: 'amazon-eks-node-1.32-evil' }],
      }),
    ],
    aws: { 'ec2-describe-images': { Images: [{ ImageId: 'ami-03ad4f0274233f98e', OwnerId: '999988887777' }] } },
    cluster: { accountId: '111122223333' },
    confidence: 'certain',
  },
  {
    id: 'ami/unintended-image-selected',
    name: 'images in the status',
    text: '[\n  {\n    "id": "ami-03ad4f0274233f98e",\n    "name": "Offseclab Base AMI",  # NOT an EKS AMI!\n',
    confidence: 'likely',
  },
  {
    id: 'ami/unintended-image-selected',
    name: 'a name that is not of EKS, without an owner',
    objects: [
      nodeClass({ amiSelectorTerms: [{ tags: { Name: '*' } }] }, [], {
        amis: [{ id: 'ami-03ad4f0274233f98e', name: 'Offseclab Base AMI' }],
      }),
    ],
  },
  {
    id: 'ami/unintended-image-selected',
    name: 'images of EKS',
    nearMiss: true,
    text: '[{"id": "ami-071a9f2683c2da4bd", "name": "amazon-eks-node-1.32-v20241216"}]',
  },
  {
    id: 'ami/unintended-image-selected',
    name: 'an image named by its id',
    nearMiss: true,
    objects: [
      nodeClass({ amiFamily: 'AL2023', amiSelectorTerms: [{ id: 'ami-071a9f2683c2da4bd' }] }, [], {
        amis: [{ id: 'ami-071a9f2683c2da4bd', name: 'golden-7' }],
      }),
    ],
  },
  {
    id: 'ami/none-for-cluster-version',
    name: 'a pool of another architecture than the images',
    objects: [imagesFor('amd64'), poolOf([{ key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] }])],
    confidence: 'certain',
    fix: ['kubectl patch ec2nodeclass default', 'al2023@latest'],
  },
  {
    id: 'ami/none-for-cluster-version',
    name: 'a pool that lists only Graviton types',
    objects: [
      imagesFor('amd64'),
      poolOf([{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['m7g.large', 'c8gn.xlarge'] }]),
    ],
    confidence: 'certain',
  },
  {
    id: 'ami/none-for-cluster-version',
    name: 'a pool of both architectures with images for one',
    nearMiss: true,
    objects: [imagesFor('amd64'), poolOf([{ key: 'kubernetes.io/arch', operator: 'Exists' }])],
  },
  {
    id: 'ami/none-for-cluster-version',
    name: 'images for both architectures',
    nearMiss: true,
    objects: [
      imagesFor('amd64', 'arm64'),
      poolOf([{ key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['m7g'] }]),
    ],
  },
  {
    id: 'ami/none-for-cluster-version',
    name: 'a condition of the class',
    objects: [
      nodeClass({ amiSelectorTerms: [{ alias: 'al2@latest' }] }, [
        condition('AMIsReady', 'False', 'AMINotFound', 'AMISelector did not match any AMIs'),
      ]),
    ],
    cluster: { kubernetesVersion: '1.33' },
    confidence: 'certain',
    fix: ['kubectl patch ec2nodeclass default', 'al2023@latest'],
  },
  {
    id: 'ami/none-for-cluster-version',
    name: 'a status in YAML',
    text: 'status:\n  conditions:\n    - message: AMISelector did not match any AMIs\n      reason: AMINotFound\n      status: "False"\n      type: AMIsReady',
  },
  {
    id: 'ami/none-for-cluster-version',
    name: 'a class with images',
    nearMiss: true,
    objects: [
      nodeClass({ amiSelectorTerms: [{ alias: 'al2@latest' }] }, [condition('AMIsReady', 'True', 'AMIsReady')], {
        amis: [{ id: 'ami-1' }],
      }),
    ],
    cluster: { kubernetesVersion: '1.32' },
  },
  {
    id: 'ami/nodeadm-content-type-warning',
    name: 'a line of cloud-init',
    text: "cloud-init[2156]: 2025-12-28 20:35:39,951 - __init__.py[WARNING]:\nUnhandled unknown content-type (application/node.eks.aws) userdata: 'b'# Karpenter Generated No'...'",
  },
  {
    id: 'ami/nodeadm-content-type-warning',
    name: 'the older wording',
    text: "[   12.3] cloud-init[1650]: 2024-02-01 10:00:00,000 - __init__.py[WARNING]: Unhandled non-multipart (text/x-not-multipart) ... content-type (application/node.eks.aws) userdata: 'b'apiVersion: node.eks.aws'",
  },
  {
    id: 'ami/nodeadm-content-type-warning',
    name: 'the same line in a bundle, where no one asked',
    nearMiss: true,
    texts: {
      'nodes/i-0abc12345678/console.txt':
        "cloud-init[2156]: __init__.py[WARNING]: Unhandled unknown content-type (application/node.eks.aws) userdata: 'b'# Karpenter Generated No'...'",
    },
  },
  {
    id: 'ami/containerd-config-missing',
    name: 'a bootstrap that stops',
    text: "sed: can't read /etc/eks/containerd/containerd-config.toml: No such file or directory\nExited with error on line 469",
    confidence: 'certain',
  },
  {
    id: 'ami/containerd-config-missing',
    name: 'AL2 user data on AL2023',
    texts: {
      'nodes/i-0abc12345678/cloud-init-output.log':
        '/var/lib/cloud/instance/scripts/part-001: line 3: /etc/eks/bootstrap.sh: No such file or directory',
    },
  },
  {
    id: 'ami/containerd-config-missing',
    name: 'a bootstrap that completes',
    nearMiss: true,
    texts: {
      'nodes/i-0abc12345678/console.txt':
        '+ cp -v /etc/eks/containerd/containerd-config.toml /etc/containerd/config.toml\n2025-12-28T21:17:57+0000 [eks-bootstrap] INFO: complete!',
    },
  },
  {
    id: 'ami/sandbox-image-pull-stuck',
    name: 'a unit that stays activating',
    text: '● sandbox-image.service - pull sandbox image defined in containerd config.toml\n  Loaded: loaded (/etc/systemd/system/sandbox-image.service; enabled; vendor preset: disabled)\n  Active: activating (start) since Sat 2022-04-23 08:52:45 UTC; 12min ago',
    confidence: 'certain',
  },
  {
    id: 'ami/sandbox-image-pull-stuck',
    name: 'a line of containerd',
    texts: {
      'nodes/i-0abc12345678/journal.txt':
        'Nov 18 00:00:00 ip-10-0-0-1 containerd[900]: time="2026-01-01T00:00:00Z" level=error msg="RunPodSandbox failed" error="failed to get sandbox image \\"602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.5\\": failed to pull image \\"602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.5\\": failed to do request: Head \\"https://602401143452.dkr.ecr.eu-west-1.amazonaws.com/v2/eks/pause/manifests/3.5\\": dial tcp 10.0.9.9:443: i/o timeout"',
    },
    fix: ['com.amazonaws.eu-west-1.ecr.dkr'],
  },
  {
    id: 'ami/sandbox-image-pull-stuck',
    name: 'a unit that is done',
    nearMiss: true,
    text: '● sandbox-image.service - pull sandbox image defined in containerd config.toml\n  Active: active (exited) since Sat 2022-04-23 08:52:45 UTC; 12min ago',
  },
  {
    id: 'ami/eni-max-pods-entry-missing',
    name: 'a line of the user-data log',
    text: 'No entry for c6i.xlarge in /etc/eks/eni-max-pods.txt',
    confidence: 'certain',
    fix: ['c6i.xlarge'],
  },
  {
    id: 'ami/eni-max-pods-entry-missing',
    name: 'the same with a prefix',
    texts: {
      'nodes/i-0abc12345678/user-data.log':
        "+ echo 'No entry for m7i-flex.large in /etc/eks/eni-max-pods.txt'\nNo entry for m7i-flex.large in /etc/eks/eni-max-pods.txt\nExited with error on line 300",
    },
  },
  {
    id: 'ami/eni-max-pods-entry-missing',
    name: 'a file that is read',
    nearMiss: true,
    text: "++ grep '^m5.large ' /etc/eks/eni-max-pods.txt\n+ MAX_PODS=29",
  },
  {
    id: 'ami/swap-blocks-kubelet',
    name: 'a line of the journal',
    text: '"command failed" err="failed to run Kubelet: running with swap on is not supported, please disable swap!..."',
    confidence: 'certain',
  },
  {
    id: 'ami/swap-blocks-kubelet',
    name: 'the older wording',
    texts: {
      'nodes/i-0abc12345678/kubelet.log':
        'F0512 10:00:00.000000    3411 server.go:265] failed to run Kubelet: Running with swap on is not supported, please disable swap! or set --fail-swap-on flag to false. /proc/swaps contained: [/dev/xvda3]',
    },
  },
  {
    id: 'ami/swap-blocks-kubelet',
    name: 'a kubelet that allows swap',
    nearMiss: true,
    text: 'I0512 10:00:00.000000 kubelet.go:100] "Swap is on" failSwapOn=false',
  },
  {
    id: 'ami/block-device-name-invalid',
    name: 'a fleet error',
    text: '2022-01-19T18:22:23.366Z ERROR controller.provisioning Could not launch node, launching instances, with fleet error(s), InvalidBlockDeviceMapping: Invalid device name /dev/xvda; ...',
    confidence: 'certain',
    fix: ['/dev/xvda'],
  },
  {
    id: 'ami/block-device-name-invalid',
    name: 'a mapping that is not of the image',
    objects: [
      nodeClass({ blockDeviceMappings: [{ deviceName: '/dev/xvda' }] }, [], { amis: [{ id: 'ami-0000000000000001' }] }),
    ],
    aws: {
      'ec2-describe-images': {
        Images: [{ ImageId: 'ami-0000000000000001', OwnerId: '801119661308', RootDeviceName: '/dev/sda1' }],
      },
    },
    fix: ['/dev/sda1'],
  },
  {
    id: 'ami/block-device-name-invalid',
    name: 'the root device',
    nearMiss: true,
    objects: [
      nodeClass({ blockDeviceMappings: [{ deviceName: '/dev/xvda' }] }, [], { amis: [{ id: 'ami-0000000000000001' }] }),
    ],
    aws: {
      'ec2-describe-images': {
        Images: [{ ImageId: 'ami-0000000000000001', OwnerId: '602401143452', RootDeviceName: '/dev/xvda' }],
      },
    },
  },
];
