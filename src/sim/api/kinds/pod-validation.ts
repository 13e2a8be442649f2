// What a pod spec must obey: the rules users of a scheduler and an autoscaler run into, in the API server's words.

import { isLabel, isLabelValue, isQualifiedName } from '../../../api/index.ts';
import { compareQuantities, isIdentical, parseQuantity } from '../../../base/index.ts';
import { isObject, type JsonObject, listAt, objectAt, stringAt } from '../../json.ts';
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notFoundValue,
  notSupported,
  required,
} from '../field-error.ts';
import { validateUnique } from '../metadata.ts';
import { validateAffinity, validateLabelSelector } from './affinity-validation.ts';

const atLeastZero = 'must be greater than or equal to 0';

export function validatePodSpec(spec: JsonObject, field: string): FieldError[] {
  const volumes = new Set(listAt(spec, 'volumes').map((volume) => stringAt(volume, 'name')));
  const containers = listAt(spec, 'containers');
  const errors: FieldError[] = [];
  listAt(spec, 'volumes').forEach((volume, index) =>
    errors.push(...validateVolume(volume, `${field}.volumes[${index}]`)),
  );
  errors.push(
    ...validateUnique(
      listAt(spec, 'volumes').map((volume) => volume['name']),
      (index) => `${field}.volumes[${index}].name`,
    ),
  );
  if (containers.length === 0) errors.push(required(`${field}.containers`));
  containers.forEach((container, index) =>
    errors.push(...validateContainer(container, `${field}.containers[${index}]`, volumes)),
  );
  errors.push(
    ...validateUnique(
      containers.map((container) => container['name']),
      (index) => `${field}.containers[${index}].name`,
    ),
  );
  listAt(spec, 'initContainers').forEach((container, index) =>
    errors.push(...validateContainer(container, `${field}.initContainers[${index}]`, volumes)),
  );
  errors.push(...oneOf(spec, 'restartPolicy', ['Always', 'OnFailure', 'Never'], field));
  errors.push(...oneOf(spec, 'dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], field));
  for (const [key, value] of Object.entries(objectAt(spec, 'nodeSelector'))) {
    for (const detail of isQualifiedName(key)) errors.push(invalidValue(`${field}.nodeSelector`, key, detail));
    for (const detail of isLabelValue(String(value))) errors.push(invalidValue(`${field}.nodeSelector`, value, detail));
  }
  const deadline = spec['activeDeadlineSeconds'];
  if (deadline !== undefined && (Number(deadline) < 1 || Number(deadline) > 2 ** 31 - 1)) {
    errors.push(
      invalidValue(`${field}.activeDeadlineSeconds`, deadline, 'must be between 1 and 2147483647, inclusive'),
    );
  }
  errors.push(...validateTolerations(listAt(spec, 'tolerations'), `${field}.tolerations`));
  errors.push(...validateAffinity(spec['affinity'], `${field}.affinity`));
  errors.push(
    ...validateTopologySpread(listAt(spec, 'topologySpreadConstraints'), `${field}.topologySpreadConstraints`),
  );
  if (stringAt(spec, 'priorityClassName') === '' && Number(spec['priority'] ?? 0) > 2_000_000_000) {
    errors.push(invalidValue(`${field}.priority`, spec['priority'], 'must be set by a priority class'));
  }
  return errors;
}

function oneOf(object: JsonObject, key: string, allowed: string[], field: string): FieldError[] {
  const value = object[key];
  if (value === undefined || value === '') return [required(`${field}.${key}`)];
  return allowed.includes(value as string) ? [] : [notSupported(`${field}.${key}`, value, allowed)];
}

function validateVolume(volume: JsonObject, field: string): FieldError[] {
  const name = stringAt(volume, 'name');
  const errors =
    name === ''
      ? [required(`${field}.name`)]
      : isLabel(name).map((detail) => invalidValue(`${field}.name`, name, detail));
  const sources = Object.keys(volume).filter((key) => key !== 'name');
  for (const extra of sources.slice(1)) {
    errors.push(forbiddenField(`${field}.${extra}`, 'may not specify more than 1 volume type'));
  }
  if (
    isObject(volume['persistentVolumeClaim']) &&
    stringAt(objectAt(volume, 'persistentVolumeClaim'), 'claimName') === ''
  ) {
    errors.push(required(`${field}.persistentVolumeClaim.claimName`));
  }
  return errors;
}

function validateContainer(container: JsonObject, field: string, volumes: Set<string>): FieldError[] {
  const name = stringAt(container, 'name');
  const image = stringAt(container, 'image');
  const errors =
    name === ''
      ? [required(`${field}.name`)]
      : isLabel(name).map((detail) => invalidValue(`${field}.name`, name, detail));
  if (image === '') errors.push(required(`${field}.image`));
  else if (image.trim() !== image)
    errors.push(invalidValue(`${field}.image`, image, 'must not have leading or trailing whitespace'));
  errors.push(...oneOf(container, 'imagePullPolicy', ['Always', 'IfNotPresent', 'Never'], field));
  listAt(container, 'ports').forEach((port, index) => errors.push(...validatePort(port, `${field}.ports[${index}]`)));
  listAt(container, 'env').forEach((variable, index) => {
    const key = stringAt(variable, 'name');
    if (key === '') errors.push(required(`${field}.env[${index}].name`));
    if (variable['valueFrom'] !== undefined && stringAt(variable, 'value') !== '') {
      errors.push(
        invalidValue(`${field}.env[${index}].valueFrom`, '', 'may not be specified when `value` is not empty'),
      );
    }
  });
  const mounts = listAt(container, 'volumeMounts');
  mounts.forEach((mount, index) => {
    const at = `${field}.volumeMounts[${index}]`;
    const volume = stringAt(mount, 'name');
    if (volume === '') errors.push(required(`${at}.name`));
    else if (!volumes.has(volume)) errors.push(notFoundValue(`${at}.name`, volume));
    if (stringAt(mount, 'mountPath') === '') errors.push(required(`${at}.mountPath`));
  });
  errors.push(
    ...validateUnique(
      mounts.map((mount) => mount['mountPath']),
      (index) => `${field}.volumeMounts[${index}].mountPath`,
      (at, index) => invalidValue(at, mounts[index]?.['mountPath'], 'must be unique'),
    ),
  );
  errors.push(...validateResources(objectAt(container, 'resources'), `${field}.resources`));
  return errors;
}

function validatePort(port: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const number = Number(port['containerPort'] ?? 0);
  if (number === 0) errors.push(required(`${field}.containerPort`));
  else if (number < 1 || number > 65_535) {
    errors.push(invalidValue(`${field}.containerPort`, number, 'must be between 1 and 65535, inclusive'));
  }
  const host = Number(port['hostPort'] ?? 0);
  if (host < 0 || host > 65_535) {
    errors.push(invalidValue(`${field}.hostPort`, host, 'must be between 1 and 65535, inclusive'));
  }
  return [...errors, ...oneOf(port, 'protocol', ['SCTP', 'TCP', 'UDP'], field)];
}

const standardResources = new Set(['cpu', 'memory', 'ephemeral-storage']);
const isExtended = (name: string): boolean => name.includes('/') && !name.includes('kubernetes.io/');

function validateResources(resources: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const limits = objectAt(resources, 'limits');
  const requests = objectAt(resources, 'requests');
  for (const [side, amounts] of [
    ['limits', limits],
    ['requests', requests],
  ] as const) {
    for (const [name, amount] of Object.entries(amounts)) {
      const at = `${field}.${side}[${name}]`;
      for (const detail of isQualifiedName(name)) errors.push(invalidValue(at, name, detail));
      if (!standardResources.has(name) && !name.includes('/') && !name.startsWith('hugepages-')) {
        errors.push(invalidValue(at, name, 'must be a standard resource type or fully qualified'));
        errors.push(invalidValue(at, name, 'must be a standard resource for containers'));
      }
      const quantity = parseQuantity(amount as string);
      if (quantity.nano < 0n) errors.push(invalidValue(at, amount, atLeastZero));
      else if (isExtended(name) && quantity.nano % 1_000_000_000n !== 0n) {
        errors.push(invalidValue(at, amount, 'must be an integer'));
      }
    }
  }
  for (const [name, amount] of Object.entries(requests)) {
    const limit = limits[name];
    if (limit === undefined) {
      if (isExtended(name))
        errors.push(required(`${field}.limits`, 'Limit must be set for non overcommitable resources'));
      continue;
    }
    const order = compareQuantities(parseQuantity(amount as string), parseQuantity(limit as string));
    if (isExtended(name) && order !== 0) {
      errors.push(invalidValue(`${field}.requests`, amount, `must be equal to ${name} limit of ${String(limit)}`));
    } else if (order > 0) {
      errors.push(
        invalidValue(`${field}.requests`, amount, `must be less than or equal to ${name} limit of ${String(limit)}`),
      );
    }
  }
  return errors;
}

export function validateTolerations(tolerations: JsonObject[], field: string): FieldError[] {
  return tolerations.flatMap((toleration, index) => {
    const at = `${field}[${index}]`;
    const errors: FieldError[] = [];
    const key = stringAt(toleration, 'key');
    const operator = stringAt(toleration, 'operator');
    if (key !== '') for (const detail of isQualifiedName(key)) errors.push(invalidValue(`${at}.key`, key, detail));
    if (key === '' && operator !== 'Exists') {
      errors.push(
        invalidValue(
          `${at}.operator`,
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    }
    if (toleration['tolerationSeconds'] !== undefined && toleration['effect'] !== 'NoExecute') {
      errors.push(
        invalidValue(
          `${at}.effect`,
          stringAt(toleration, 'effect'),
          "effect must be 'NoExecute' when `tolerationSeconds` is set",
        ),
      );
    }
    if (operator === 'Exists') {
      if (stringAt(toleration, 'value') !== '') {
        errors.push(
          invalidValue(`${at}.operator`, toleration['value'], "value must be empty when `operator` is 'Exists'"),
        );
      }
    } else if (operator !== '' && operator !== 'Equal') {
      errors.push(notSupported(`${at}.operator`, operator, ['Equal', 'Exists']));
    } else {
      for (const detail of isLabelValue(stringAt(toleration, 'value'))) {
        errors.push(invalidValue(`${at}.operator`, toleration['value'], detail));
      }
    }
    const effect = stringAt(toleration, 'effect');
    if (effect !== '' && !['NoSchedule', 'PreferNoSchedule', 'NoExecute'].includes(effect)) {
      errors.push(notSupported(`${at}.effect`, effect, ['NoSchedule', 'PreferNoSchedule', 'NoExecute']));
    }
    return errors;
  });
}

function validateTopologySpread(constraints: JsonObject[], field: string): FieldError[] {
  return constraints.flatMap((constraint, index) => {
    const at = `${field}[${index}]`;
    const errors: FieldError[] = [];
    if (Number(constraint['maxSkew'] ?? 0) <= 0) {
      errors.push(invalidValue(`${at}.maxSkew`, constraint['maxSkew'] ?? 0, 'must be greater than zero'));
    }
    const key = stringAt(constraint, 'topologyKey');
    if (key === '') errors.push(required(`${at}.topologyKey`, 'can not be empty'));
    else for (const detail of isQualifiedName(key)) errors.push(invalidValue(`${at}.topologyKey`, key, detail));
    const when = stringAt(constraint, 'whenUnsatisfiable');
    if (when !== 'DoNotSchedule' && when !== 'ScheduleAnyway') {
      errors.push(notSupported(`${at}.whenUnsatisfiable`, when, ['DoNotSchedule', 'ScheduleAnyway']));
    }
    if (constraint['minDomains'] !== undefined) {
      if (Number(constraint['minDomains']) <= 0) {
        errors.push(invalidValue(`${at}.minDomains`, constraint['minDomains'], 'must be greater than zero'));
      }
      if (when === 'ScheduleAnyway') {
        errors.push(
          invalidValue(
            `${at}.minDomains`,
            constraint['minDomains'],
            'can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway',
          ),
        );
      }
    }
    errors.push(...validateLabelSelector(constraint['labelSelector'], `${at}.labelSelector`));
    const twin = constraints.findLastIndex(
      (other) =>
        other['topologyKey'] === constraint['topologyKey'] &&
        other['whenUnsatisfiable'] === constraint['whenUnsatisfiable'],
    );
    if (twin !== index) {
      errors.push(duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${key}, ${when}}`));
    }
    return errors;
  });
}

const changeable =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** A running pod's spec stays what it is, but for images, deadlines, additional tolerations and lifted scheduling gates. */
export function validatePodUpdate(pod: JsonObject, old: JsonObject): FieldError[] {
  const spec = objectAt(pod, 'spec');
  const before = objectAt(old, 'spec');
  if (spec === before) return [];
  const errors: FieldError[] = [];
  const tolerations = listAt(spec, 'tolerations');
  if (
    listAt(before, 'tolerations').some((toleration) => !tolerations.some((other) => isIdentical(other, toleration)))
  ) {
    errors.push(
      forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds'),
    );
  }
  const gates = new Set(listAt(before, 'schedulingGates').map((gate) => gate['name']));
  for (const [index, gate] of listAt(spec, 'schedulingGates').entries()) {
    if (!gates.has(gate['name'])) {
      errors.push(
        forbiddenField(
          `spec.schedulingGates[${index}].name`,
          `only deletion is allowed, but found new scheduling gate '${String(gate['name'])}'`,
        ),
      );
    }
  }
  const gated = gates.size > 0;
  const fixed = (value: JsonObject): JsonObject => {
    const {
      activeDeadlineSeconds: _a,
      tolerations: _t,
      schedulingGates: _s,
      containers,
      initContainers,
      ...rest
    } = value;
    if (gated) {
      delete rest['nodeSelector'];
      delete rest['affinity'];
    }
    const imageless = (list: unknown): unknown =>
      Array.isArray(list) ? list.map(({ image: _i, ...container }: JsonObject) => container) : list;
    return { ...rest, containers: imageless(containers), initContainers: imageless(initContainers) ?? null };
  };
  if (!isIdentical(fixed(spec), fixed(before))) errors.push(forbiddenField('spec', changeable));
  return errors;
}
