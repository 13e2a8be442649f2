// Finds out cheaply which documents need work: whatever its schema accepts in a current version needs none. Also notes the
// node classes at hand, and which documents must be open together because kubelet settings move between them.
import { admitKind, kindOf } from '../../api/index.ts';
import { asMap, asText, isMap, type PlainMap, type Unit, valueAt } from '../manifests/index.ts';
import type { KnownClasses } from './node-class-ref.ts';
import { mentionsOldNames } from './workload.ts';

export interface Survey {
  classes: KnownClasses;
  /** Units that need work. */
  work: ReadonlySet<Unit>;
  /** Those among which kubelet settings move. */
  linked: Unit[];
}

const ours = /karpenter\.(sh|k8s\.aws|kwok\.sh)\//;

export function survey(units: readonly Unit[]): Survey {
  const classes = new Map<string, { group: string; kind: string }>();
  const work = new Set<Unit>();
  const owners: { unit: Unit; name: string }[] = [];
  const movers: { unit: Unit; nodeClass: string }[] = [];
  for (const unit of units) {
    if (unit.part === 'head' || unit.part === 'tail' || !ours.test(unit.text)) continue;
    const objects = unit.objects();
    if (mentionsOldNames(unit.text) || objects.some((object) => !isMap(object) || needsWork(object))) work.add(unit);
    for (const object of objects.filter(isMap)) {
      const kind = asText(object['kind']) ?? '';
      const name = asText(valueAt(object, ['metadata', 'name'])) ?? '';
      if (/NodeClass$|^AWSNodeTemplate$/.test(kind)) {
        classes.set(name, { group: groupOf(object), kind: kind === 'AWSNodeTemplate' ? 'EC2NodeClass' : kind });
        owners.push({ unit, name });
      }
      const nodeClass = kubeletGoesTo(object);
      if (nodeClass !== undefined) movers.push({ unit, nodeClass });
    }
  }
  const wanted = new Set(movers.map(({ nodeClass }) => nodeClass));
  const together = new Set([...movers, ...owners.filter(({ name }) => wanted.has(name))].map(({ unit }) => unit));
  return { classes, work, linked: units.filter((unit) => together.has(unit)) };
}

const versionOf = (object: PlainMap): string => asText(object['apiVersion']) ?? asText(object['appVersion']) ?? '';
const groupOf = (object: PlainMap): string => versionOf(object).replace(/\/.*/, '');

function needsWork(object: PlainMap): boolean {
  if (!/^karpenter\.(sh|k8s\.aws|kwok\.sh)\//.test(versionOf(object))) return false;
  const definition = kindOf(object['apiVersion'], object['kind']);
  if (definition === undefined || asText(referenceOf(object)['kind'])?.endsWith('NodeTemplate') === true) return true;
  const { errors, unknownFields } = admitKind(definition, object);
  return errors.length > 0 || unknownFields.length > 0;
}

const templateOf = (object: PlainMap): PlainMap =>
  asMap(object['kind'] === 'NodePool' ? valueAt(object, ['spec', 'template', 'spec']) : object['spec']);

const referenceOf = (object: PlainMap): PlainMap => {
  const { nodeClassRef, providerRef, machineTemplateRef } = templateOf(object);
  return asMap(nodeClassRef ?? providerRef ?? machineTemplateRef);
};

/** The node class that a pool's or claim's kubelet settings belong to; undefined when it has none. */
function kubeletGoesTo(object: PlainMap): string | undefined {
  if (!['NodePool', 'NodeClaim', 'Provisioner', 'Machine'].includes(asText(object['kind']) ?? '')) return undefined;
  const { kubelet, kubeletConfiguration } = templateOf(object);
  return kubelet === undefined && kubeletConfiguration === undefined
    ? undefined
    : (asText(referenceOf(object)['name']) ?? '');
}
