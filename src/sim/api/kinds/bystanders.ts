// CronJob, HorizontalPodAutoscaler and ResourceQuota: objects that manifests of real workloads bring along, so that applying
// them works and `kubectl get` shows them. Nothing acts on them: no job is started, nothing scales, no quota refuses.
import { ensureObject, type JsonObject, listAt, objectAt, setDefault, stringAt } from '../../json.ts';
import type { ResourceDefinition, Strategy } from '../definition.ts';
import { type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { builtIn } from './built-in.ts';
import { defaultPodSpec } from './pod-defaults.ts';
import { validatePodSpec } from './pod-validation.ts';

const core = builtIn('', 'v1', 'api.core.v1');
const batch = builtIn('batch', 'v1', 'api.batch.v1');
const autoscaling = builtIn('autoscaling', 'v2', 'api.autoscaling.v2');

const statusOfItsOwn = (first: JsonObject): Pick<Strategy, 'prepareCreate' | 'prepareUpdate'> => ({
  prepareCreate(draft) {
    draft['status'] = { ...first };
  },
  prepareUpdate(draft, old) {
    draft['status'] = old['status'];
  },
});

const podSpecOf = (spec: JsonObject): JsonObject =>
  ['jobTemplate', 'spec', 'template', 'spec'].reduce((parent, key) => ensureObject(parent, key), spec);

const concurrencyPolicies = ['Allow', 'Forbid', 'Replace'];

const cronJobStrategy: Strategy = {
  generation: true,
  ...statusOfItsOwn({}),
  defaults(draft) {
    const spec = ensureObject(draft, 'spec');
    setDefault(spec, 'concurrencyPolicy', 'Allow');
    setDefault(spec, 'suspend', false);
    setDefault(spec, 'successfulJobsHistoryLimit', 3);
    setDefault(spec, 'failedJobsHistoryLimit', 1);
    defaultPodSpec(podSpecOf(spec));
  },
  validate(object) {
    const spec = ensureObject(object, 'spec');
    const podSpec = podSpecOf(spec);
    const at = 'spec.jobTemplate.spec.template.spec';
    const errors: FieldError[] = [];
    if (stringAt(spec, 'schedule') === '') errors.push(required('spec.schedule'));
    if (!concurrencyPolicies.includes(stringAt(spec, 'concurrencyPolicy')))
      errors.push(notSupported('spec.concurrencyPolicy', spec['concurrencyPolicy'], concurrencyPolicies));
    errors.push(...validatePodSpec(podSpec, at));
    if (podSpec['restartPolicy'] !== 'OnFailure' && podSpec['restartPolicy'] !== 'Never')
      errors.push(required(`${at}.restartPolicy`, 'valid values: "OnFailure", "Never"'));
    return errors;
  },
};

const wantsCpu = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};
const grows = [
  { type: 'Pods', value: 4, periodSeconds: 15 },
  { type: 'Percent', value: 100, periodSeconds: 15 },
];
const shrinks = [{ type: 'Percent', value: 100, periodSeconds: 15 }];

const autoscalerStrategy: Strategy = {
  ...statusOfItsOwn({ desiredReplicas: 0, currentMetrics: null }),
  defaults(draft) {
    const spec = ensureObject(draft, 'spec');
    setDefault(spec, 'minReplicas', 1);
    if (listAt(spec, 'metrics').length === 0) spec['metrics'] = [structuredClone(wantsCpu)];
    if (spec['behavior'] === undefined) return;
    const behavior = ensureObject(spec, 'behavior');
    const [up, down] = [ensureObject(behavior, 'scaleUp'), ensureObject(behavior, 'scaleDown')];
    setDefault(up, 'stabilizationWindowSeconds', 0);
    for (const [rules, policies] of [
      [up, grows],
      [down, shrinks],
    ] as const) {
      setDefault(rules, 'selectPolicy', 'Max');
      setDefault(rules, 'policies', structuredClone(policies));
    }
  },
  validate(object) {
    const spec = objectAt(object, 'spec');
    const [least, most] = [Number(spec['minReplicas'] ?? 1), Number(spec['maxReplicas'] ?? 0)];
    const target = objectAt(spec, 'scaleTargetRef');
    const errors: FieldError[] = [];
    if (least < 1) errors.push(invalidValue('spec.minReplicas', least, 'must be greater than or equal to 1'));
    if (most === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
    else if (most < 0) errors.push(invalidValue('spec.maxReplicas', most, 'must be greater than or equal to 1'));
    if (most < least)
      errors.push(invalidValue('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`'));
    for (const key of ['kind', 'name'])
      if (stringAt(target, key) === '') errors.push(required(`spec.scaleTargetRef.${key}`));
    return errors;
  },
};

export const bystanderKinds: ResourceDefinition[] = [
  core({
    kind: 'ResourceQuota',
    plural: 'resourcequotas',
    shortNames: ['quota'],
    subresources: ['status'],
    strategy: { createOnUpdate: true, ...statusOfItsOwn({}) },
  }),
  batch({
    kind: 'CronJob',
    plural: 'cronjobs',
    shortNames: ['cj'],
    categories: ['all'],
    subresources: ['status'],
    strategy: cronJobStrategy,
  }),
  autoscaling({
    kind: 'HorizontalPodAutoscaler',
    plural: 'horizontalpodautoscalers',
    shortNames: ['hpa'],
    categories: ['all'],
    subresources: ['status'],
    strategy: autoscalerStrategy,
  }),
];
