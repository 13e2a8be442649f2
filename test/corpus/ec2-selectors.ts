// EC2NodeClass: what its selectors may say.
import { accept, type Case, type CorpusCase, each, reject, shown, underRule } from './case.ts';
import { ec2Class } from './objects.ts';

const noEmptyTags = "empty tag keys or values aren't supported";
const manyTags = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));

/** Cases every list of terms has; `good` is a term that matches something. */
function termCases(list: string, fields: string, good: object, more: object = {}): Case[] {
  const at = `spec.${list}`;
  const make = (terms: unknown) => ec2Class({ ...more, [list]: terms });
  const none = `expected at least one, got none, [${fields}]`;
  return [
    accept(`${list}: tags`, make([{ tags: { a: 'b', c: '*' } }])),
    accept(`${list}: several terms`, make([{ tags: { a: 'b' } }, good, { tags: { c: 'd' } }])),
    accept(`${list}: 20 tags`, make([{ tags: manyTags(20) }])),
    accept(`${list}: 30 terms`, make(Array.from({ length: 30 }, () => good))),
    reject(`${list}: 31 terms`, make(Array.from({ length: 31 }, () => good)), at, 'must have at most 30 items'),
    reject(`${list}: 21 tags`, make([{ tags: manyTags(21) }]), `${at}[0].tags`, 'must have at most 20'),
    reject(`${list}: an empty term`, make([{}]), at, none),
    reject(`${list}: empty tags`, make([{ tags: {} }]), at, none),
    reject(`${list}: an empty tag key`, make([{ tags: { '': 'b' } }]), `${at}[0].tags`, noEmptyTags),
    reject(`${list}: an empty tag value`, make([{ tags: { a: '' } }]), `${at}[0].tags`, noEmptyTags),
    reject(`${list}: the last of four empty`, make([good, good, good, {}]), at, none),
    reject(`${list}: a text`, make('all'), at, 'must be of type array'),
  ];
}

const subnetMixed =
  "'id' is mutually exclusive, cannot be set with a combination of other fields in a subnet selector term";
const subnets = (...terms: unknown[]) => ec2Class({ subnetSelectorTerms: terms });
const subnetAt = 'spec.subnetSelectorTerms';

const subnetCases: CorpusCase[] = underRule(
  'subnet selector',
  ...termCases('subnetSelectorTerms', "'tags', 'id'", { id: 'subnet-0123abc' }),
  accept('subnet: id', subnets({ id: 'subnet-12345' })),
  accept('subnet: an id anywhere in the text', subnets({ id: 'my-subnet-12345!' })),
  reject('subnet: another id', subnets({ id: 'sg-12345' }), `${subnetAt}[0].id`, 'should match'),
  reject('subnet: missing', ec2Class({ subnetSelectorTerms: undefined }), subnetAt, 'Required value'),
  reject('subnet: null', ec2Class({ subnetSelectorTerms: null }), subnetAt, 'Required value'),
  reject('subnet: no terms', subnets(), subnetAt, 'subnetSelectorTerms cannot be empty'),
  reject('subnet: id and tags in the only term', subnets({ id: 'subnet-1', tags: { a: 'b' } }), subnetAt, subnetMixed),
  reject(
    'subnet: id and tags in every term',
    subnets({ id: 'subnet-1', tags: { a: 'b' } }, { id: 'subnet-2', tags: { a: 'b' } }),
    subnetAt,
    subnetMixed,
  ),
  accept('subnet: id and tags in one of two terms', subnets({ id: 'subnet-1', tags: { a: 'b' } }, { id: 'subnet-2' })),
);

const groupMixed = (field: string) =>
  `'${field}' is mutually exclusive, cannot be set with a combination of other fields in a security group selector term`;
const groups = (...terms: unknown[]) => ec2Class({ securityGroupSelectorTerms: terms });
const groupAt = 'spec.securityGroupSelectorTerms';

const groupCases: CorpusCase[] = underRule(
  'security group selector',
  ...termCases('securityGroupSelectorTerms', "'tags', 'id', 'name'", { id: 'sg-0123abc' }),
  accept('group: id', groups({ id: 'sg-12345' })),
  accept('group: name', groups({ name: 'nodes' })),
  reject('group: another id', groups({ id: 'subnet-1' }), `${groupAt}[0].id`, 'should match'),
  reject('group: missing', ec2Class({ securityGroupSelectorTerms: undefined }), groupAt, 'Required value'),
  reject('group: null', ec2Class({ securityGroupSelectorTerms: null }), groupAt, 'Required value'),
  reject('group: no terms', groups(), groupAt, 'securityGroupSelectorTerms cannot be empty'),
  reject('group: id and tags', groups({ id: 'sg-1', tags: { a: 'b' } }), groupAt, groupMixed('id')),
  reject('group: id and name', groups({ id: 'sg-1', name: 'a' }), groupAt, groupMixed('id')),
  reject('group: name and id', groups({ id: 'sg-1', name: 'a' }), groupAt, groupMixed('name')),
  reject('group: name and tags', groups({ name: 'a', tags: { a: 'b' } }), groupAt, groupMixed('name')),
  accept('group: name and tags in one of two terms', groups({ name: 'a', tags: { a: 'b' } }, { name: 'c' })),
);

const reservationMixed =
  "'id' is mutually exclusive, cannot be set along with other fields in a capacity reservation selector term";
const reservationNone = "expected at least one, got none, ['tags', 'id', 'instanceMatchCriteria']";
const reservations = (...terms: unknown[]) => ec2Class({ capacityReservationSelectorTerms: terms });
const reservationAt = 'spec.capacityReservationSelectorTerms';
const ownerID = '012345678901';

const reservationCases: CorpusCase[] = underRule(
  'capacity reservation selector',
  ...termCases('capacityReservationSelectorTerms', "'tags', 'id', 'instanceMatchCriteria'", { id: 'cr-0123abc' }),
  accept('reservation: null', ec2Class({ capacityReservationSelectorTerms: null })),
  reject('reservation: no terms', reservations(), reservationAt, reservationMixed),
  accept('reservation: id', reservations({ id: 'cr-12345' })),
  accept('reservation: tags and owner', reservations({ tags: { a: 'b' }, ownerID })),
  ...each(['open', 'targeted'], (instanceMatchCriteria) =>
    accept(`reservation: ${instanceMatchCriteria}`, reservations({ instanceMatchCriteria })),
  ),
  accept('reservation: criteria and tags', reservations({ instanceMatchCriteria: 'open', tags: { a: 'b' } })),
  accept(
    'reservation: criteria, owner and tags',
    reservations({ instanceMatchCriteria: 'open', ownerID, tags: { a: 'b' } }),
  ),
  reject(
    'reservation: other criteria',
    reservations({ instanceMatchCriteria: 'closed' }),
    `${reservationAt}[0].instanceMatchCriteria`,
    'Unsupported value',
  ),
  ...each(['12345', 'xcr-1', 'cr-1!', 'CR-1'], (id) =>
    reject(`reservation: id ${id}`, reservations({ id }), `${reservationAt}[0].id`, 'should match'),
  ),
  ...each(['12', '0123456789012', 'abcdefghijkl'], (owner) =>
    reject(
      `reservation: owner ${owner}`,
      reservations({ tags: { a: 'b' }, ownerID: owner }),
      `${reservationAt}[0].ownerID`,
      'should match',
    ),
  ),
  reject('reservation: owner alone', reservations({ ownerID }), reservationAt, reservationNone),
  reject('reservation: id and tags', reservations({ id: 'cr-1', tags: { a: 'b' } }), reservationAt, reservationMixed),
  reject('reservation: id and owner', reservations({ id: 'cr-1', ownerID }), reservationAt, reservationMixed),
  reject(
    'reservation: id and criteria',
    reservations({ id: 'cr-1', instanceMatchCriteria: 'open' }),
    reservationAt,
    reservationMixed,
  ),
  accept(
    'reservation: id and tags in one of two terms',
    reservations({ id: 'cr-1', tags: { a: 'b' } }, { id: 'cr-2' }),
  ),
);

const amis = (...terms: unknown[]) => ec2Class({ amiSelectorTerms: terms, amiFamily: 'Custom' });
const amiAt = 'spec.amiSelectorTerms';
const idMixed = "'id' is mutually exclusive, cannot be set with a combination of other fields in amiSelectorTerms";
const aliasMixed =
  "'alias' is mutually exclusive, cannot be set with a combination of other fields in amiSelectorTerms";
const aliasAlone = "'alias' is mutually exclusive, cannot be set with a combination of other amiSelectorTerms";
const beside: [string, object][] = [
  ['tags', { tags: { a: 'b' } }],
  ['name', { name: 'a' }],
  ['owner', { owner: 'self' }],
];

const amiCases: CorpusCase[] = underRule(
  'AMI selector',
  ...termCases(
    'amiSelectorTerms',
    "'tags', 'id', 'name', 'alias', 'ssmParameter'",
    { id: 'ami-0123abc' },
    { amiFamily: 'Custom' },
  ),
  accept('ami: id', amis({ id: 'ami-12345' })),
  accept('ami: name', amis({ name: 'my-image-*' })),
  accept('ami: name and owner', amis({ name: 'a', owner: 'self' })),
  accept('ami: tags and owner', amis({ tags: { a: 'b' }, owner: 'amazon' })),
  accept('ami: ssmParameter', amis({ ssmParameter: '/my/image' })),
  reject(
    'ami: owner alone',
    amis({ owner: 'self' }),
    amiAt,
    "expected at least one, got none, ['tags', 'id', 'name', 'alias', 'ssmParameter']",
  ),
  reject('ami: another id', amis({ id: 'subnet-1' }), `${amiAt}[0].id`, 'should match'),
  reject('ami: missing', ec2Class({ amiSelectorTerms: undefined, amiFamily: 'Custom' }), amiAt, 'Required value'),
  reject('ami: no terms', amis(), amiAt, 'should have at least 1 items'),
  ...each(beside, ([name, fields]) => reject(`ami: id and ${name}`, amis({ id: 'ami-1', ...fields }), amiAt, idMixed)),
  reject('ami: id and alias', amis({ id: 'ami-1', alias: 'al2@latest' }), amiAt, idMixed),
  reject(
    'ami: id and tags in one of two terms',
    amis({ id: 'ami-1', tags: { a: 'b' } }, { id: 'ami-2' }),
    amiAt,
    idMixed,
  ),
  ...each(beside, ([name, fields]) =>
    reject(`ami: alias and ${name}`, amis({ alias: 'al2023@latest', ...fields }), amiAt, aliasMixed),
  ),
  reject('ami: alias and id', amis({ alias: 'al2023@latest', id: 'ami-1' }), amiAt, aliasMixed),
  reject('ami: alias beside another term', amis({ alias: 'al2023@latest' }, { id: 'ami-1' }), amiAt, aliasAlone),
  reject('ami: two aliases', amis({ alias: 'al2023@latest' }, { alias: 'al2@latest' }), amiAt, aliasAlone),
);

const alias = (value: string) => ec2Class({ amiSelectorTerms: [{ alias: value }] });
const aliasAt = `${amiAt}[0].alias`;
const aliasFormat = "'alias' is improperly formatted, must match the format 'family@version'";
const unsupported =
  "family is not supported, must be one of the following: 'al2', 'al2023', 'bottlerocket', 'windows2019', 'windows2022', 'windows2025'";
const windows = ['windows2019', 'windows2022', 'windows2025'];

const aliasCases: CorpusCase[] = underRule(
  'AMI alias',
  ...each(
    [
      'al2@latest',
      'al2@v20240625',
      'al2023@latest',
      'al2023@v20240625',
      'bottlerocket@latest',
      'bottlerocket@1.10.0',
      'bottlerocket@v1.20.4',
      'al2023@a@b',
      ...windows.map((family) => `${family}@latest`),
      'windows2022@latest@2',
    ],
    (value) => accept(`alias ${value}`, alias(value)),
  ),
  ...each(['@latest', 'al2023', 'al2023@', 'al2023-latest', 'al-2023@latest', ''], (value) =>
    reject(`alias ${shown(value)}`, alias(value), aliasAt, aliasFormat),
  ),
  ...each(['ubuntu@latest', 'AL2@latest', 'al20@latest', 'windows@latest', 'Windows2022@latest'], (value) =>
    reject(`alias ${value}`, alias(value), aliasAt, unsupported),
  ),
  ...each(windows, (family) =>
    reject(
      `alias ${family}@v1.0.0`,
      alias(`${family}@v1.0.0`),
      aliasAt,
      "windows families may only specify version 'latest'",
    ),
  ),
  accept('alias of 30 characters', alias(`al2023@${'v'.repeat(23)}`)),
  reject('alias of 31 characters', alias(`al2023@${'v'.repeat(24)}`), aliasAt, 'may not be more than 30'),
);

const families = ['AL2', 'AL2023', 'Bottlerocket', 'Windows2019', 'Windows2022', 'Windows2025'];
const article = (family: string): string => (family.startsWith('A') ? 'an' : 'a');

const familyCases: CorpusCase[] = underRule(
  'amiFamily',
  accept('no user data', ec2Class({ userData: undefined })),
  ...each([...families, 'Custom'], (amiFamily) =>
    accept(`family ${amiFamily} without an alias`, ec2Class({ amiFamily, amiSelectorTerms: [{ id: 'ami-1' }] })),
  ),
  reject(
    'family Ubuntu',
    ec2Class({ amiFamily: 'Ubuntu', amiSelectorTerms: [{ id: 'ami-1' }] }),
    'spec.amiFamily',
    'Unsupported value: "Ubuntu"',
  ),
  reject(
    'no family and no alias',
    ec2Class({ amiSelectorTerms: [{ id: 'ami-1' }] }),
    'spec',
    'must specify amiFamily if amiSelectorTerms does not contain an alias',
  ),
  ...families.flatMap((family) => {
    const amiSelectorTerms = [{ alias: `${family.toLowerCase()}@latest` }];
    return [...families, 'Custom'].map((amiFamily) => {
      const manifest = ec2Class({ amiFamily, amiSelectorTerms });
      const name = `family ${amiFamily} with the alias of ${family}`;
      if (amiFamily === family || amiFamily === 'Custom') return accept(name, manifest);
      const message = `if set, amiFamily must be '${family}' or 'Custom' when using ${article(family)} ${family} alias`;
      return reject(name, manifest, 'spec', message);
    });
  }),
);

const placement = (placementGroupSelector: unknown) => ec2Class({ placementGroupSelector });
const placementAt = 'spec.placementGroupSelector';

const placementCases: CorpusCase[] = underRule(
  'placement group selector',
  accept('placement: name', placement({ name: 'a' })),
  accept('placement: id', placement({ id: 'pg-0123abc' })),
  reject('placement: nothing', placement({}), placementAt, "expected at least one, got none, ['name', 'id']"),
  reject(
    'placement: both',
    placement({ name: 'a', id: 'pg-1' }),
    placementAt,
    "'name' and 'id' are mutually exclusive",
  ),
  reject('placement: an empty name', placement({ name: '' }), `${placementAt}.name`, 'should be at least 1 chars long'),
  reject('placement: another id', placement({ id: 'xpg-1' }), `${placementAt}.id`, 'should match'),
);

export const ec2SelectorCases: CorpusCase[] = [
  ...subnetCases,
  ...groupCases,
  ...reservationCases,
  ...amiCases,
  ...aliasCases,
  ...familyCases,
  ...placementCases,
];
