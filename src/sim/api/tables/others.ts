// Rows of configuration, access and device kinds.
import { type JsonObject, listAt, objectAt, stringAt } from '../../json.ts';
import type { TableLayout } from '../definition.ts';
import { age, columns, formatLabels, metaOf, nameOf, numberAt } from './cells.ts';

const nameAndAge: TableLayout = {
  columns: columns('Name/name,Age'),
  cells: (object, nowMs) => [nameOf(object), age(object, nowMs)],
};
const count = (object: JsonObject, ...keys: string[]): number =>
  keys.reduce((sum, key) => sum + Object.keys(objectAt(object, key)).length, 0);

export const plainLayout: TableLayout = {
  nullIfEmpty: true,
  columns: [...columns('Name/name'), { name: 'Created At', type: 'date', format: '', description: '', priority: 0 }],
  cells: (object) => [nameOf(object), stringAt(metaOf(object), 'creationTimestamp')],
};

function subjects(object: JsonObject, kind: string): string {
  return listAt(object, 'subjects')
    .filter((subject) => subject['kind'] === kind)
    .map((subject) =>
      kind === 'ServiceAccount'
        ? `${stringAt(subject, 'namespace')}/${stringAt(subject, 'name')}`
        : stringAt(subject, 'name'),
    )
    .join(', ');
}

const bindingLayout: TableLayout = {
  columns: columns('Name/name,Role,Age,Users+,Groups+,ServiceAccounts+'),
  cells(object, nowMs) {
    const role = objectAt(object, 'roleRef');
    return [
      nameOf(object),
      `${stringAt(role, 'kind')}/${stringAt(role, 'name')}`,
      age(object, nowMs),
      subjects(object, 'User'),
      subjects(object, 'Group'),
      subjects(object, 'ServiceAccount'),
    ];
  },
};

function externalAddress(service: JsonObject): string {
  const spec = objectAt(service, 'spec');
  if (spec['type'] === 'ExternalName') return stringAt(spec, 'externalName');
  const fixed = listAt<string>(spec, 'externalIPs');
  const ingress = listAt(objectAt(objectAt(service, 'status'), 'loadBalancer'), 'ingress').map(
    (entry) => stringAt(entry, 'ip') || stringAt(entry, 'hostname'),
  );
  const all = spec['type'] === 'LoadBalancer' ? [...ingress, ...fixed] : fixed;
  if (all.length > 0) return all.join(',');
  return spec['type'] === 'LoadBalancer' ? '<pending>' : '<none>';
}

function claimState(claim: JsonObject): string {
  const status = objectAt(claim, 'status');
  const states = [
    ...(metaOf(claim)['deletionTimestamp'] === undefined ? [] : ['deleted']),
    ...(status['allocation'] === undefined ? [] : ['allocated']),
    ...(listAt(status, 'reservedFor').length > 0 ? ['reserved'] : []),
  ];
  if (status['allocation'] === undefined && metaOf(claim)['deletionTimestamp'] === undefined) states.push('pending');
  return states.join(',');
}

const definitionColumns = [
  ...columns('Name/name,Scope,Versions'),
  { name: 'Created At', type: 'date', format: '', description: '', priority: 0 },
  ...columns('Group+,Kind+,ShortNames+,Established:boolean+'),
];

export const layouts: Record<string, TableLayout> = {
  ConfigMap: {
    columns: columns('Name/name,Data,Age'),
    cells: (object, nowMs) => [nameOf(object), count(object, 'data', 'binaryData'), age(object, nowMs)],
  },
  Secret: {
    columns: columns('Name/name,Type,Data,Age'),
    cells: (object, nowMs) => [nameOf(object), stringAt(object, 'type'), count(object, 'data'), age(object, nowMs)],
  },
  ServiceAccount: nameAndAge,
  Service: {
    columns: columns('Name/name,Type,Cluster-IP,External-IP,Port(s),Age,Selector+'),
    cells(object, nowMs) {
      const spec = objectAt(object, 'spec');
      const ports = listAt(spec, 'ports').map((port) => {
        const node = numberAt(port, 'nodePort');
        return `${numberAt(port, 'port')}${node > 0 ? `:${node}` : ''}/${stringAt(port, 'protocol')}`;
      });
      return [
        nameOf(object),
        stringAt(spec, 'type'),
        listAt<string>(spec, 'clusterIPs')[0] ?? '<none>',
        externalAddress(object),
        ports.join(',') || '<none>',
        age(object, nowMs),
        formatLabels(objectAt(spec, 'selector')),
      ];
    },
  },
  LimitRange: plainLayout,
  PriorityClass: {
    columns: columns('Name/name,Value:integer,Global-Default:boolean,Age,PreemptionPolicy'),
    cells: (object, nowMs) => [
      nameOf(object),
      numberAt(object, 'value'),
      object['globalDefault'] === true,
      age(object, nowMs),
      stringAt(object, 'preemptionPolicy'),
    ],
  },
  Role: plainLayout,
  ClusterRole: plainLayout,
  RoleBinding: bindingLayout,
  ClusterRoleBinding: bindingLayout,
  CustomResourceDefinition: {
    nullIfEmpty: true,
    columns: definitionColumns,
    cells(object) {
      const spec = objectAt(object, 'spec');
      const names = objectAt(spec, 'names');
      const served = listAt(spec, 'versions').filter((version) => version['served'] === true);
      const conditions = listAt(objectAt(object, 'status'), 'conditions');
      return [
        nameOf(object),
        stringAt(spec, 'scope'),
        served
          .map((version) => `${stringAt(version, 'name')}${version['storage'] === true ? '(storage)' : ''}`)
          .sort()
          .join(','),
        stringAt(metaOf(object), 'creationTimestamp'),
        stringAt(spec, 'group'),
        stringAt(names, 'kind'),
        listAt<string>(names, 'shortNames').join(','),
        conditions.some(({ type, status }) => type === 'Established' && status === 'True'),
      ];
    },
  },
  ResourceClaim: {
    columns: columns('Name/name,State,Age'),
    cells: (object, nowMs) => [nameOf(object), claimState(object), age(object, nowMs)],
  },
  ResourceClaimTemplate: nameAndAge,
  DeviceClass: nameAndAge,
  DeviceTaintRule: nameAndAge,
  ResourceSlice: {
    columns: columns('Name/name,Node,Driver,Pool,Age'),
    cells(object, nowMs) {
      const spec = objectAt(object, 'spec');
      return [
        nameOf(object),
        stringAt(spec, 'nodeName'),
        stringAt(spec, 'driver'),
        stringAt(objectAt(spec, 'pool'), 'name'),
        age(object, nowMs),
      ];
    },
  },
};
