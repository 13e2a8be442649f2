// How an EC2NodeClass finds what it uses: lists of terms, any of which may match; the fields of one term must all match.
//
// Where a term names an id, other fields beside it are refused. For subnets, security groups and reservations that rule
// only fires when every term breaks it: existing manifests rely on that, so it is kept.
import { listOf, mapOf, object, oneOf, optional, rule, rules, text } from '../schema/build.ts';
import type { ValidationRule } from '../schema/structural.ts';

const mostTerms = 30;

const tags = () =>
  optional(
    mapOf('Tags to match; `*` as a value takes any.', text('A value.'), {
      maxProperties: 20,
      ...rules(rule("self.all(k, k != '' && self[k] != '')", "empty tag keys or values aren't supported")),
    }),
  );

const id = (pattern: string) => optional(text('Id to match.', { pattern }));

/** Empty tags count as none: they would match everything there is. */
const isGiven = (field: string): string =>
  field === 'tags' ? '(has(t.tags) && t.tags.size() > 0)' : `has(t.${field})`;

const needsOne = (fields: readonly string[]): ValidationRule =>
  rule(
    `self.all(t, ${fields.map(isGiven).join(' || ')})`,
    `expected at least one, got none, [${fields.map((field) => `'${field}'`).join(', ')}]`,
  );

const together = (field: string, others: readonly string[]): string =>
  `has(t.${field}) && (${others.map((other) => `has(t.${other})`).join(' || ')})`;

/** Refuses `field` beside the others, but only when all terms do it: those of an empty list do, too. */
const apartSomewhere = (field: string, others: readonly string[], message: string): ValidationRule =>
  rule(`!self.all(t, ${together(field, others)})`, message);

const apart = (field: string, others: readonly string[], message: string): ValidationRule =>
  rule(`!self.exists(t, ${together(field, others)})`, message);

const notEmpty = (list: string): ValidationRule => rule('self.size() > 0', `${list} cannot be empty`);

const mixed = (field: string, place: string): string =>
  `'${field}' is mutually exclusive, cannot be set with a combination of other fields in ${place}`;

export const subnetSelectorTerms = () =>
  listOf(
    'Subnets to start instances in.',
    object('Subnets by tags or id.', { tags: tags(), id: id('subnet-[0-9a-z]+') }),
    {
      maxItems: mostTerms,
      ...rules(
        notEmpty('subnetSelectorTerms'),
        needsOne(['tags', 'id']),
        apartSomewhere('id', ['tags'], mixed('id', 'a subnet selector term')),
      ),
    },
  );

export const securityGroupSelectorTerms = () =>
  listOf(
    'Security groups instances get.',
    object('Security groups by tags, id or name.', {
      tags: tags(),
      id: id('sg-[0-9a-z]+'),
      name: optional(text('Name of the group, not its Name tag.')),
    }),
    {
      maxItems: mostTerms,
      ...rules(
        notEmpty('securityGroupSelectorTerms'),
        needsOne(['tags', 'id', 'name']),
        apartSomewhere('id', ['tags', 'name'], mixed('id', 'a security group selector term')),
        apartSomewhere('name', ['tags', 'id'], mixed('name', 'a security group selector term')),
      ),
    },
  );

export const capacityReservationSelectorTerms = () =>
  listOf(
    'Capacity reservations to use.',
    object('Reservations by tags, id or who may use them.', {
      tags: tags(),
      id: id('^cr-[0-9a-z]+$'),
      ownerID: optional(text('Account the reservation belongs to.', { pattern: '^[0-9]{12}$' })),
      instanceMatchCriteria: optional(oneOf('Who may use it.', ['open', 'targeted'])),
    }),
    {
      maxItems: mostTerms,
      ...rules(
        needsOne(['tags', 'id', 'instanceMatchCriteria']),
        apartSomewhere(
          'id',
          ['tags', 'ownerID', 'instanceMatchCriteria'],
          "'id' is mutually exclusive, cannot be set along with other fields in a capacity reservation selector term",
        ),
      ),
    },
  );

const aliasFamilies = ['al2', 'al2023', 'bottlerocket', 'windows2019', 'windows2022', 'windows2025'];

const quoted = aliasFamilies.map((family) => `'${family}'`).join(', ');

const alias = () =>
  optional(
    text('An image family and its version: al2023@latest, bottlerocket@v1.20.4.', {
      maxLength: 30,
      ...rules(
        rule(
          "self.matches('^[a-zA-Z0-9]+@.+$')",
          "'alias' is improperly formatted, must match the format 'family@version'",
        ),
        rule(`self.split('@')[0] in [${quoted}]`, `family is not supported, must be one of the following: ${quoted}`),
        rule(
          "!self.matches('^windows(2019|2022|2025)@') || self.split('@')[1] == 'latest'",
          "windows families may only specify version 'latest'",
        ),
      ),
    }),
  );

export const amiSelectorTerms = () =>
  listOf(
    'Images instances are started from.',
    object('Images by alias, tags, id, name or parameter.', {
      alias: alias(),
      tags: tags(),
      id: id('ami-[0-9a-z]+'),
      name: optional(text('Name of the image; wildcards are allowed.')),
      owner: optional(text('Account the image belongs to, or self, amazon.')),
      ssmParameter: optional(text('Name or ARN of an SSM parameter that holds an image id.')),
    }),
    {
      minItems: 1,
      maxItems: mostTerms,
      ...rules(
        needsOne(['tags', 'id', 'name', 'alias', 'ssmParameter']),
        apart('id', ['alias', 'tags', 'name', 'owner'], mixed('id', 'amiSelectorTerms')),
        apart('alias', ['id', 'tags', 'name', 'owner'], mixed('alias', 'amiSelectorTerms')),
        rule(
          'self.size() == 1 || !self.exists(t, has(t.alias))',
          "'alias' is mutually exclusive, cannot be set with a combination of other amiSelectorTerms",
        ),
      ),
    },
  );

export const placementGroupSelector = () =>
  object(
    'Placement group instances are started in.',
    {
      name: optional(text('Its name.', { minLength: 1 })),
      id: id('^pg-[0-9a-z]+$'),
    },
    rules(
      rule('has(self.name) || has(self.id)', "expected at least one, got none, ['name', 'id']"),
      rule('!(has(self.name) && has(self.id))', "'name' and 'id' are mutually exclusive"),
    ),
  );
