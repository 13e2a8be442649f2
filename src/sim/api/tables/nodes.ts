// Rows of nodes, namespaces, leases and events.
import { isObject, type JsonObject, listAt, objectAt, stringAt } from '../../json.ts';
import type { TableLayout } from '../definition.ts';
import { age, columns, metaOf, nameOf, numberAt, since } from './cells.ts';

function rolesOf(node: JsonObject): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(objectAt(metaOf(node), 'labels'))) {
    if (key.startsWith('node-role.kubernetes.io/') && key.length > 24) roles.add(key.slice(24));
    else if (key === 'kubernetes.io/role' && value !== '') roles.add(String(value));
  }
  return roles.size === 0 ? '<none>' : [...roles].sort().join(',');
}

function addressOf(node: JsonObject, type: string): string {
  const address = listAt(objectAt(node, 'status'), 'addresses').find((candidate) => candidate['type'] === type);
  return stringAt(address, 'address') || '<none>';
}

function statusOf(node: JsonObject): string {
  const ready = listAt(objectAt(node, 'status'), 'conditions').find((condition) => condition['type'] === 'Ready');
  const words = [ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady'];
  if (objectAt(node, 'spec')['unschedulable'] === true) words.push('SchedulingDisabled');
  return words.join(',');
}

function eventSource(event: JsonObject): string {
  const source = objectAt(event, 'source');
  const component = stringAt(source, 'component') || stringAt(event, 'reportingComponent');
  const host = stringAt(source, 'host') || stringAt(event, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}

export const layouts: Record<string, TableLayout> = {
  Node: {
    columns: columns(
      'Name/name,Status,Roles,Age,Version,Internal-IP+,External-IP+,OS-Image+,Kernel-Version+,Container-Runtime+',
    ),
    cells(node, nowMs) {
      const info = objectAt(objectAt(node, 'status'), 'nodeInfo');
      const kernel = stringAt(info, 'kernelVersion') || '<unknown>';
      const arch = stringAt(info, 'architecture');
      return [
        nameOf(node),
        statusOf(node),
        rolesOf(node),
        age(node, nowMs),
        stringAt(info, 'kubeletVersion'),
        addressOf(node, 'InternalIP'),
        addressOf(node, 'ExternalIP'),
        stringAt(info, 'osImage') || '<unknown>',
        arch === '' ? kernel : `${kernel} (${arch})`,
        stringAt(info, 'containerRuntimeVersion') || '<unknown>',
      ];
    },
  },
  Namespace: {
    columns: columns('Name/name,Status,Age'),
    cells: (object, nowMs) => [nameOf(object), stringAt(objectAt(object, 'status'), 'phase'), age(object, nowMs)],
  },
  Lease: {
    columns: columns('Name/name,Holder,Age'),
    cells: (object, nowMs) => [
      nameOf(object),
      stringAt(objectAt(object, 'spec'), 'holderIdentity'),
      age(object, nowMs),
    ],
  },
  Event: {
    columns: columns('Last Seen,Type,Reason,Object,Subobject+,Source+,Message,First Seen+,Count+,Name/name+'),
    cells(event, nowMs) {
      const series = event['series'];
      const first = since(event['firstTimestamp'] ?? event['eventTime'], nowMs);
      const last = isObject(series)
        ? since(series['lastObservedTime'], nowMs)
        : (event['lastTimestamp'] ?? null) === null
          ? first
          : since(event['lastTimestamp'], nowMs);
      const involved = objectAt(event, 'involvedObject');
      const kind = stringAt(involved, 'kind').toLowerCase();
      const name = stringAt(involved, 'name');
      return [
        last,
        stringAt(event, 'type'),
        stringAt(event, 'reason'),
        name === '' ? kind : `${kind}/${name}`,
        stringAt(involved, 'fieldPath'),
        eventSource(event),
        stringAt(event, 'message').trim(),
        first,
        (isObject(series) ? numberAt(series, 'count') : numberAt(event, 'count')) || 1,
        nameOf(event),
      ];
    },
  },
};
