// Kinds of the smaller groups: policy, scheduling, storage, coordination, access and devices.

import { isPathSegment } from '../../../api/index.ts';
import { isIdentical } from '../../../base/index.ts';
import { isObject, type JsonObject, listAt, objectAt, setDefault, stringAt } from '../../json.ts';
import type { ResourceDefinition, Strategy, Surroundings } from '../definition.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../field-error.ts';
import { forbidden } from '../status.ts';
import { validateLabelSelector } from './affinity-validation.ts';
import { builtIn, fieldAt } from './built-in.ts';

const policy = builtIn('policy', 'v1', 'api.policy.v1');
const scheduling = builtIn('scheduling.k8s.io', 'v1', 'api.scheduling.v1');
const storage = builtIn('storage.k8s.io', 'v1', 'api.storage.v1');
const coordination = builtIn('coordination.k8s.io', 'v1', 'api.coordination.v1');
const rbac = builtIn('rbac.authorization.k8s.io', 'v1', 'api.rbac.v1');
const devices = builtIn('resource.k8s.io', 'v1', 'api.resource.v1');

const keepStatus: Pick<Strategy, 'prepareCreate' | 'prepareUpdate'> = {
  prepareCreate(draft) {
    delete draft['status'];
  },
  prepareUpdate(draft, old) {
    if (old['status'] === undefined) delete draft['status'];
    else draft['status'] = old['status'];
  },
};

const budgetStrategy: Strategy = {
  generation: true,
  unconditionalUpdate: false,
  prepareCreate(draft) {
    draft['status'] = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  prepareUpdate(draft, old) {
    draft['status'] = old['status'];
  },
  validate(object) {
    const spec = objectAt(object, 'spec');
    const errors: FieldError[] = [];
    if (spec['minAvailable'] !== undefined && spec['maxUnavailable'] !== undefined) {
      errors.push(invalidValue('spec', spec, 'minAvailable and maxUnavailable cannot be both set'));
    }
    for (const key of ['minAvailable', 'maxUnavailable']) {
      const value = spec[key];
      if (typeof value === 'number' && value < 0)
        errors.push(invalidValue(`spec.${key}`, value, 'must be greater than or equal to 0'));
      if (typeof value === 'string' && !/^\d+%$/.test(value)) {
        errors.push(
          invalidValue(
            `spec.${key}`,
            value,
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
          ),
        );
      } else if (typeof value === 'string' && Number.parseInt(value, 10) > 100) {
        errors.push(invalidValue(`spec.${key}`, value, 'must not be greater than 100%'));
      }
    }
    errors.push(...validateLabelSelector(spec['selector'], 'spec.selector'));
    const eviction = spec['unhealthyPodEvictionPolicy'];
    if (eviction !== undefined && eviction !== 'IfHealthyBudget' && eviction !== 'AlwaysAllow') {
      errors.push(notSupported('spec.unhealthyPodEvictionPolicy', eviction, ['AlwaysAllow', 'IfHealthyBudget']));
    }
    return errors;
  },
};

const priorityClasses = { group: 'scheduling.k8s.io', plural: 'priorityclasses', kind: 'PriorityClass' };

const priorityStrategy: Strategy = {
  defaults: (draft) => setDefault(draft, 'preemptionPolicy', 'PreemptLowerPriority'),
  prepareCreate(draft) {
    objectAt(draft, 'metadata')['generation'] = 1;
  },
  admit(draft, around: Surroundings) {
    const name = stringAt(objectAt(draft, 'metadata'), 'name');
    if (draft['globalDefault'] !== true) return;
    for (const other of around.list('priorityclasses.scheduling.k8s.io')) {
      if (other['globalDefault'] === true && other.metadata.name !== name) {
        throw forbidden(
          priorityClasses,
          name,
          `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`,
        );
      }
    }
  },
  validate(object) {
    const name = stringAt(objectAt(object, 'metadata'), 'name');
    const value = Number(object['value'] ?? 0);
    if (name.startsWith('system-') && !['system-cluster-critical', 'system-node-critical'].includes(name)) {
      return [
        forbiddenField(
          'metadata.name',
          "priority class names with 'system-' prefix are reserved for system use only. error: " +
            `${name} is not a known system priority class`,
        ),
      ];
    }
    if (!name.startsWith('system-') && value > 1_000_000_000) {
      return [forbiddenField('value', 'maximum allowed value of a user defined priority is 1000000000')];
    }
    return [];
  },
  validateUpdate(object, old) {
    if (Number(object['value'] ?? 0) !== Number(old['value'] ?? 0))
      return [forbiddenField('value', 'may not be changed in an update.')];
    return isIdentical(object['preemptionPolicy'], old['preemptionPolicy'])
      ? []
      : [invalidValue('preemptionPolicy', object['preemptionPolicy'], 'field is immutable')];
  },
};

const storageClassStrategy: Strategy = {
  returnsDeleted: true,
  defaults(draft) {
    setDefault(draft, 'reclaimPolicy', 'Delete');
    setDefault(draft, 'volumeBindingMode', 'Immediate');
  },
  validate(object) {
    const errors: FieldError[] = [];
    if (stringAt(object, 'provisioner') === '') errors.push(required('provisioner'));
    const mode = object['volumeBindingMode'];
    if (mode !== 'Immediate' && mode !== 'WaitForFirstConsumer') {
      errors.push(notSupported('volumeBindingMode', mode, ['Immediate', 'WaitForFirstConsumer']));
    }
    return errors;
  },
  validateUpdate: (object, old) =>
    ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'].flatMap((key) =>
      // The value is not shown.
      isIdentical(object[key], old[key]) ? [] : [invalidValue(key, null, 'field is immutable')],
    ),
};

const attachmentStrategy: Strategy = {
  unconditionalUpdate: false,
  returnsDeleted: true,
  prepareCreate(draft) {
    draft['status'] = { attached: false };
  },
  prepareUpdate(draft, old) {
    draft['status'] = old['status'];
  },
  validate(object) {
    const spec = objectAt(object, 'spec');
    return ['attacher', 'nodeName'].filter((key) => stringAt(spec, key) === '').map((key) => required(`spec.${key}`));
  },
  validateUpdate: (object, old) =>
    isIdentical(object['spec'], old['spec']) ? [] : [invalidValue('spec', object['spec'], 'field is immutable')],
};

const leaseStrategy: Strategy = {
  createOnUpdate: true,
  unconditionalUpdate: false,
  validate(object) {
    const spec = objectAt(object, 'spec');
    const errors: FieldError[] = [];
    if (spec['leaseDurationSeconds'] !== undefined && Number(spec['leaseDurationSeconds']) <= 0) {
      errors.push(invalidValue('spec.leaseDurationSeconds', spec['leaseDurationSeconds'], 'must be greater than 0'));
    }
    if (spec['leaseTransitions'] !== undefined && Number(spec['leaseTransitions']) < 0) {
      errors.push(
        invalidValue('spec.leaseTransitions', spec['leaseTransitions'], 'must be greater than or equal to 0'),
      );
    }
    return errors;
  },
};

const authorizationGroup = 'rbac.authorization.k8s.io';

function bindingStrategy(): Strategy {
  return {
    nameRule: isPathSegment,
    createOnUpdate: true,
    defaults(draft) {
      const roleRef = draft['roleRef'];
      if (isObject(roleRef) && stringAt(roleRef, 'apiGroup') === '') roleRef['apiGroup'] = authorizationGroup;
      for (const subject of listAt(draft, 'subjects')) {
        if (subject['kind'] !== 'ServiceAccount') setDefault(subject, 'apiGroup', authorizationGroup);
      }
    },
    validate(object) {
      const roleRef = objectAt(object, 'roleRef');
      const errors: FieldError[] = [];
      if (!['Role', 'ClusterRole'].includes(stringAt(roleRef, 'kind'))) {
        errors.push(notSupported('roleRef.kind', roleRef['kind'] ?? '', ['ClusterRole', 'Role']));
      }
      if (stringAt(roleRef, 'name') === '') errors.push(required('roleRef.name'));
      return errors;
    },
    validateUpdate: (object, old) =>
      isIdentical(object['roleRef'], old['roleRef'])
        ? []
        : [invalidValue('roleRef', object['roleRef'], 'field is immutable')],
  };
}

const roleStrategy: Strategy = {
  nameRule: isPathSegment,
  createOnUpdate: true,
  validate(object: JsonObject) {
    return listAt(object, 'rules').flatMap((rule, index) => {
      const at = `rules[${index}]`;
      if (listAt(rule, 'verbs').length === 0) return [required(`${at}.verbs`)];
      if (listAt(rule, 'nonResourceURLs').length > 0) return [];
      return [
        ...(listAt(rule, 'apiGroups').length === 0
          ? [required(`${at}.apiGroups`, 'resource rules must supply at least one api group')]
          : []),
        ...(listAt(rule, 'resources').length === 0
          ? [required(`${at}.resources`, 'resource rules must supply at least one resource')]
          : []),
      ];
    });
  },
};

const deviceStrategy: Strategy = { returnsDeleted: true, generation: true };

const taintRuleStrategy: Strategy = { returnsDeleted: true, generation: true, ...keepStatus };

/** A request that names no amount asks for one device. */
function defaultDeviceRequests(spec: JsonObject): void {
  for (const request of listAt(objectAt(spec, 'devices'), 'requests')) {
    for (const exact of [request['exactly'], ...listAt(request, 'firstAvailable')]) {
      if (!isObject(exact)) continue;
      setDefault(exact, 'allocationMode', 'ExactCount');
      if (exact['allocationMode'] === 'ExactCount') setDefault(exact, 'count', 1);
    }
  }
}

const claimTemplateStrategy: Strategy = {
  returnsDeleted: true,
  defaults: (draft) => defaultDeviceRequests(objectAt(objectAt(draft, 'spec'), 'spec')),
};

const deviceClaimStrategy: Strategy = {
  returnsDeleted: true,
  ...keepStatus,
  defaults: (draft) => defaultDeviceRequests(objectAt(draft, 'spec')),
  prepareCreate(draft) {
    draft['status'] = {};
  },
};

export const policyKinds: ResourceDefinition[] = [
  policy({
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    shortNames: ['pdb'],
    subresources: ['status'],
    strategy: budgetStrategy,
  }),
  scheduling({
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    cluster: true,
    shortNames: ['pc'],
    strategy: priorityStrategy,
  }),
  storage({
    kind: 'StorageClass',
    plural: 'storageclasses',
    cluster: true,
    shortNames: ['sc'],
    strategy: storageClassStrategy,
  }),
  storage({
    kind: 'CSINode',
    plural: 'csinodes',
    cluster: true,
    strategy: { unconditionalUpdate: false, returnsDeleted: true },
  }),
  storage({
    kind: 'CSIDriver',
    plural: 'csidrivers',
    cluster: true,
    strategy: { unconditionalUpdate: false, returnsDeleted: true },
  }),
  storage({
    kind: 'VolumeAttachment',
    plural: 'volumeattachments',
    cluster: true,
    subresources: ['status'],
    strategy: attachmentStrategy,
  }),
  coordination({ kind: 'Lease', plural: 'leases', strategy: leaseStrategy }),
  rbac({ kind: 'Role', plural: 'roles', strategy: roleStrategy }),
  rbac({ kind: 'RoleBinding', plural: 'rolebindings', strategy: bindingStrategy() }),
  rbac({ kind: 'ClusterRole', plural: 'clusterroles', cluster: true, strategy: roleStrategy }),
  rbac({ kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', cluster: true, strategy: bindingStrategy() }),
  devices({ kind: 'ResourceClaim', plural: 'resourceclaims', subresources: ['status'], strategy: deviceClaimStrategy }),
  devices({ kind: 'ResourceClaimTemplate', plural: 'resourceclaimtemplates', strategy: claimTemplateStrategy }),
  devices({ kind: 'DeviceClass', plural: 'deviceclasses', cluster: true, strategy: deviceStrategy }),
  devices({
    kind: 'DeviceTaintRule',
    plural: 'devicetaintrules',
    cluster: true,
    subresources: ['status'],
    strategy: taintRuleStrategy,
  }),
  devices({
    kind: 'ResourceSlice',
    plural: 'resourceslices',
    cluster: true,
    fields: { 'spec.nodeName': fieldAt('spec.nodeName'), 'spec.driver': fieldAt('spec.driver') },
    strategy: deviceStrategy,
  }),
];
