// Claims, volumes and storage classes that random pods refer to by name, in every namespace: usable ones in one zone, in
// several or anywhere, and one of each kind that makes a pod invalid.
import { label } from '../../../src/api/index.ts';
import type { SnapshotObject } from '../../../src/core/index.ts';
import { driver, namespaces } from './values.ts';

const storageClass = (name: string, more: object): SnapshotObject => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name, uid: `uid-sc-${name}` },
  provisioner: driver,
  volumeBindingMode: 'WaitForFirstConsumer',
  ...more,
});

const volume = (name: string, zone: string | undefined): SnapshotObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name, uid: `uid-pv-${name}` },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    csi: { driver, volumeHandle: name },
    ...(zone === undefined
      ? {}
      : {
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: label.zone, operator: 'In', values: [zone] }] }],
            },
          },
        }),
  },
  status: { phase: 'Bound' },
});

const claim = (namespace: string, name: string, spec: object, phase = 'Pending'): SnapshotObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name,
    namespace,
    uid: `uid-pvc-${namespace}-${name}`,
    ...(phase === 'Bound' ? { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } } : {}),
  },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  status: { phase },
});

export function volumeObjects(): SnapshotObject[] {
  return [
    storageClass('anywhere', {}),
    storageClass('zones-bc', {
      allowedTopologies: [
        { matchLabelExpressions: [{ key: label.zone, values: ['zone-b'] }] },
        { matchLabelExpressions: [{ key: label.zone, values: ['zone-c'] }] },
      ],
    }),
    storageClass('at-once', { volumeBindingMode: 'Immediate' }),
    storageClass('slow', { provisioner: 'slow.csi.test.kerf' }),
    ...namespaces.flatMap((namespace) => [
      volume(`pv-${namespace}-a`, 'zone-a'),
      volume(`pv-${namespace}-b`, 'zone-b'),
      volume(`pv-${namespace}-any`, undefined),
      claim(namespace, 'bound-a', { volumeName: `pv-${namespace}-a`, storageClassName: 'anywhere' }, 'Bound'),
      claim(namespace, 'bound-b', { volumeName: `pv-${namespace}-b`, storageClassName: 'gone' }, 'Bound'),
      claim(namespace, 'bound-any', { volumeName: `pv-${namespace}-any` }, 'Bound'),
      claim(namespace, 'later-bc', { storageClassName: 'zones-bc' }),
      claim(namespace, 'later-any', { storageClassName: 'anywhere' }),
      claim(namespace, 'lost', { volumeName: `pv-${namespace}-a`, storageClassName: 'anywhere' }, 'Lost'),
      claim(namespace, 'immediate', { storageClassName: 'at-once' }),
      claim(namespace, 'unsupported', { storageClassName: 'slow' }),
      claim(namespace, 'classless', {}),
    ]),
  ];
}
