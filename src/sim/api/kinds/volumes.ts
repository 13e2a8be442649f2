// PersistentVolumeClaim and PersistentVolume.
import { compareQuantities, isIdentical, parseQuantity } from '../../../base/index.ts';
import { type JsonObject, listAt, objectAt, setDefault, stringAt } from '../../json.ts';
import type { Strategy, Surroundings } from '../definition.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../field-error.ts';
import { validateNodeTerm } from './affinity-validation.ts';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** Keeps an object while something still uses it; a controller takes it off. */
function protect(draft: JsonObject, finalizer: string): void {
  const meta = objectAt(draft, 'metadata');
  const finalizers = listAt<string>(meta, 'finalizers');
  if (!finalizers.includes(finalizer)) meta['finalizers'] = [...finalizers, finalizer];
}

function validateAccessModes(spec: JsonObject, field: string): FieldError[] {
  const modes = listAt<string>(spec, 'accessModes');
  if (modes.length === 0) return [required(`${field}.accessModes`, 'at least 1 access mode is required')];
  return modes.flatMap((mode) =>
    accessModes.includes(mode) ? [] : [notSupported(`${field}.accessModes`, mode, accessModes)],
  );
}

/** The newest of the classes marked as default. */
function defaultStorageClass(around: Surroundings): string | undefined {
  const marked = [...around.list('storageclasses.storage.k8s.io')].filter(
    (candidate) => candidate.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true',
  );
  marked.sort((left, right) => (left.metadata.creationTimestamp < right.metadata.creationTimestamp ? 1 : -1));
  return marked[0]?.metadata.name;
}

export const claimStrategy: Strategy = {
  returnsDeleted: true,
  defaults: (draft) => setDefault(objectAt(draft, 'spec'), 'volumeMode', 'Filesystem'),
  admit(draft, around, old) {
    if (old !== undefined) return;
    protect(draft, 'kubernetes.io/pvc-protection');
    const spec = objectAt(draft, 'spec');
    const chosen = spec['storageClassName'] === undefined ? defaultStorageClass(around) : undefined;
    if (chosen !== undefined) spec['storageClassName'] = chosen;
  },
  prepareCreate(draft) {
    draft['status'] = { phase: 'Pending' };
  },
  prepareUpdate(draft, old) {
    draft['status'] = old['status'];
  },
  validate(object) {
    const spec = objectAt(object, 'spec');
    const errors = validateAccessModes(spec, 'spec');
    const storage = objectAt(objectAt(spec, 'resources'), 'requests')['storage'];
    if (storage === undefined) errors.push(required('spec.resources[storage]'));
    else if (parseQuantity(storage as string).nano <= 0n) {
      errors.push(invalidValue('spec.resources[storage]', storage, 'must be greater than zero'));
    }
    return errors;
  },
  validateUpdate(object, old) {
    const spec = objectAt(object, 'spec');
    const before = objectAt(old, 'spec');
    const fixed = ({ resources: _r, volumeName, ...rest }: JsonObject): JsonObject => ({
      ...rest,
      ...(before['volumeName'] !== undefined && { volumeName }),
    });
    const errors: FieldError[] = [];
    if (!isIdentical(fixed(spec), fixed(before))) {
      errors.push(
        forbiddenField(
          'spec',
          'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
        ),
      );
    }
    const size = objectAt(objectAt(spec, 'resources'), 'requests')['storage'];
    const oldSize = objectAt(objectAt(before, 'resources'), 'requests')['storage'];
    if (
      size !== undefined &&
      oldSize !== undefined &&
      compareQuantities(parseQuantity(size as string), parseQuantity(oldSize as string)) < 0
    ) {
      errors.push(forbiddenField('spec.resources.requests.storage', 'field can not be less than status.capacity'));
    }
    return errors;
  },
};

export const volumeStrategy: Strategy = {
  returnsDeleted: true,
  defaults(draft) {
    const spec = objectAt(draft, 'spec');
    setDefault(spec, 'persistentVolumeReclaimPolicy', 'Retain');
    setDefault(spec, 'volumeMode', 'Filesystem');
    if (spec['hostPath'] !== undefined) setDefault(objectAt(spec, 'hostPath'), 'type', '');
  },
  admit(draft, _around, old) {
    if (old === undefined) protect(draft, 'kubernetes.io/pv-protection');
  },
  prepareCreate(draft, around) {
    draft['status'] = { phase: 'Pending', lastPhaseTransitionTime: around.timestamp() };
  },
  prepareUpdate(draft, old) {
    draft['status'] = old['status'];
  },
  validate(object) {
    const spec = objectAt(object, 'spec');
    const errors = validateAccessModes(spec, 'spec');
    if (objectAt(spec, 'capacity')['storage'] === undefined) {
      errors.push(required('spec.capacity'), notSupported('spec.capacity', null, ['storage']));
    }
    const known = new Set([
      'accessModes',
      'capacity',
      'claimRef',
      'mountOptions',
      'nodeAffinity',
      'persistentVolumeReclaimPolicy',
      'storageClassName',
      'volumeAttributesClassName',
      'volumeMode',
    ]);
    if (!Object.keys(spec).some((key) => !known.has(key))) errors.push(required('spec', 'must specify a volume type'));
    listAt(objectAt(objectAt(spec, 'nodeAffinity'), 'required'), 'nodeSelectorTerms').forEach((term, index) =>
      errors.push(...validateNodeTerm(term, `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`)),
    );
    return errors;
  },
  validateUpdate(object, old) {
    const source = ({
      capacity: _c,
      claimRef: _r,
      accessModes: _a,
      nodeAffinity: _n,
      persistentVolumeReclaimPolicy: _p,
      storageClassName: _s,
      mountOptions: _m,
      volumeMode: _v,
      ...rest
    }: JsonObject): JsonObject => rest;
    const spec = objectAt(object, 'spec');
    return isIdentical(source(spec), source(objectAt(old, 'spec')))
      ? []
      : [
          forbiddenField(
            'spec.persistentvolumesource',
            `spec.persistentvolumesource is immutable after creation ${stringAt(spec, '')}`.trim(),
          ),
        ];
  },
};
