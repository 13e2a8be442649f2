// Cases of storage/.
import { type FailureCase, object } from '../../case.testing.ts';

const attach =
  'AttachVolume.Attach failed for volume "pvc-1" : rpc error: code = Internal desc = Could not attach volume "vol-1" to node "i-1": attachment of disk "vol-1" failed, expected device to be attached but was attaching';
const event = object(
  'Event',
  'e1',
  { reason: 'FailedAttachVolume', message: attach, involvedObject: { kind: 'Pod', name: 'web-1', namespace: 'shop' } },
  'shop',
);
const pool = (startupTaints: object[]): object =>
  object('NodePool', 'default', { spec: { template: { spec: { startupTaints } } } });
const pod = (status: object): object => object('Pod', 'web-1', { spec: { nodeName: 'n1' }, status }, 'shop');
const attachments = (count: number): object[] =>
  Array.from({ length: count }, (_, index) =>
    object('VolumeAttachment', `a${index}`, { spec: { attacher: 'ebs.csi.aws.com', nodeName: 'n1' } }),
  );
const csiNode = object('CSINode', 'n1', {
  spec: { drivers: [{ name: 'ebs.csi.aws.com', allocatable: { count: 3 } }] },
});

export const storageCases: readonly FailureCase[] = [
  {
    id: 'storage/in-tree-driver-limits-unknown',
    name: 'a volume',
    text: "2023-04-05T23:56:53.363Z ERROR controller.node_state PersistentVolume source 'AWSElasticBlockStore' uses an in-tree storage plugin which is unsupported by Karpenter and is deprecated by Kubernetes.",
    confidence: 'certain',
  },
  {
    id: 'storage/in-tree-driver-limits-unknown',
    name: 'a storage class',
    text: '2023-04-05T23:56:53.464Z ERROR controller.node_state StorageClass .spec.provisioner uses an in-tree storage plugin which is unsupported by Karpenter {"storage-class": "gp2", "provisioner": "kubernetes.io/aws-ebs"}',
    fix: ['gp2'],
  },
  {
    id: 'storage/in-tree-driver-limits-unknown',
    name: 'volumes and trouble with attaching',
    objects: [object('PersistentVolume', 'pv-1', { spec: { awsElasticBlockStore: { volumeID: 'vol-1' } } }), event],
    confidence: 'certain',
  },
  {
    id: 'storage/in-tree-driver-limits-unknown',
    name: 'a class that no one uses',
    nearMiss: true,
    objects: [
      object('StorageClass', 'gp2', { provisioner: 'kubernetes.io/aws-ebs' }),
      object('StorageClass', 'gp3', { provisioner: 'ebs.csi.aws.com' }),
    ],
    none: ['PersistentVolumeClaim'],
  },
  {
    id: 'storage/attach-limit-race-at-registration',
    name: 'an event of a pod that waits',
    objects: [event, pool([]), pod({ phase: 'Pending' })],
    confidence: 'likely',
    fix: ['ebs.csi.aws.com/agent-not-ready', 'nodepool default'],
  },
  {
    id: 'storage/attach-limit-race-at-registration',
    name: 'more attachments than the limit',
    objects: [...attachments(4), csiNode, pool([])],
    confidence: 'certain',
  },
  {
    id: 'storage/attach-limit-race-at-registration',
    name: 'an event of a pod that runs now',
    nearMiss: true,
    objects: [event, pool([]), pod({ phase: 'Running', containerStatuses: [{ ready: true }] })],
  },
  {
    id: 'storage/attach-limit-race-at-registration',
    name: 'attachments within the limit',
    nearMiss: true,
    objects: [...attachments(3), csiNode, pool([])],
  },
];
