// The Pod: its life as an object.

import { isSubdomain } from '../../../api/index.ts';
import { isIdentical, parseQuantity } from '../../../base/index.ts';
import { type JsonObject, listAt, objectAt } from '../../json.ts';
import type { Strategy } from '../definition.ts';
import { required } from '../field-error.ts';
import { admitPod } from './pod-admission.ts';
import { defaultPod } from './pod-defaults.ts';
import { validatePodSpec, validatePodUpdate } from './pod-validation.ts';

export const podStrategy: Strategy = {
  nameRule: isSubdomain,
  generation: true,
  returnsDeleted: true,
  defaults: defaultPod,
  admit(draft, around, old) {
    if (old === undefined) admitPod(draft, around);
  },
  prepareCreate(draft, around) {
    const spec = objectAt(draft, 'spec');
    const status: JsonObject = { phase: 'Pending', qosClass: qosClassOf(spec) };
    if (listAt(spec, 'schedulingGates').length > 0) {
      status['conditions'] = [
        {
          type: 'PodScheduled',
          status: 'False',
          lastProbeTime: null,
          lastTransitionTime: around.timestamp(),
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
        },
      ];
    }
    draft['status'] = status;
    // A negative grace means the shortest there is.
    if (Number(spec['terminationGracePeriodSeconds']) < 0) spec['terminationGracePeriodSeconds'] = 1;
  },
  prepareUpdate(draft, old) {
    draft['status'] = old['status'];
  },
  prepareStatus(draft, old) {
    draft['spec'] = old['spec'];
    const meta = objectAt(draft, 'metadata');
    meta['ownerReferences'] = old.metadata.ownerReferences;
    if (meta['ownerReferences'] === undefined) delete meta['ownerReferences'];
    const status = objectAt(draft, 'status');
    const before = objectAt(old, 'status');
    if (status['qosClass'] === undefined && before['qosClass'] !== undefined) status['qosClass'] = before['qosClass'];
  },
  validate: (pod) => validatePodSpec(objectAt(pod, 'spec'), 'spec'),
  validateUpdate: (pod, old) => (isIdentical(pod['spec'], old['spec']) ? [] : [...validatePodUpdate(pod, old)]),
  validateStatus(pod) {
    return listAt(objectAt(pod, 'status'), 'conditions').flatMap((condition, index) =>
      condition['type'] === undefined || condition['type'] === '' ? [required(`status.conditions[${index}].type`)] : [],
    );
  },
};

const computeResources = ['cpu', 'memory'];

function qosClassOf(spec: JsonObject): string {
  const containers = [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')];
  let any = false;
  let guaranteed = containers.length > 0;
  const whole = objectAt(spec, 'resources');
  const scopes =
    whole['requests'] !== undefined || whole['limits'] !== undefined
      ? [whole]
      : containers.map((container) => objectAt(container, 'resources'));
  for (const scope of scopes) {
    const requests = objectAt(scope, 'requests');
    const limits = objectAt(scope, 'limits');
    for (const name of computeResources) {
      const request = requests[name] === undefined ? 0n : parseQuantity(requests[name] as string).nano;
      const limit = limits[name] === undefined ? 0n : parseQuantity(limits[name] as string).nano;
      if (request > 0n || limit > 0n) any = true;
      if (limit === 0n || request !== limit) guaranteed = false;
    }
  }
  if (!any) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}
