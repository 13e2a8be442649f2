// Deployment, ReplicaSet, StatefulSet, DaemonSet, ControllerRevision, Job: defaults, generation and rules.
import { isIdentical } from '../../../base/index.ts';
import { ensureObject, isObject, type JsonObject, listAt, objectAt, setDefault, stringAt } from '../../json.ts';
import type { ResourceDefinition, ScalePaths, Strategy } from '../definition.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../field-error.ts';
import { validateImmutable, validateLabels } from '../metadata.ts';
import { labelSelectorMatcher } from '../selectors.ts';
import { validateLabelSelector } from './affinity-validation.ts';
import { builtIn, fieldAt } from './built-in.ts';
import { defaultPodSpec } from './pod-defaults.ts';
import { validatePodSpec } from './pod-validation.ts';

const apps = builtIn('apps', 'v1', 'api.apps.v1');
const batch = builtIn('batch', 'v1', 'api.batch.v1');

const scale: ScalePaths = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};

const specOf = (object: JsonObject): JsonObject => ensureObject(object, 'spec');
const templateOf = (spec: JsonObject): JsonObject => objectAt(spec, 'template');

const defaultTemplate = (spec: JsonObject): void =>
  defaultPodSpec(ensureObject(ensureObject(spec, 'template'), 'spec'));

/** Updates roll unless they say otherwise. */
function defaultRollout(spec: JsonObject, key: string, amounts: JsonObject): void {
  const strategy = ensureObject(spec, key);
  setDefault(strategy, 'type', 'RollingUpdate');
  if (strategy['type'] !== 'RollingUpdate') return;
  const rolling = ensureObject(strategy, 'rollingUpdate');
  for (const [name, amount] of Object.entries(amounts)) setDefault(rolling, name, amount);
}

function validateTemplate(spec: JsonObject): FieldError[] {
  const template = templateOf(spec);
  return [
    ...validateLabels(objectAt(template, 'metadata')['labels'], 'spec.template.labels'),
    ...validatePodSpec(objectAt(template, 'spec'), 'spec.template.spec'),
  ];
}

function validateSelector(spec: JsonObject): FieldError[] {
  const selector = spec['selector'];
  if (!isObject(selector)) return [required('spec.selector')];
  const errors = validateLabelSelector(selector, 'spec.selector');
  if (Object.keys(objectAt(selector, 'matchLabels')).length + listAt(selector, 'matchExpressions').length === 0) {
    errors.push(invalidValue('spec.selector', selector, 'empty selector is invalid for deployment'));
  }
  return errors;
}

function validateSelectsOwnPods(spec: JsonObject): FieldError[] {
  const labels = objectAt(objectAt(templateOf(spec), 'metadata'), 'labels');
  if (labelSelectorMatcher(spec['selector'])(labels)) return [];
  return [invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')];
}

function validateCount(spec: JsonObject, key: string): FieldError[] {
  const value = Number(spec[key] ?? 0);
  return value < 0 ? [invalidValue(`spec.${key}`, value, 'must be greater than or equal to 0')] : [];
}

function alwaysRestarts(spec: JsonObject): FieldError[] {
  const policy = objectAt(templateOf(spec), 'spec')['restartPolicy'];
  return policy === 'Always' ? [] : [notSupported('spec.template.spec.restartPolicy', policy, ['Always'])];
}

/** The parts that all four long-running workloads have in common. */
function workload(parts: Strategy & { rules(spec: JsonObject): FieldError[]; fixed: string[] }): Strategy {
  const { rules, fixed, ...rest } = parts;
  return {
    generation: true,
    prepareCreate(draft) {
      draft['status'] = {};
    },
    prepareUpdate(draft, old) {
      draft['status'] = old['status'];
    },
    validate: (object) => rules(specOf(object)),
    validateUpdate: (object, old) => [
      ...rules(specOf(object)),
      ...fixed.flatMap((key) => validateImmutable(specOf(object)[key], objectAt(old, 'spec')[key], `spec.${key}`)),
    ],
    ...rest,
  };
}

const isPercent = (value: unknown): value is string => typeof value === 'string' && /^\d+%$/.test(value);

function validateRollout(rolling: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of ['maxUnavailable', 'maxSurge']) {
    const value = rolling[key];
    if (typeof value === 'string' && !isPercent(value)) {
      errors.push(
        invalidValue(
          `${field}.${key}`,
          value,
          "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
        ),
      );
    }
  }
  const zero = (value: unknown): boolean => value === 0 || value === '0%';
  if (zero(rolling['maxUnavailable']) && zero(rolling['maxSurge'])) {
    errors.push(
      invalidValue(`${field}.maxUnavailable`, rolling['maxUnavailable'], 'may not be 0 when `maxSurge` is 0'),
    );
  }
  return errors;
}

const deploymentStrategy = workload({
  fixed: ['selector'],
  defaults(draft) {
    const spec = specOf(draft);
    setDefault(spec, 'replicas', 1);
    setDefault(spec, 'revisionHistoryLimit', 10);
    setDefault(spec, 'progressDeadlineSeconds', 600);
    defaultRollout(spec, 'strategy', { maxUnavailable: '25%', maxSurge: '25%' });
    defaultTemplate(spec);
  },
  rules(spec) {
    const strategy = objectAt(spec, 'strategy');
    const errors = [...validateCount(spec, 'replicas'), ...validateSelector(spec)];
    errors.push(...validateSelectsOwnPods(spec));
    errors.push(...validateTemplate(spec), ...alwaysRestarts(spec));
    if (strategy['type'] === 'Recreate') {
      if (strategy['rollingUpdate'] !== undefined) {
        errors.push(
          forbiddenField('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'"),
        );
      }
    } else if (strategy['type'] === 'RollingUpdate') {
      errors.push(...validateRollout(objectAt(strategy, 'rollingUpdate'), 'spec.strategy.rollingUpdate'));
    } else errors.push(notSupported('spec.strategy', strategy, ['Recreate', 'RollingUpdate']));
    return errors;
  },
});

const replicaSetStrategy = workload({
  fixed: ['selector'],
  defaults(draft) {
    const spec = specOf(draft);
    setDefault(spec, 'replicas', 1);
    defaultTemplate(spec);
  },
  prepareCreate(draft) {
    draft['status'] = { replicas: 0 };
  },
  rules: (spec) => [
    ...validateCount(spec, 'replicas'),
    ...validateSelector(spec),
    ...validateSelectsOwnPods(spec),
    ...validateTemplate(spec),
    ...alwaysRestarts(spec),
  ],
});

const statefulSetFixed = ['selector', 'volumeClaimTemplates', 'serviceName', 'podManagementPolicy'];

/** The specification as its pods will see it: each claim template is a volume that containers may mount. */
function withClaimedVolumes(spec: JsonObject): JsonObject {
  const claims = listAt(spec, 'volumeClaimTemplates').map((claim) => stringAt(objectAt(claim, 'metadata'), 'name'));
  if (claims.length === 0) return spec;
  const template = templateOf(spec);
  const podSpec = objectAt(template, 'spec');
  const claimed = claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const volumes = [...listAt(podSpec, 'volumes').filter(({ name }) => !claims.includes(String(name))), ...claimed];
  return { ...spec, template: { ...template, spec: { ...podSpec, volumes } } };
}

const statefulSetStrategy: Strategy = {
  ...workload({
    fixed: [],
    defaults(draft) {
      const spec = specOf(draft);
      setDefault(spec, 'podManagementPolicy', 'OrderedReady');
      setDefault(spec, 'replicas', 1);
      setDefault(spec, 'revisionHistoryLimit', 10);
      setDefault(spec, 'persistentVolumeClaimRetentionPolicy', {});
      const retention = objectAt(spec, 'persistentVolumeClaimRetentionPolicy');
      setDefault(retention, 'whenDeleted', 'Retain');
      setDefault(retention, 'whenScaled', 'Retain');
      defaultRollout(spec, 'updateStrategy', { partition: 0, maxUnavailable: 1 });
      for (const claim of listAt(spec, 'volumeClaimTemplates')) {
        setDefault(claim, 'apiVersion', 'v1');
        setDefault(claim, 'kind', 'PersistentVolumeClaim');
        setDefault(ensureObject(claim, 'spec'), 'volumeMode', 'Filesystem');
        setDefault(ensureObject(claim, 'status'), 'phase', 'Pending');
      }
      defaultTemplate(spec);
    },
    rules: (spec) => [
      ...validateCount(spec, 'replicas'),
      ...validateSelector(spec),
      ...validateSelectsOwnPods(spec),
      ...validateTemplate(withClaimedVolumes(spec)),
      ...alwaysRestarts(spec),
    ],
  }),
  prepareCreate(draft) {
    draft['status'] = { replicas: 0, availableReplicas: 0 };
  },
  validateUpdate(object, old) {
    const spec = specOf(object);
    const before = objectAt(old, 'spec');
    return statefulSetFixed.flatMap((key) => validateImmutable(spec[key], before[key], `spec.${key}`));
  },
};

/** Counts changes of the template, for controllers older than generations. */
const templateGeneration = 'deprecated.daemonset.template.generation';

const daemonSetStrategy = workload({
  fixed: ['selector'],
  defaults(draft) {
    const spec = specOf(draft);
    setDefault(spec, 'revisionHistoryLimit', 10);
    defaultRollout(spec, 'updateStrategy', { maxUnavailable: 1, maxSurge: 0 });
    defaultTemplate(spec);
  },
  prepareCreate(draft) {
    ensureObject(objectAt(draft, 'metadata'), 'annotations')[templateGeneration] = '1';
    draft['status'] = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
  },
  prepareUpdate(draft, old) {
    draft['status'] = old['status'];
    const before = Number(old.metadata.annotations?.[templateGeneration] ?? 0);
    const changed = !isIdentical(specOf(draft)['template'], objectAt(old, 'spec')['template']);
    ensureObject(objectAt(draft, 'metadata'), 'annotations')[templateGeneration] = String(
      changed ? before + 1 : before,
    );
  },
  rules: (spec) => [
    ...validateSelector(spec),
    ...validateSelectsOwnPods(spec),
    ...validateTemplate(spec),
    ...alwaysRestarts(spec),
  ],
});

const jobStrategy: Strategy = {
  generation: true,
  defaults(draft) {
    const spec = specOf(draft);
    if (spec['completions'] === undefined && spec['parallelism'] === undefined) spec['completions'] = 1;
    setDefault(spec, 'parallelism', 1);
    setDefault(spec, 'backoffLimit', 6);
    setDefault(spec, 'completionMode', 'NonIndexed');
    setDefault(spec, 'suspend', false);
    setDefault(spec, 'manualSelector', false);
    setDefault(spec, 'podReplacementPolicy', spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed');
    defaultTemplate(spec);
  },
  prepareCreate(draft) {
    draft['status'] = {};
    const spec = specOf(draft);
    if (spec['manualSelector'] === true) return;
    // A job's pods are distinguished by the job's own id, so that no two jobs count each other's pods.
    const meta = objectAt(draft, 'metadata');
    const uid = stringAt(meta, 'uid');
    const labels = ensureObject(ensureObject(ensureObject(spec, 'template'), 'metadata'), 'labels');
    const name = stringAt(meta, 'name');
    Object.assign(labels, {
      'batch.kubernetes.io/controller-uid': uid,
      'batch.kubernetes.io/job-name': name,
      'controller-uid': uid,
      'job-name': name,
    });
    ensureObject(ensureObject(spec, 'selector'), 'matchLabels')['batch.kubernetes.io/controller-uid'] = uid;
    setDefault(meta, 'labels', { ...labels });
  },
  prepareUpdate(draft, old) {
    draft['status'] = old['status'];
  },
  validate(object) {
    const spec = specOf(object);
    const errors = ['parallelism', 'completions', 'backoffLimit'].flatMap((key) => validateCount(spec, key));
    errors.push(...validateTemplate(spec));
    const policy = objectAt(templateOf(spec), 'spec')['restartPolicy'];
    if (policy !== 'OnFailure' && policy !== 'Never') {
      errors.push(required('spec.template.spec.restartPolicy', 'valid values: "OnFailure", "Never"'));
    }
    return errors;
  },
  validateUpdate(object, old) {
    const spec = specOf(object);
    const before = objectAt(old, 'spec');
    const errors = validateCount(spec, 'parallelism');
    for (const key of ['completions', 'selector', 'template', 'completionMode']) {
      errors.push(...validateImmutable(spec[key], before[key], `spec.${key}`));
    }
    return errors;
  },
};

export const workloadKinds: ResourceDefinition[] = [
  {
    ...apps({
      kind: 'Deployment',
      plural: 'deployments',
      shortNames: ['deploy'],
      categories: ['all'],
      subresources: ['status', 'scale'],
      strategy: deploymentStrategy,
    }),
    scale,
  },
  {
    ...apps({
      kind: 'ReplicaSet',
      plural: 'replicasets',
      shortNames: ['rs'],
      categories: ['all'],
      subresources: ['status', 'scale'],
      fields: { 'status.replicas': fieldAt('status.replicas') },
      strategy: replicaSetStrategy,
    }),
    scale,
  },
  {
    ...apps({
      kind: 'StatefulSet',
      plural: 'statefulsets',
      shortNames: ['sts'],
      categories: ['all'],
      subresources: ['status', 'scale'],
      strategy: statefulSetStrategy,
    }),
    scale,
  },
  apps({
    kind: 'DaemonSet',
    plural: 'daemonsets',
    shortNames: ['ds'],
    categories: ['all'],
    subresources: ['status'],
    strategy: daemonSetStrategy,
  }),
  apps({ kind: 'ControllerRevision', plural: 'controllerrevisions' }),
  batch({
    kind: 'Job',
    plural: 'jobs',
    categories: ['all'],
    subresources: ['status'],
    fields: { 'status.successful': fieldAt('status.succeeded', '0') },
    strategy: jobStrategy,
  }),
];
