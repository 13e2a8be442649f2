// Binding a pod to a node, as a scheduler does.
import { isObject, type JsonObject, listAt, objectAt, stringAt, thaw } from '../../json.ts';
import { collectionOf, type ResourceDefinition } from '../definition.ts';
import { invalidValue } from '../field-error.ts';
import { get, type Machinery } from '../machinery.ts';
import { conflict, invalid, StatusError } from '../status.ts';

/** A pod gets the labels of where its node is, so that workloads can read it from their own labels. */
const inheritedLabels = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

export function bind(
  machinery: Machinery,
  pods: ResourceDefinition,
  namespace: string,
  name: string,
  binding: JsonObject,
  dryRun: boolean,
): void {
  const target = objectAt(binding, 'target');
  const kind = stringAt(target, 'kind');
  const nodeName = stringAt(target, 'name');
  const bindings = { group: '', plural: 'bindings', kind: 'Binding' };
  if (kind !== '' && kind !== 'Node')
    throw invalid(bindings, name, [invalidValue('target.kind', kind, 'must be "Node" or empty')]);
  if (nodeName === '') throw new StatusError(500, '', 'target.name: Required value');
  const pod = get(machinery, pods, namespace, name);
  const subject = { group: '', plural: 'pods/binding', kind: 'Binding' };
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw conflict(subject, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  const assigned = stringAt(objectAt(pod, 'spec'), 'nodeName');
  if (assigned !== '') throw conflict(subject, name, `pod ${name} is already assigned to node "${assigned}"`);
  if (listAt(objectAt(pod, 'spec'), 'schedulingGates').length > 0) {
    throw conflict(subject, name, `pod ${name} has non-empty .spec.schedulingGates`);
  }
  if (dryRun) return;
  const draft = thaw(pod) as JsonObject;
  objectAt(draft, 'spec')['nodeName'] = nodeName;
  const meta = objectAt(draft, 'metadata');
  const annotations = objectAt(binding, 'metadata')['annotations'];
  if (isObject(annotations)) meta['annotations'] = { ...objectAt(meta, 'annotations'), ...annotations };
  inheritLabels(machinery, meta, nodeName);
  markScheduled(machinery, draft);
  machinery.store.put(collectionOf(pods), draft);
}

function inheritLabels(machinery: Machinery, meta: JsonObject, nodeName: string): void {
  const labels = machinery.around.get('nodes', undefined, nodeName)?.metadata.labels ?? {};
  for (const key of inheritedLabels) {
    const value = labels[key];
    if (value !== undefined) meta['labels'] = { ...objectAt(meta, 'labels'), [key]: value };
  }
}

function markScheduled(machinery: Machinery, draft: JsonObject): void {
  const status = objectAt(draft, 'status');
  const conditions = listAt(status, 'conditions').filter((condition) => condition['type'] !== 'PodScheduled');
  status['conditions'] = [
    ...conditions,
    { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: machinery.around.timestamp() },
  ];
}
