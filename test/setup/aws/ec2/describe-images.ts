// DescribeImages from the world's own list: moto has neither deprecation times nor pages, and calls every owner Amazon.
import { type AwsAnswer, type AwsCall, AwsRefusal, ec2Answer } from '../exchange.ts';
import { formText, formTexts } from '../form.ts';
import type { Image } from '../images.ts';
import type { World } from '../world.ts';
import { element } from '../xml.ts';
import { ec2Page, matchesFilters, readFilters } from './filters.ts';
import { tokenOf } from './instance-types.ts';
import { tagFilterValues, tagSet } from './tags.ts';

const ownAccount = '123456789012';

export async function describeImages(call: AwsCall, world: World): Promise<AwsAnswer> {
  const owners = formTexts(call.form, 'Owner');
  const ids = formTexts(call.form, 'ImageId');
  const filters = readFilters(call.form);
  const withDeprecated = formText(call.form, 'IncludeDeprecated') === 'true';
  const unknown = ids.filter((id) => !world.images.has(id));
  if (unknown.length > 0) {
    throw new AwsRefusal('InvalidAMIID.NotFound', `The image id '[${unknown.join(', ')}]' does not exist`);
  }
  const found = [...world.images.values()].filter(
    (image) =>
      (ids.length === 0 || ids.includes(image.imageId)) &&
      (owners.length === 0 || owners.some((owner) => isOwnedBy(image, owner))) &&
      // EC2 hides deprecated images from everybody but their owner unless asked.
      (withDeprecated || image.ownerId === ownAccount || !isDeprecated(image, world)) &&
      matchesFilters(filters, (name) => filterValues(image, name)),
  );
  const page = ec2Page(call, found);
  return ec2Answer(call, [element('imagesSet', page.items.map(described)), tokenOf(page.nextToken)]);
}

function isOwnedBy(image: Image, owner: string): boolean {
  if (owner === 'self') return image.ownerId === ownAccount;
  return owner === image.ownerId || owner === image.ownerAlias;
}

function isDeprecated({ deprecationTime }: Image, world: World): boolean {
  return deprecationTime !== undefined && Date.parse(deprecationTime) <= world.now();
}

function filterValues(image: Image, name: string): (string | undefined)[] | undefined {
  switch (name) {
    case 'image-id':
      return [image.imageId];
    case 'name':
      return [image.name];
    case 'state':
      return [image.state ?? 'available'];
    case 'architecture':
      return [image.architecture];
    case 'owner-id':
      return [image.ownerId];
    case 'owner-alias':
      return [image.ownerAlias];
    case 'platform':
      return [image.platform];
    default:
      return tagFilterValues(image.tags ?? {}, name);
  }
}

function described(image: Image) {
  const optional = (name: string, value: string | undefined) =>
    value === undefined ? undefined : element(name, value);
  return element('item', [
    element('imageId', image.imageId),
    element('name', image.name),
    element('imageOwnerId', image.ownerId),
    optional('imageOwnerAlias', image.ownerAlias),
    element('architecture', image.architecture),
    element('creationDate', image.creationDate),
    optional('deprecationTime', image.deprecationTime),
    element('imageState', image.state ?? 'available'),
    element('imageType', 'machine'),
    element('isPublic', image.ownerAlias !== undefined),
    optional('platform', image.platform),
    element('rootDeviceName', '/dev/xvda'),
    element('rootDeviceType', 'ebs'),
    element('virtualizationType', 'hvm'),
    tagSet(image.tags ?? {}),
  ]);
}
