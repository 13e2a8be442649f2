// EC2NodeClass (and AWSNodeTemplate before it) to v1: selectors become terms, images are chosen explicitly.
import { isMap, type Node, YAMLMap, YAMLSeq } from 'yaml';
import type { Notes } from './notes.ts';
import { field, itemsOf, mapAt, plain, put, putField, renameKey, setText, take, textAt } from './yaml-edit.ts';

const families = ['AL2', 'AL2023', 'Bottlerocket', 'Custom', 'Windows2019', 'Windows2022', 'Windows2025'];

export function convertNodeClass(object: YAMLMap, isOld: boolean, notes: Notes): void {
  const spec = mapAt(object, 'spec');
  if (spec === undefined) return;
  convertSelector(spec, 'subnetSelector', 'M02', notes);
  convertSelector(spec, 'securityGroupSelector', 'M03', notes);
  convertSelector(spec, 'amiSelector', 'M04', notes);
  const kubelet = take(spec, 'kubeletConfiguration');
  if (kubelet !== undefined) {
    putField(spec, kubelet, 'kubelet');
    notes.changed('kubeletConfiguration is called kubelet', 'M34');
  }
  if (take(spec, 'launchTemplate') !== undefined)
    notes.decide(
      'removed launchTemplate: own launch templates are not supported since v1beta1; put its settings into this node class',
    );
  convertFamily(spec, isOld, notes);
  convertImages(spec, isOld, notes);
  for (const mapping of itemsOf(spec, 'blockDeviceMappings')) convertVolume(mapping, notes);
  if (textAt(spec, 'role') === undefined && textAt(spec, 'instanceProfile') === undefined) {
    put(spec, 'role', 'KarpenterNodeRole-<cluster>');
    notes.decide('role was added with a placeholder: write the IAM role of your nodes (or instanceProfile)');
  }
  if (isOld && field(mapAt(spec, 'metadataOptions') ?? spec, 'httpPutResponseHopLimit') === undefined)
    notes.decide(
      "the default hop limit of the metadata service is 1 now, it was 2: pods that use the node's credentials lose them; give those pods roles of their own",
      'M24',
    );
}

/** `{tag: value}` of the alpha API, with its special keys for ids and names, as a list of terms in the same place. */
function convertSelector(spec: YAMLMap, name: string, rule: string, notes: Notes): void {
  const old = field(spec, name);
  if (old === undefined) return;
  const newName = `${name}Terms`;
  if (field(spec, newName) !== undefined) {
    take(spec, name);
    notes.decide(`dropped ${name}: ${newName} is written too, and counts`, rule);
    return;
  }
  const terms = termsOf(old.value);
  if (terms === undefined) {
    take(spec, name);
    notes.decide(`${name} selects nothing; write ${newName}`, rule);
    return;
  }
  renameKey(old, newName);
  put(spec, newName, terms);
  notes.changed(`${name} became ${newName}`, rule);
}

/** Undefined when nothing is selected. Plain tags keep their comments: their map becomes the term's `tags`. */
function termsOf(selector: Node | null): YAMLSeq | Record<string, unknown>[] | undefined {
  if (!isMap(selector) || selector.items.length === 0) return undefined;
  const entries = Object.entries(selector.toJSON() as Record<string, unknown>);
  if (!entries.some(([key]) => /^aws(-|::)/.test(key))) {
    const term = new YAMLMap();
    put(term, 'tags', selector);
    const list = new YAMLSeq();
    list.items.push(term);
    return list;
  }
  const special = (wanted: RegExp): string[] =>
    entries
      .filter(([key]) => wanted.test(key))
      .flatMap(([, value]) =>
        String(value)
          .split(',')
          .map((part) => part.trim()),
      );
  const ids = special(/^aws(-|::)ids$/);
  if (ids.length > 0) return ids.map((id) => ({ id }));
  const [names, [owner]] = [special(/^aws::name$/), special(/^aws::owners$/)];
  const tags = Object.fromEntries(
    entries.filter(([key]) => !/^aws(-|::)/.test(key)).map(([key, value]) => [key, String(value)]),
  );
  const rest = { ...(Object.keys(tags).length > 0 ? { tags } : {}), ...(owner === undefined ? {} : { owner }) };
  return names.length > 0 ? names.map((one) => ({ name: one, ...rest })) : [rest];
}

function convertFamily(spec: YAMLMap, isOld: boolean, notes: Notes): void {
  const family = textAt(spec, 'amiFamily');
  if (family === undefined || families.includes(family)) return;
  const near = families.find((name) => name.toLowerCase() === family.toLowerCase());
  if (near !== undefined) {
    setText(spec, 'amiFamily', near);
    notes.changed(`amiFamily ${family} is spelt ${near}`, 'M05');
  } else if (/^ubuntu$/i.test(family)) {
    setText(spec, 'amiFamily', 'AL2');
    if (field(spec, 'amiSelectorTerms') === undefined)
      put(spec, 'amiSelectorTerms', [{ name: 'ubuntu-eks/k8s_*', owner: '099720109477' }], { after: 'amiFamily' });
    notes.decide(
      'amiFamily Ubuntu was removed in 1.0: AL2 has the same user-data format, and amiSelectorTerms must name the Ubuntu images; check both',
      'M05',
    );
  } else {
    const windows = /^windows$/i.test(family);
    setText(spec, 'amiFamily', windows ? 'Windows2022' : 'Custom');
    notes.decide(
      `amiFamily ${family} does not exist; wrote ${windows ? 'Windows2022' : 'Custom'}${isOld ? '' : ' for now'}; choose one of ${families.join(', ')}`,
      'M05',
    );
  }
}

function convertImages(spec: YAMLMap, isOld: boolean, notes: Notes): void {
  const terms = itemsOf(spec, 'amiSelectorTerms');
  const family = textAt(spec, 'amiFamily');
  const withAlias = terms.find((term) => field(term, 'alias') !== undefined);
  if (withAlias !== undefined) {
    if (terms.length === 1 && withAlias.items.length === 1) return;
    put(spec, 'amiSelectorTerms', [{ alias: plain(field(withAlias, 'alias')) }]);
    notes.decide('kept only the alias in amiSelectorTerms, which excludes every other field and term', 'M07');
    return;
  }
  if (terms.length > 0) {
    if (family !== undefined) return;
    put(spec, 'amiFamily', 'AL2', 'start');
    if (isOld) notes.changed('amiFamily: AL2, the old default, is written out: v1 wants it without an alias', 'M06');
    else notes.decide('amiFamily is required without an alias; wrote AL2, the default of old', 'M06');
    return;
  }
  if (family === 'Custom') {
    put(spec, 'amiSelectorTerms', [{ name: 'CHANGE-ME' }], { after: 'amiFamily' });
    notes.decide('amiFamily Custom needs amiSelectorTerms that name your images; wrote a placeholder', 'M04');
    return;
  }
  const alias = `${(family ?? 'AL2').toLowerCase()}@latest`;
  put(spec, 'amiSelectorTerms', [{ alias }], { after: 'amiFamily' });
  notes.changed(
    `amiSelectorTerms: [{alias: ${alias}}] chooses the images that ${family === undefined ? 'the default family AL2' : `amiFamily ${family}`} chose`,
    'M04',
  );
  const isAl2 = alias.startsWith('al2@');
  notes.decide(
    isAl2
      ? 'there are no AL2 images from Kubernetes 1.33 on: move to al2023 (its user data is nodeadm, not bootstrap.sh)'
      : `pin a release instead of ${alias}: @latest replaces nodes on every image release`,
    isAl2 ? 'M06' : undefined,
  );
}

function convertVolume(mapping: YAMLMap, notes: Notes): void {
  const ebs = mapAt(mapping, 'ebs');
  const size = ebs === undefined ? undefined : textAt(ebs, 'volumeSize');
  const match = /^\s*(\d+)\s*([GT]i?)?\s*\+?\s*$/.exec(size ?? '');
  if (ebs === undefined || size === undefined || match === null || /^\d+[GT]i?$/.test(size)) return;
  const fixed = `${match[1]}${match[2] ?? 'Gi'}`;
  setText(ebs, 'volumeSize', fixed);
  notes.changed(`volumeSize ${size} is written ${fixed}`, 'M23');
}
