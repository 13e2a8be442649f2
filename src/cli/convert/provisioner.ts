// Provisioner (v1alpha5) to NodePool v1: the same capacity, with the defaults of then written out, because v1 has others.
import { isMap, isScalar, YAMLMap } from 'yaml';
import { label } from '../../api/names.ts';
import type { Notes } from './notes.ts';
import { ensureMap, type Field, field, itemsOf, mapAt, put, putField, setText, take, textAt } from './yaml-edit.ts';

export interface ProvisionerParts {
  /** A node class written inside the Provisioner (`spec.provider`), to become an object of its own. */
  inlineClass?: YAMLMap;
}

export function convertProvisioner(object: YAMLMap, notes: Notes): ProvisionerParts {
  setText(object, 'kind', 'NodePool');
  notes.changed('Provisioner became NodePool', 'M01');
  const old = mapAt(object, 'spec') ?? new YAMLMap();
  const spec = new YAMLMap();
  spec.commentBefore = old.commentBefore ?? null;
  const parts = moveTemplate(old, spec, textAt(mapAt(object, 'metadata') ?? new YAMLMap(), 'name') ?? 'default', notes);
  const limits = take(old, 'limits');
  const resources = isMap(limits?.value) ? take(limits.value, 'resources') : undefined;
  if (resources !== undefined) {
    putField(spec, resources, 'limits');
    notes.changed('limits.resources moved to limits');
  } else if (limits !== undefined) putField(spec, limits);
  moveDisruption(old, spec, notes);
  const weight = take(old, 'weight');
  if (weight !== undefined) putField(spec, weight);
  for (const rest of old.items as Field[]) {
    if (isScalar(rest.key)) notes.decide(`removed spec.${String(rest.key.value)}, which a NodePool does not have`);
  }
  put(object, 'spec', spec);
  take(object, 'status');
  return parts;
}

function moveTemplate(old: YAMLMap, spec: YAMLMap, name: string, notes: Notes): ProvisionerParts {
  const template = ensureMap(spec, 'template');
  for (const part of ['labels', 'annotations']) {
    const taken = take(old, part);
    if (taken !== undefined) putField(ensureMap(template, 'metadata'), taken);
  }
  const node = ensureMap(template, 'spec');
  const parts = moveReference(old, node, name, notes);
  for (const part of ['taints', 'startupTaints', 'requirements']) {
    const taken = take(old, part);
    if (taken !== undefined) putField(node, taken);
  }
  writeDefaults(node, notes);
  const kubelet = take(old, 'kubeletConfiguration');
  if (kubelet !== undefined) putField(node, kubelet);
  const ttl = take(old, 'ttlSecondsUntilExpired');
  const seconds = isScalar(ttl?.value) ? Number(ttl.value.value) : Number.NaN;
  put(node, 'expireAfter', Number.isInteger(seconds) ? `${seconds}s` : 'Never');
  notes.changed(
    ttl === undefined
      ? 'expireAfter: Never, as before: the default is 720h now'
      : 'ttlSecondsUntilExpired became expireAfter',
    'M11',
  );
  return parts;
}

function moveReference(old: YAMLMap, node: YAMLMap, name: string, notes: Notes): ProvisionerParts {
  const reference = take(old, 'providerRef');
  const inline = take(old, 'provider');
  if (reference !== undefined) {
    putField(node, reference, 'nodeClassRef');
    notes.changed('providerRef became nodeClassRef', 'M09');
    if (inline !== undefined)
      notes.decide(
        'removed spec.provider: beside a providerRef it never had an effect; check that nothing of it is missed',
      );
    return {};
  }
  put(node, 'nodeClassRef', {
    group: 'karpenter.k8s.aws',
    kind: 'EC2NodeClass',
    name: inline === undefined ? 'default' : name,
  });
  if (!isMap(inline?.value)) {
    notes.decide(
      'there was no providerRef; nodeClassRef names the EC2NodeClass "default": check that it exists',
      'M09',
    );
    return {};
  }
  notes.changed(`spec.provider became an EC2NodeClass of its own, ${name}`, 'M09');
  return { inlineClass: inline.value };
}

/** What the alpha API assumed for requirements that were not written. */
function writeDefaults(node: YAMLMap, notes: Notes): void {
  const present = new Set(itemsOf(node, 'requirements').map((requirement) => textAt(requirement, 'key')));
  const defaults: { key: string; operator: string; values: string[] }[] = [
    { key: label.capacityType, operator: 'In', values: ['on-demand'] },
    { key: label.arch, operator: 'In', values: ['amd64'] },
    { key: label.os, operator: 'In', values: ['linux'] },
  ];
  const isOpen = ![...present].some(
    (key) => key === label.instanceType || key?.startsWith('karpenter.k8s.aws/instance-'),
  );
  if (isOpen)
    defaults.push(
      { key: 'karpenter.k8s.aws/instance-category', operator: 'In', values: ['c', 'm', 'r'] },
      { key: 'karpenter.k8s.aws/instance-generation', operator: 'Gt', values: ['2'] },
    );
  const missing = defaults.filter(({ key }) => !present.has(key));
  if (missing.length === 0 && field(node, 'requirements') !== undefined) return;
  const list = field(node, 'requirements')?.value;
  const additions = new YAMLMap();
  put(additions, 'requirements', missing);
  const made = field(additions, 'requirements');
  if (list !== null && list !== undefined && 'items' in list && made?.value && 'items' in made.value)
    (list.items as unknown[]).push(...(made.value.items as unknown[]));
  else put(node, 'requirements', missing);
  if (missing.length > 0)
    notes.changed(`requirements that used to be assumed are written out: ${missing.map(({ key }) => key).join(', ')}`);
}

function moveDisruption(old: YAMLMap, spec: YAMLMap, notes: Notes): void {
  const consolidation = take(old, 'consolidation');
  const enabled = isMap(consolidation?.value) && textAt(consolidation.value, 'enabled') === 'true';
  const empty = take(old, 'ttlSecondsAfterEmpty');
  const seconds = isScalar(empty?.value) ? Number(empty.value.value) : Number.NaN;
  const [policy, after] = enabled
    ? ['WhenEmptyOrUnderutilized', '0s']
    : Number.isInteger(seconds)
      ? ['WhenEmpty', `${seconds}s`]
      : ['WhenEmpty', 'Never'];
  put(spec, 'disruption', { consolidationPolicy: policy, consolidateAfter: after });
  const from = enabled
    ? 'consolidation.enabled'
    : Number.isInteger(seconds)
      ? 'ttlSecondsAfterEmpty'
      : 'no consolidation';
  notes.changed(`${from} became disruption: {consolidationPolicy: ${policy}, consolidateAfter: ${after}}`);
}
