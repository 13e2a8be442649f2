// NodePool and NodeClaim to v1: fields that moved or were renamed, and those v1 does not know.
import { isMap, isScalar, isSeq, type Scalar, YAMLMap } from 'yaml';
import { convertNodeClassRef, type KnownClasses } from './node-class-ref.ts';
import type { Notes } from './notes.ts';
import {
  ensureMap,
  type Field,
  field,
  itemsOf,
  mapAt,
  plain,
  put,
  putField,
  setText,
  take,
  textAt,
} from './yaml-edit.ts';

/** Kubelet settings found on a pool, for the node class they belong to. */
export interface KubeletMove {
  nodeClass: string;
  kubelet: Field;
}

const podFields = ['affinity', 'tolerations', 'nodeSelector', 'topologySpreadConstraints'];
const reasons = new Set(['Underutilized', 'Empty', 'Drifted', 'Unhealthy']);

export function convertNodePool(
  object: YAMLMap,
  isOld: boolean,
  classes: KnownClasses,
  notes: Notes,
): KubeletMove | undefined {
  const spec = mapAt(object, 'spec');
  if (spec === undefined) return undefined;
  const template = mapAt(spec, 'template', 'spec');
  const kubelet = template === undefined ? undefined : convertTemplate(template, classes, notes);
  const disruption = mapAt(spec, 'disruption');
  if (disruption !== undefined) {
    moveExpireAfter(spec, disruption, notes);
    convertPolicy(disruption, isOld, notes);
    for (const budget of itemsOf(disruption, 'budgets')) convertBudget(budget, notes);
    dropMarked(disruption);
  }
  return kubelet;
}

/** The fields that a NodePool's template and a NodeClaim share. */
export function convertTemplate(template: YAMLMap, classes: KnownClasses, notes: Notes): KubeletMove | undefined {
  const reference = mapAt(template, 'nodeClassRef');
  if (reference !== undefined) convertNodeClassRef(reference, classes, notes);
  for (const name of podFields) {
    const taken = take(template, name);
    if (taken !== undefined)
      notes.decide(
        `removed ${name} from the template, where only pods have it; it said ${JSON.stringify(plain(taken))}; use requirements, or put it on pods`,
        'M20',
      );
  }
  if (
    mapAt(template, 'resources') !== undefined &&
    reference !== undefined &&
    mapAt(template, 'requirements') === undefined
  )
    dropResources(template, notes);
  for (const requirement of itemsOf(template, 'requirements')) {
    if (take(requirement, 'weight') !== undefined)
      notes.decide('removed weight from a requirement; only whole NodePools have one (spec.weight)', 'M21');
  }
  const kubelet = take(template, 'kubelet') ?? take(template, 'kubeletConfiguration');
  if (kubelet === undefined) return undefined;
  return { nodeClass: (reference === undefined ? undefined : textAt(reference, 'name')) ?? '', kubelet };
}

function dropResources(template: YAMLMap, notes: Notes): void {
  take(template, 'resources');
  notes.changed('removed resources from the template, which never had an effect there');
}

function moveExpireAfter(spec: YAMLMap, disruption: YAMLMap, notes: Notes): void {
  const expireAfter = take(disruption, 'expireAfter');
  if (expireAfter === undefined) return;
  const template = ensureMap(spec, 'template', 'spec');
  if (field(template, 'expireAfter') !== undefined) {
    notes.decide(
      'spec.disruption.expireAfter was dropped: spec.template.spec.expireAfter is written too, and counts',
      'M11',
    );
    return;
  }
  putField(template, expireAfter);
  notes.changed('spec.disruption.expireAfter moved to spec.template.spec.expireAfter', 'M11');
}

function convertPolicy(disruption: YAMLMap, isOld: boolean, notes: Notes): void {
  const policy = textAt(disruption, 'consolidationPolicy');
  if (policy === 'WhenUnderutilized') {
    setText(disruption, 'consolidationPolicy', 'WhenEmptyOrUnderutilized');
    notes.changed('consolidationPolicy WhenUnderutilized is called WhenEmptyOrUnderutilized', 'M12');
  } else if (policy === undefined && isOld) {
    put(disruption, 'consolidationPolicy', 'WhenEmptyOrUnderutilized', 'start');
    notes.changed('consolidationPolicy: WhenEmptyOrUnderutilized, the default, is written out', 'M13');
  }
  if (textAt(disruption, 'consolidateAfter') === undefined) {
    put(disruption, 'consolidateAfter', '0s');
    notes.changed('consolidateAfter: 0s, as before: v1 wants it written wherever disruption is');
  }
}

function convertBudget(budget: YAMLMap, notes: Notes): void {
  const list = field(budget, 'reasons')?.value;
  if (isSeq(list)) {
    const wrong = list.items.filter((item) => isScalar(item) && !reasons.has(String(item.value))) as Scalar[];
    if (wrong.length > 0) {
      list.items = list.items.filter((item) => !wrong.includes(item as Scalar));
      const names = wrong.map(({ value }) => String(value)).join(', ');
      if (list.items.length === 0) budget.items = [];
      notes.decide(
        `removed the budget reason ${names}, which does not exist${list.items.length === 0 ? ', and with it the budget' : ''}`,
        'M14',
      );
    }
  }
  const [schedule, duration] = [field(budget, 'schedule'), field(budget, 'duration')];
  if ((schedule === undefined) === (duration === undefined)) return;
  const lone = schedule === undefined ? 'duration' : 'schedule';
  take(budget, lone);
  notes.decide(
    `removed the budget's ${lone}, which means nothing without ${lone === 'duration' ? 'schedule' : 'duration'}; the budget now always holds`,
    'M16',
  );
}

/** Budgets that lost their only reason are gone. */
function dropMarked(disruption: YAMLMap): void {
  const list = field(disruption, 'budgets')?.value;
  if (!isSeq(list)) return;
  const kept = list.items.filter((item) => !(isMap(item) && item.items.length === 0));
  if (kept.length === list.items.length) return;
  list.items = kept;
  // An explicitly empty list would lift every restriction; without the field the default budget holds.
  if (kept.length === 0) take(disruption, 'budgets');
}

/** A NodeClaim's spec has the template's fields at its own level. */
export function convertNodeClaim(object: YAMLMap, classes: KnownClasses, notes: Notes): KubeletMove | undefined {
  const spec = mapAt(object, 'spec') ?? new YAMLMap();
  const machineRef = take(spec, 'machineTemplateRef');
  if (machineRef !== undefined) {
    putField(spec, machineRef, 'nodeClassRef');
    notes.changed('machineTemplateRef is called nodeClassRef', 'M01');
  }
  return convertTemplate(spec, classes, notes);
}
