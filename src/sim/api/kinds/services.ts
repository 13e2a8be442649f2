// Service: nothing routes to it here, but it gets the addresses and defaults a client expects to see.

import { isLabel } from '../../../api/index.ts';
import { type JsonObject, listAt, objectAt, setDefault, stringAt } from '../../json.ts';
import type { Strategy, Surroundings } from '../definition.ts';
import { type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { validateUnique } from '../metadata.ts';

export const serviceStrategy: Strategy = {
  nameRule: isLabel,
  createOnUpdate: true,
  returnsDeleted: true,
  defaults(draft) {
    const spec = objectAt(draft, 'spec');
    setDefault(spec, 'sessionAffinity', 'None');
    setDefault(spec, 'type', 'ClusterIP');
    for (const port of listAt(spec, 'ports')) {
      setDefault(port, 'protocol', 'TCP');
      if (port['targetPort'] === undefined || port['targetPort'] === 0 || port['targetPort'] === '')
        port['targetPort'] = port['port'];
    }
    if (spec['type'] === 'ExternalName') return;
    setDefault(spec, 'internalTrafficPolicy', 'Cluster');
    if (spec['type'] !== 'ClusterIP') setDefault(spec, 'externalTrafficPolicy', 'Cluster');
    if (spec['type'] === 'LoadBalancer') setDefault(spec, 'allocateLoadBalancerNodePorts', true);
  },
  prepareCreate(draft, around) {
    draft['status'] = { loadBalancer: {} };
    allocate(objectAt(draft, 'spec'), around);
  },
  prepareUpdate(draft, old, around) {
    draft['status'] = old['status'];
    const spec = objectAt(draft, 'spec');
    const before = objectAt(old, 'spec');
    for (const key of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
      if (before[key] !== undefined) setDefault(spec, key, before[key]);
    }
    const known = new Map(
      listAt(before, 'ports').map((port) => [`${String(port['protocol'])}${String(port['port'])}`, port['nodePort']]),
    );
    for (const port of listAt(spec, 'ports')) {
      const nodePort = known.get(`${String(port['protocol'])}${String(port['port'])}`);
      if (nodePort !== undefined && spec['type'] !== 'ClusterIP') setDefault(port, 'nodePort', nodePort);
    }
    allocate(spec, around);
  },
  validate: validateService,
  validateUpdate(object, old) {
    const address = objectAt(object, 'spec')['clusterIP'];
    const before = objectAt(old, 'spec')['clusterIP'];
    return [
      ...(before !== undefined && address !== before
        ? [invalidValue('spec.clusterIPs[0]', objectAt(object, 'spec')['clusterIPs'], 'may not change once set')]
        : []),
      ...validateService(object),
    ];
  },
};

function allocate(spec: JsonObject, around: Surroundings): void {
  if (spec['type'] === 'ExternalName') return;
  const taken = new Set<unknown>();
  const ports = new Set<unknown>();
  for (const service of around.list('services')) {
    taken.add(objectAt(service, 'spec')['clusterIP']);
    for (const port of listAt(objectAt(service, 'spec'), 'ports')) ports.add(port['nodePort']);
  }
  if (spec['clusterIP'] === undefined) {
    let next = 10;
    while (taken.has(`10.96.${next >>> 8}.${next & 255}`)) next += 1;
    spec['clusterIP'] = `10.96.${next >>> 8}.${next & 255}`;
  }
  setDefault(spec, 'clusterIPs', [spec['clusterIP']]);
  // A headless service without pods of its own must name all families.
  const open = spec['clusterIP'] === 'None' && spec['selector'] === undefined;
  setDefault(spec, 'ipFamilies', open ? ['IPv4', 'IPv6'] : ['IPv4']);
  setDefault(spec, 'ipFamilyPolicy', open ? 'RequireDualStack' : 'SingleStack');
  if (spec['type'] === 'ClusterIP') return;
  for (const port of listAt(spec, 'ports')) {
    let next = 30_000;
    while (ports.has(next)) next += 1;
    ports.add(port['nodePort'] ?? next);
    setDefault(port, 'nodePort', next);
  }
}

function validateService(object: JsonObject): FieldError[] {
  const spec = objectAt(object, 'spec');
  const ports = listAt(spec, 'ports');
  const errors: FieldError[] = [];
  if (ports.length === 0 && spec['clusterIP'] !== 'None' && spec['type'] !== 'ExternalName')
    errors.push(required('spec.ports'));
  ports.forEach((port, index) => {
    const at = `spec.ports[${index}]`;
    if (ports.length > 1 && stringAt(port, 'name') === '') errors.push(required(`${at}.name`));
    const number = Number(port['port'] ?? 0);
    if (number < 1 || number > 65_535)
      errors.push(invalidValue(`${at}.port`, number, 'must be between 1 and 65535, inclusive'));
    const aim = port['targetPort'];
    if (typeof aim === 'number' && (aim < 1 || aim > 65_535)) {
      errors.push(invalidValue(`${at}.targetPort`, aim, 'must be between 1 and 65535, inclusive'));
    }
    if (!['TCP', 'UDP', 'SCTP'].includes(stringAt(port, 'protocol'))) {
      errors.push(notSupported(`${at}.protocol`, port['protocol'], ['SCTP', 'TCP', 'UDP']));
    }
  });
  errors.push(
    ...validateUnique(
      ports.map((port) => port['name'] ?? port['port']),
      (index) => `spec.ports[${index}].name`,
    ),
  );
  const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
  if (!types.includes(stringAt(spec, 'type'))) errors.push(notSupported('spec.type', spec['type'], types));
  return errors;
}
