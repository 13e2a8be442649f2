// Rules that NodePool templates and NodeClaims share; each is tried on both.
import { awsLabelKeys } from './aws-labels.ts';
import { accept, type Case, type CorpusCase, each, type Manifest, reject, shown, underRule } from './case.ts';
import { claim, pool } from './objects.ts';

/** Tries fields of a node's spec in one kind of object. */
interface Holder {
  kind: string;
  make(fields: Record<string, unknown>): Manifest;
  /** Where the fields are. */
  at: string;
}

const holders: Holder[] = [
  { kind: 'NodePool', make: (fields) => pool({}, fields), at: 'spec.template.spec' },
  { kind: 'NodeClaim', make: (fields) => claim(fields), at: 'spec' },
];

const requirement = (key: string, operator: string, values?: unknown, more: object = {}) => ({
  key,
  operator,
  ...(values === undefined ? {} : { values }),
  ...more,
});

const ref = (fields: object) => ({ group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default', ...fields });

const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `v${i}`);

const inNeedsValue = "requirements with operator 'In' must have a value defined";
const oneNumber = "requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value";
const enoughValues =
  "requirements with 'minValues' must have at least that many values specified in the 'values' field";

function requirementCases({ kind, make, at }: Holder): CorpusCase[] {
  const list = `${at}.requirements`;
  const item = `${list}[0]`;
  const ok = (name: string, ...requirements: unknown[]): Case => accept(`${kind}: ${name}`, make({ requirements }));
  const no = (name: string, field: string, message: string, ...requirements: unknown[]): Case =>
    reject(`${kind}: ${name}`, make({ requirements }), field, message);
  return [
    ...underRule(
      'requirements',
      ok('no requirements at all'),
      reject(`${kind}: requirements as an object`, make({ requirements: {} }), list, 'must be of type array'),
      reject(`${kind}: requirements missing`, make({ requirements: undefined }), list, 'Required value'),
      ok(
        'one key several times, with several operators',
        requirement('a', 'In', ['1', '2']),
        requirement('a', 'NotIn', ['2']),
        requirement('a', 'Gt', ['0']),
      ),
      ok('100 requirements', ...many(100).map((name) => requirement(name, 'Exists'))),
      no(
        '101 requirements',
        list,
        'must have at most 100 items',
        ...many(101).map((name) => requirement(name, 'Exists')),
      ),
    ),
    ...underRule(
      'requirement operator',
      ...each(['In', 'NotIn'], (operator) => ok(`operator ${operator}`, requirement('a', operator, ['x']))),
      ...each(['Exists', 'DoesNotExist'], (operator) => ok(`operator ${operator}`, requirement('a', operator))),
      ...each(['Gt', 'Lt', 'Gte', 'Lte'], (operator) => ok(`operator ${operator}`, requirement('a', operator, ['7']))),
      no('an unknown operator', `${item}.operator`, 'Unsupported value: "Near"', requirement('a', 'Near', ['x'])),
      no('an operator in lower case', `${item}.operator`, 'Unsupported value: "in"', requirement('a', 'in', ['x'])),
      no('no operator', `${item}.operator`, 'Required value', { key: 'a', values: ['x'] }),
      no('no key', `${item}.key`, 'Required value', { operator: 'Exists' }),
      ok('Exists with values', requirement('a', 'Exists', ['x'])),
      ok('DoesNotExist with values', requirement('a', 'DoesNotExist', ['x'])),
    ),
    ...underRule(
      'requirement values',
      no('In with an empty list', list, inNeedsValue, requirement('a', 'In', [])),
      no('In without values', list, inNeedsValue, requirement('a', 'In')),
      no(
        'In without values after a good one',
        list,
        inNeedsValue,
        requirement('b', 'In', ['x']),
        requirement('a', 'In', []),
      ),
      ok('NotIn with an empty list', requirement('a', 'NotIn', [])),
      ok('NotIn without values', requirement('a', 'NotIn')),
      ok('more than 50 values', requirement('a', 'In', many(60))),
      ok('a value no label can have', requirement('a', 'In', ['not a label value!', 'x'.repeat(100)])),
      no('a value that is not text', `${item}.values[0]`, 'must be of type string', requirement('a', 'In', [5])),
    ),
    ...underRule(
      'requirement number',
      ...each(['0', '1', '4294967296', '+5'], (value) => ok(`Gt ${shown(value)}`, requirement('a', 'Gt', [value]))),
      ...each(['-1', '-1000'], (value) => no(`Gt ${shown(value)}`, list, oneNumber, requirement('a', 'Gt', [value]))),
      ...each(['x', '1.5', '', '1e3', '99999999999999999999'], (value) =>
        no(`Gt ${shown(value)}`, list, oneNumber, requirement('a', 'Gt', [value])),
      ),
      ...each(['Gt', 'Lt', 'Gte', 'Lte'], (operator) =>
        no(`${operator} with two values`, list, oneNumber, requirement('a', operator, ['1', '2'])),
      ),
      ...each(['Gt', 'Lt', 'Gte', 'Lte'], (operator) =>
        no(`${operator} without a value`, list, oneNumber, requirement('a', operator)),
      ),
      no('Lte with an empty list', list, oneNumber, requirement('a', 'Lte', [])),
    ),
    ...underRule(
      'requirement minValues',
      ok('minValues 1', requirement('a', 'In', ['x'], { minValues: 1 })),
      ok('minValues 50', requirement('a', 'In', many(50), { minValues: 50 })),
      no(
        'minValues 0',
        `${item}.minValues`,
        'should be greater than or equal to 1',
        requirement('a', 'In', ['x'], { minValues: 0 }),
      ),
      no(
        'minValues 51',
        `${item}.minValues`,
        'should be less than or equal to 50',
        requirement('a', 'In', many(60), { minValues: 51 }),
      ),
      no('more minValues than values', list, enoughValues, requirement('a', 'In', ['x', 'y'], { minValues: 3 })),
      ok('minValues with Exists', requirement('a', 'Exists', undefined, { minValues: 3 })),
      ok('minValues with NotIn', requirement('a', 'NotIn', undefined, { minValues: 3 })),
      no(
        'minValues in words',
        `${item}.minValues`,
        'must be of type integer',
        requirement('a', 'Exists', undefined, { minValues: 'two' }),
      ),
      no(
        'a fraction of minValues',
        `${item}.minValues`,
        'must be of type integer',
        requirement('a', 'Exists', undefined, { minValues: 1.5 }),
      ),
    ),
    ...underRule(
      'requirement key',
      ...each(
        [
          'a',
          'A',
          'example.com/Name',
          'a.b.c/d_e.f',
          'node.kubernetes.io/instance-type',
          'karpenter.sh/capacity-type',
          'kubernetes.io/os',
          'node-restriction.kubernetes.io/x',
          `${'d'.repeat(200)}/${'n'.repeat(115)}`,
        ],
        (key) => ok(`key ${key.slice(0, 60)}`, requirement(key, 'Exists')),
      ),
      ...each(['', '-a', 'a-', 'a/b/c', 'Example.com/a', '/a', 'a b', 'a/'], (key) =>
        no(`key ${shown(key)}`, `${item}.key`, 'should match', requirement(key, 'Exists')),
      ),
      no('a key of 317 characters', `${item}.key`, 'may not be more than 316', requirement('k'.repeat(317), 'Exists')),
    ),
    ...underRule(
      'restricted requirement key',
      ...each(['karpenter.sh/x', 'sub.karpenter.sh/x', 'mykarpenter.sh/x', 'karpenter.sh'], (key) =>
        no(`key ${key}`, `${item}.key`, 'label domain "karpenter.sh" is restricted', requirement(key, 'Exists')),
      ),
      no(
        'the hostname',
        `${item}.key`,
        'label "kubernetes.io/hostname" is restricted',
        requirement('kubernetes.io/hostname', 'In', ['x']),
      ),
      ...each(['karpenter.k8s.aws/x', 'a.karpenter.k8s.aws/x'], (key) =>
        no(`key ${key}`, `${item}.key`, 'label domain "karpenter.k8s.aws" is restricted', requirement(key, 'Exists')),
      ),
      no(
        'an invented KWOK label',
        `${item}.key`,
        'label domain "karpenter.kwok.sh" is restricted',
        requirement('karpenter.kwok.sh/x', 'Exists'),
      ),
      ok('a KWOK label', requirement('karpenter.kwok.sh/instance-cpu', 'Exists')),
      kind === 'NodePool'
        ? no(
            'the pool it belongs to',
            `${item}.key`,
            'label "karpenter.sh/nodepool" is restricted',
            requirement('karpenter.sh/nodepool', 'In', ['x']),
          )
        : ok('the pool it belongs to', requirement('karpenter.sh/nodepool', 'In', ['x'])),
    ),
    ...underRule(
      'requirements about labels of AWS',
      ...each(awsLabelKeys, (key) => ok(`key ${key}`, requirement(key, 'Exists'))),
      ...each(['karpenter.sh/capacity-type', 'karpenter.k8s.aws/instance-tenancy'], (key) =>
        ok(`only unknown values of ${key}`, requirement(key, 'In', ['unheard-of'])),
      ),
    ),
  ];
}

function taintCases({ kind, make, at }: Holder): CorpusCase[] {
  return ['taints', 'startupTaints'].flatMap((field) => {
    const item = `${at}.${field}[0]`;
    const ok = (name: string, ...taints: unknown[]): Case =>
      accept(`${kind} ${field}: ${name}`, make({ [field]: taints }));
    const no = (name: string, where: string, message: string, ...taints: unknown[]): Case =>
      reject(`${kind} ${field}: ${name}`, make({ [field]: taints }), where, message);
    return underRule(
      'taints',
      ok('none'),
      ...each(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], (effect) =>
        ok(effect, { key: 'a.b/c', value: 'v', effect }),
      ),
      ok('without a value', { key: 'a', effect: 'NoSchedule' }),
      ok('one key with two effects', { key: 'a', effect: 'NoSchedule' }, { key: 'a', effect: 'NoExecute' }),
      ok('one key and effect twice', { key: 'a', effect: 'NoSchedule' }, { key: 'a', effect: 'NoSchedule' }),
      ok('with the time it was added', { key: 'a', effect: 'NoSchedule', timeAdded: '2026-01-02T03:04:05Z' }),
      no('a time in words', `${item}.timeAdded`, 'must be of type date-time', {
        key: 'a',
        effect: 'NoSchedule',
        timeAdded: 'today',
      }),
      no('an unknown effect', `${item}.effect`, 'Unsupported value: "Never"', { key: 'a', effect: 'Never' }),
      no('no effect', `${item}.effect`, 'Required value', { key: 'a' }),
      no('no key', `${item}.key`, 'Required value', { effect: 'NoSchedule' }),
      no('an empty key', `${item}.key`, 'should be at least 1 chars long', { key: '', effect: 'NoSchedule' }),
      no('a key that is none', `${item}.key`, 'should match', { key: 'a b', effect: 'NoSchedule' }),
      no('a value that is none', `${item}.value`, 'should match', { key: 'a', value: '???', effect: 'NoSchedule' }),
      no('an empty value', `${item}.value`, 'should match', { key: 'a', value: '', effect: 'NoSchedule' }),
    );
  });
}

function referenceCases({ kind, make, at }: Holder): CorpusCase[] {
  const where = `${at}.nodeClassRef`;
  const no = (name: string, field: string, message: string, nodeClassRef: unknown): Case =>
    reject(`${kind} nodeClassRef: ${name}`, make({ nodeClassRef }), field, message);
  return underRule(
    'nodeClassRef',
    no('missing', where, 'Required value', undefined),
    ...each(['group', 'kind', 'name'], (field) =>
      no(`no ${field}`, `${where}.${field}`, 'Required value', ref({ [field]: undefined })),
    ),
    ...each(['group', 'kind', 'name'], (field) =>
      no(`empty ${field}`, `${where}.${field}`, `${field} may not be empty`, ref({ [field]: '' })),
    ),
    no('a group with a version', `${where}.group`, 'should match', ref({ group: 'karpenter.kwok.sh/v1alpha1' })),
    no('a text', where, 'must be of type object', 'default'),
  );
}

function durationCases({ kind, make, at }: Holder): CorpusCase[] {
  const good = ['0s', '30s', '5m', '720h', '1h30m5s'];
  const bad = ['', '-1s', '1hr', '30', '1.5h', 'FooNever', 'NeverFoo', '1d', 'never', '5 m'];
  return [
    ...underRule(
      'expireAfter',
      accept(`${kind} expireAfter: unset means 720h`, make({}), { stored: { [`${at}.expireAfter`]: '720h' } }),
      accept(`${kind} expireAfter: null means 720h`, make({ expireAfter: null }), {
        stored: { [`${at}.expireAfter`]: '720h' },
      }),
      ...each([...good, 'Never'], (value) =>
        accept(`${kind} expireAfter: ${value}`, make({ expireAfter: value }), {
          stored: { [`${at}.expireAfter`]: value },
        }),
      ),
      ...each(bad, (value) =>
        reject(
          `${kind} expireAfter: ${shown(value)}`,
          make({ expireAfter: value }),
          `${at}.expireAfter`,
          'should match',
        ),
      ),
      reject(`${kind} expireAfter: a number`, make({ expireAfter: 30 }), `${at}.expireAfter`, 'must be of type string'),
    ),
    ...underRule(
      'terminationGracePeriod',
      ...each(good, (value) =>
        accept(`${kind} terminationGracePeriod: ${value}`, make({ terminationGracePeriod: value })),
      ),
      ...each([...bad, 'Never'], (value) =>
        reject(
          `${kind} terminationGracePeriod: ${shown(value)}`,
          make({ terminationGracePeriod: value }),
          `${at}.terminationGracePeriod`,
          'should match',
        ),
      ),
    ),
  ];
}

export const nodeCases: CorpusCase[] = holders.flatMap((holder) => [
  ...requirementCases(holder),
  ...taintCases(holder),
  ...referenceCases(holder),
  ...durationCases(holder),
]);
