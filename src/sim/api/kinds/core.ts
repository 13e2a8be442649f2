// The kinds of the core group.

import { isConfigKey, isLabel, isLabelValue, isQualifiedName } from '../../../api/index.ts';
import { isIdentical } from '../../../base/index.ts';
import { ensureObject, type JsonObject, listAt, objectAt, setDefault, stringAt } from '../../json.ts';
import type { ResourceDefinition, Strategy } from '../definition.ts';
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../field-error.ts';
import { validateImmutable, validateUnique } from '../metadata.ts';
import { builtIn, fieldAt } from './built-in.ts';
import { limitRangeStrategy } from './limit-ranges.ts';
import { defaultPodSpec } from './pod-defaults.ts';
import { validatePodSpec } from './pod-validation.ts';
import { podStrategy } from './pods.ts';
import { serviceStrategy } from './services.ts';
import { claimStrategy, volumeStrategy } from './volumes.ts';

const core = builtIn('', 'v1', 'api.core.v1');

/** All keys and values of a ConfigMap or Secret together. */
const dataBytesLimit = 1024 * 1024;

function validateData(object: JsonObject, maps: string[], old?: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const map of maps) {
    for (const [key, value] of Object.entries(objectAt(object, map))) {
      for (const detail of isConfigKey(key)) errors.push(invalidValue(`${map}[${key}]`, key, detail));
      bytes += String(value).length;
    }
  }
  if (bytes > dataBytesLimit) errors.push(tooLong(maps.length === 1 ? (maps[0] as string) : '[]', dataBytesLimit));
  if (old?.['immutable'] === true) {
    if (object['immutable'] !== true)
      errors.push(forbiddenField('immutable', 'field is immutable when `immutable` is set'));
    for (const map of maps) {
      if (!isIdentical(object[map], old[map]))
        errors.push(forbiddenField(map, 'field is immutable when `immutable` is set'));
    }
  }
  return errors;
}

const configMapStrategy: Strategy = {
  validate: (object) => validateData(object, ['data', 'binaryData']),
  validateUpdate: (object, old) => validateData(object, ['data', 'binaryData'], old),
};

const secretStrategy: Strategy = {
  defaults: (draft) => setDefault(draft, 'type', 'Opaque'),
  prepareCreate: mergeStringData,
  prepareUpdate: mergeStringData,
  validate: (object) => validateData(object, ['data']),
  validateUpdate: (object, old) => [
    ...validateImmutable(object['type'], old['type'], 'type'),
    ...validateData(object, ['data'], old),
  ],
};

/** `stringData` is only a way to write: it lands in `data`, encoded. */
function mergeStringData(draft: JsonObject): void {
  const plain = draft['stringData'];
  if (plain === undefined) return;
  const data = ensureObject(draft, 'data');
  for (const [key, value] of Object.entries(plain as JsonObject)) {
    data[key] = Buffer.from(String(value), 'utf8').toString('base64');
  }
  delete draft['stringData'];
}

const namespaceStrategy: Strategy = {
  nameRule: isLabel,
  returnsDeleted: true,
  defaults(draft) {
    const meta = objectAt(draft, 'metadata');
    if (stringAt(meta, 'name') !== '') {
      ensureObject(meta, 'labels')['kubernetes.io/metadata.name'] = stringAt(meta, 'name');
    }
  },
  prepareCreate(draft) {
    const finalizers = listAt<string>(objectAt(draft, 'spec'), 'finalizers');
    draft['spec'] = { finalizers: [...new Set([...finalizers, 'kubernetes'])] };
    draft['status'] = { phase: 'Active' };
  },
  prepareUpdate(draft, old) {
    draft['spec'] = old['spec'];
    draft['status'] = old['status'];
  },
  prepareStatus(draft, old) {
    draft['spec'] = old['spec'];
  },
};

const nodeStrategy: Strategy = {
  defaults(draft) {
    const status = objectAt(draft, 'status');
    if (status['capacity'] !== undefined && status['allocatable'] === undefined) {
      status['allocatable'] = { ...objectAt(status, 'capacity') };
    }
  },
  admit(draft, _around, old) {
    if (old !== undefined) return;
    // No one has seen the new node healthy yet.
    const spec = ensureObject(draft, 'spec');
    const taints = listAt(spec, 'taints');
    if (taints.some((taint) => taint['key'] === 'node.kubernetes.io/not-ready' && taint['effect'] === 'NoSchedule'))
      return;
    spec['taints'] = [...taints, { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }];
  },
  prepareUpdate(draft, old) {
    draft['status'] = old['status'];
  },
  validate: (node) => validateTaints(listAt(objectAt(node, 'spec'), 'taints')),
  validateUpdate(node, old) {
    const spec = objectAt(node, 'spec');
    const before = objectAt(old, 'spec');
    const errors = validateTaints(listAt(spec, 'taints'));
    if (before['providerID'] !== undefined && spec['providerID'] !== before['providerID']) {
      // The value is not shown.
      errors.push(invalidValue('spec.providerID', null, 'field cannot be modified once set'));
    }
    return errors;
  },
};

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function validateTaints(taints: JsonObject[]): FieldError[] {
  const errors = taints.flatMap((taint, index) => {
    const at = `metadata.taints[${index}]`;
    const key = stringAt(taint, 'key');
    const effect = stringAt(taint, 'effect');
    const found: FieldError[] = [];
    for (const detail of isQualifiedName(key)) found.push(invalidValue(`${at}.key`, key, detail));
    for (const detail of isLabelValue(stringAt(taint, 'value')))
      found.push(invalidValue(`${at}.value`, taint['value'], detail));
    if (effect === '') found.push(required(`${at}.effect`));
    else if (!taintEffects.includes(effect)) found.push(notSupported(`${at}.effect`, effect, taintEffects));
    return found;
  });
  const pairs = taints.map((taint) => `${stringAt(taint, 'key')}:${stringAt(taint, 'effect')}`);
  const twins = validateUnique(
    pairs,
    (index) => `metadata.taints[${index}]`,
    (at, index) => {
      const found = duplicate(at, taints[index]);
      return { ...found, message: `${found.message}: taints must be unique by key and effect pair` };
    },
  );
  return [...errors, ...twins];
}

const podTemplateStrategy: Strategy = {
  generation: true,
  returnsDeleted: true,
  defaults: (draft) => defaultPodSpec(ensureObject(ensureObject(draft, 'template'), 'spec')),
  validate: (object) => validatePodSpec(objectAt(objectAt(object, 'template'), 'spec'), 'template.spec'),
};

const eventStrategy: Strategy = {
  createOnUpdate: true,
  validate(event) {
    const involved = stringAt(objectAt(event, 'involvedObject'), 'namespace');
    const own = stringAt(objectAt(event, 'metadata'), 'namespace');
    if (involved === '' ? own !== 'default' && own !== 'kube-system' && own !== '' : involved !== own) {
      return [invalidValue('involvedObject.namespace', involved, 'does not match event.namespace')];
    }
    return [];
  },
};

/** The newer name of the same objects; `http/event-names.ts` renames their fields on the way in and out. */
const renamedEvents = builtIn(
  'events.k8s.io',
  'v1',
  'api.events.v1',
)({
  kind: 'Event',
  plural: 'events',
  shortNames: ['ev'],
});

export const coreKinds: ResourceDefinition[] = [
  renamedEvents,
  core({
    kind: 'Namespace',
    plural: 'namespaces',
    cluster: true,
    shortNames: ['ns'],
    subresources: ['status', 'finalize'],
    fields: { 'status.phase': fieldAt('status.phase'), name: fieldAt('metadata.name') },
    strategy: namespaceStrategy,
  }),
  core({
    kind: 'Node',
    plural: 'nodes',
    cluster: true,
    shortNames: ['no'],
    subresources: ['status'],
    fields: { 'spec.unschedulable': fieldAt('spec.unschedulable', 'false') },
    strategy: nodeStrategy,
  }),
  core({
    kind: 'Pod',
    plural: 'pods',
    shortNames: ['po'],
    categories: ['all'],
    subresources: ['binding', 'eviction', 'status', 'resize', 'ephemeralcontainers'],
    fields: {
      'spec.nodeName': fieldAt('spec.nodeName'),
      'spec.restartPolicy': fieldAt('spec.restartPolicy'),
      'spec.schedulerName': fieldAt('spec.schedulerName'),
      'spec.serviceAccountName': fieldAt('spec.serviceAccountName'),
      'spec.hostNetwork': fieldAt('spec.hostNetwork', 'false'),
      'status.phase': fieldAt('status.phase'),
      'status.podIP': fieldAt('status.podIP'),
      'status.nominatedNodeName': fieldAt('status.nominatedNodeName'),
    },
    strategy: podStrategy,
  }),
  core({ kind: 'PodTemplate', plural: 'podtemplates', strategy: podTemplateStrategy }),
  core({ kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'], strategy: configMapStrategy }),
  core({ kind: 'Secret', plural: 'secrets', fields: { type: fieldAt('type') }, strategy: secretStrategy }),
  core({ kind: 'ServiceAccount', plural: 'serviceaccounts', shortNames: ['sa'], strategy: { returnsDeleted: true } }),
  core({
    kind: 'Event',
    plural: 'events',
    shortNames: ['ev'],
    fields: {
      'involvedObject.kind': fieldAt('involvedObject.kind'),
      'involvedObject.namespace': fieldAt('involvedObject.namespace'),
      'involvedObject.name': fieldAt('involvedObject.name'),
      'involvedObject.uid': fieldAt('involvedObject.uid'),
      'involvedObject.apiVersion': fieldAt('involvedObject.apiVersion'),
      'involvedObject.resourceVersion': fieldAt('involvedObject.resourceVersion'),
      'involvedObject.fieldPath': fieldAt('involvedObject.fieldPath'),
      reason: fieldAt('reason'),
      reportingComponent: fieldAt('reportingComponent'),
      source: fieldAt('source.component'),
      type: fieldAt('type'),
    },
    strategy: eventStrategy,
  }),
  core({
    kind: 'Service',
    plural: 'services',
    shortNames: ['svc'],
    categories: ['all'],
    subresources: ['status'],
    fields: { 'spec.clusterIP': fieldAt('spec.clusterIP'), 'spec.type': fieldAt('spec.type') },
    strategy: serviceStrategy,
  }),
  core({
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    shortNames: ['pvc'],
    subresources: ['status'],
    strategy: claimStrategy,
  }),
  core({
    kind: 'PersistentVolume',
    plural: 'persistentvolumes',
    cluster: true,
    shortNames: ['pv'],
    subresources: ['status'],
    strategy: volumeStrategy,
  }),
  core({ kind: 'LimitRange', plural: 'limitranges', shortNames: ['limits'], strategy: limitRangeStrategy }),
];
