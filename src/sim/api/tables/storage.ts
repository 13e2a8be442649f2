// Rows of volumes, claims and storage classes.
import { type JsonObject, listAt, objectAt, stringAt } from '../../json.ts';
import type { TableLayout } from '../definition.ts';
import { age, columns, metaOf, nameOf } from './cells.ts';

const modeLetters: Record<string, string> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};
const modesOf = (parent: JsonObject): string =>
  Object.keys(modeLetters)
    .filter((mode) => listAt<string>(parent, 'accessModes').includes(mode))
    .map((mode) => modeLetters[mode])
    .join(',');

const phaseOf = (object: JsonObject): string =>
  metaOf(object)['deletionTimestamp'] === undefined ? stringAt(objectAt(object, 'status'), 'phase') : 'Terminating';

export const layouts: Record<string, TableLayout> = {
  PersistentVolume: {
    columns: columns(
      'Name/name,Capacity,Access Modes,Reclaim Policy,Status,Claim,StorageClass,VolumeAttributesClass,Reason,Age,VolumeMode+',
    ),
    cells(object, nowMs) {
      const spec = objectAt(object, 'spec');
      const claim = spec['claimRef'] as JsonObject | undefined;
      return [
        nameOf(object),
        stringAt(objectAt(spec, 'capacity'), 'storage') || '0',
        modesOf(spec),
        stringAt(spec, 'persistentVolumeReclaimPolicy'),
        phaseOf(object),
        claim === undefined ? '' : `${stringAt(claim, 'namespace')}/${stringAt(claim, 'name')}`,
        stringAt(spec, 'storageClassName'),
        stringAt(spec, 'volumeAttributesClassName') || '<unset>',
        stringAt(objectAt(object, 'status'), 'reason'),
        age(object, nowMs),
        stringAt(spec, 'volumeMode') || '<unset>',
      ];
    },
  },
  PersistentVolumeClaim: {
    columns: columns(
      'Name/name,Status,Volume,Capacity,Access Modes,StorageClass,VolumeAttributesClass,Age,VolumeMode+',
    ),
    cells(object, nowMs) {
      const spec = objectAt(object, 'spec');
      const status = objectAt(object, 'status');
      const bound = stringAt(spec, 'volumeName') !== '';
      return [
        nameOf(object),
        phaseOf(object),
        stringAt(spec, 'volumeName'),
        bound ? stringAt(objectAt(status, 'capacity'), 'storage') || '0' : '',
        bound ? modesOf(status) : '',
        stringAt(spec, 'storageClassName'),
        stringAt(spec, 'volumeAttributesClassName') || '<unset>',
        age(object, nowMs),
        stringAt(spec, 'volumeMode') || '<unset>',
      ];
    },
  },
  StorageClass: {
    columns: columns('Name/name,Provisioner,ReclaimPolicy,VolumeBindingMode,AllowVolumeExpansion,Age'),
    cells(object, nowMs) {
      const isDefault =
        objectAt(metaOf(object), 'annotations')['storageclass.kubernetes.io/is-default-class'] === 'true';
      return [
        isDefault ? `${nameOf(object)} (default)` : nameOf(object),
        stringAt(object, 'provisioner'),
        stringAt(object, 'reclaimPolicy') || 'Delete',
        stringAt(object, 'volumeBindingMode') || 'Immediate',
        object['allowVolumeExpansion'] === true,
        age(object, nowMs),
      ];
    },
  },
  CSINode: {
    columns: columns('Name/name,Drivers:integer,Age'),
    cells: (object, nowMs) => [nameOf(object), listAt(objectAt(object, 'spec'), 'drivers').length, age(object, nowMs)],
  },
  CSIDriver: {
    columns: columns(
      'Name/name,AttachRequired:boolean,PodInfoOnMount:boolean,StorageCapacity:boolean,TokenRequests,RequiresRepublish:boolean,Modes,Age',
    ),
    cells(object, nowMs) {
      const spec = objectAt(object, 'spec');
      const tokens =
        spec['tokenRequests'] === undefined
          ? '<unset>'
          : listAt(spec, 'tokenRequests')
              .map((token) => stringAt(token, 'audience'))
              .join(',');
      return [
        nameOf(object),
        spec['attachRequired'] !== false,
        spec['podInfoOnMount'] === true,
        spec['storageCapacity'] === true,
        tokens,
        spec['requiresRepublish'] === true,
        listAt<string>(spec, 'volumeLifecycleModes').join(',') || '<none>',
        age(object, nowMs),
      ];
    },
  },
  VolumeAttachment: {
    columns: columns('Name/name,Attacher/name,PV,Node,Attached:boolean,Age'),
    cells(object, nowMs) {
      const spec = objectAt(object, 'spec');
      return [
        nameOf(object),
        stringAt(spec, 'attacher'),
        stringAt(objectAt(spec, 'source'), 'persistentVolumeName'),
        stringAt(spec, 'nodeName'),
        objectAt(object, 'status')['attached'] === true,
        age(object, nowMs),
      ];
    },
  },
};
