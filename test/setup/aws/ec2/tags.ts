// Tags as requests carry them, as answers show them, and as filters ask for them.
import type { AwsCall } from '../exchange.ts';
import { formText, formTrees } from '../form.ts';
import { element, itemsOf, textOf, type XmlElement } from '../xml.ts';

export type Tags = Record<string, string>;

/** The tags a creating call gives to resources of a type. */
export function tagsOfCall(call: AwsCall, resourceType: string): Tags {
  // Actions differ in how they spell the field.
  const specifications = [...formTrees(call.form, 'TagSpecification'), ...formTrees(call.form, 'TagSpecifications')];
  const specification = specifications.find((entry) => formText(entry, 'ResourceType') === resourceType);
  return Object.fromEntries(
    formTrees(specification, 'Tag').map((tag) => [formText(tag, 'Key') ?? '', formText(tag, 'Value') ?? '']),
  );
}

export function tagSet(tags: Tags): XmlElement {
  return element(
    'tagSet',
    Object.entries(tags).map(([key, value]) => element('item', [element('key', key), element('value', value)])),
  );
}

export function tagsOfElement(resource: XmlElement): Tags {
  return Object.fromEntries(
    itemsOf(resource, 'tagSet').map((tag) => [textOf(tag, 'key') ?? '', textOf(tag, 'value') ?? '']),
  );
}

/** Undefined when the filter is not about tags. */
export function tagFilterValues(tags: Tags, name: string): string[] | undefined {
  if (name === 'tag-key') return Object.keys(tags);
  if (!name.startsWith('tag:')) return undefined;
  const value = tags[name.slice('tag:'.length)];
  return value === undefined ? [] : [value];
}
