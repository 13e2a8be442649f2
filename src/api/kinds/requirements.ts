// What NodePools, NodeClaims and NodeOverlays say about nodes: requirements on labels. The rules are those admission can
// check; what needs the provider's knowledge is checked by the controller (runtime validation).
import * as names from '../names.ts';
import { integer, listOf, object, oneOf, optional, rule, text } from '../schema/build.ts';
import type { ValidationRule } from '../schema/structural.ts';
import { qualifiedName } from './patterns.ts';

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte'] as const;

/** AWS labels that depend on the launch, not on the type: an overlay cannot select by them. */
const launchTimeLabels: readonly string[] = [
  names.awsLabel.instanceTenancy,
  names.awsLabel.capacityReservationId,
  names.awsLabel.capacityReservationType,
  names.awsLabel.capacityReservationInterruptible,
  names.awsLabel.placementGroupId,
  names.awsLabel.placementGroupPartition,
  names.awsLabel.nitroSandbox,
];

interface KeyRules {
  /** The key is a NodePool's own: it may not choose the pool it belongs to. */
  ownedByPool: boolean;
  /** Karpenter's own definitions restrict the simulated provider's domain in requirements alone. */
  of: 'label' | 'requirement' | 'overlay';
}

const quoted = (values: readonly string[]): string => `[${values.map((value) => `'${value}'`).join(', ')}]`;

/** A domain is restricted by the end of its text, as far as admission goes: `mykarpenter.sh/x` is refused, too. */
function domainRule(domain: string, allowed: readonly string[], wrap: (test: string) => string): ValidationRule {
  const pattern = `^[^/]*${domain.replaceAll('.', '[.]')}(/|$)`;
  return rule(
    wrap(`KEY in ${quoted(allowed)} || !KEY.matches('${pattern}')`),
    `label domain "${domain}" is restricted`,
  );
}

/** Rules on one label key; `wrap` turns a test on `KEY` into the rule's expression. */
export function labelKeyRules({ ownedByPool, of }: KeyRules, wrap: (test: string) => string) {
  const aws = names.awsWellKnownLabels.filter(
    (key) => key.startsWith(names.awsGroup) && !(of === 'overlay' && launchTimeLabels.includes(key)),
  );
  const kwok = [...names.kwokWellKnownLabels, names.kwokLabel.nodeClass];
  const banned = ownedByPool ? [names.label.nodePool, names.label.hostname] : [names.label.hostname];
  return [
    domainRule(names.group, [names.label.capacityType, names.label.nodePool], wrap),
    domainRule(names.awsGroup, aws, wrap),
    ...(of === 'requirement' ? [domainRule(names.kwokGroup, kwok, wrap)] : []),
    ...banned.map((key) => rule(wrap(`KEY != '${key}'`), `label "${key}" is restricted`)),
  ];
}

const onSelf = (test: string): string => test.replaceAll('KEY', 'self');

const key = (keyRules: KeyRules) =>
  text('Label of the node this is about.', {
    maxLength: 316,
    pattern: qualifiedName,
    'x-kubernetes-validations': labelKeyRules(keyRules, onSelf),
  });

const operator = () => oneOf('How the label and the values relate.', operators);

const values = () =>
  optional(
    listOf(
      'Values; one whole number for the comparing operators, none for Exists and DoesNotExist.',
      text('A value.'),
      {
        'x-kubernetes-list-type': 'atomic',
      },
    ),
  );

const needsValue = (name: 'In' | 'NotIn'): ValidationRule =>
  rule(
    `self.all(r, r.operator != '${name}' || (has(r.values) && r.values.size() > 0))`,
    `requirements with operator '${name}' must have a value defined`,
  );

const singleNumber = (message: string): ValidationRule =>
  rule(
    "self.all(r, !(r.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || " +
      '(has(r.values) && r.values.size() == 1 && int(r.values[0]) >= 0))',
    message,
  );

/** Requirements of a NodePool's template or a NodeClaim. */
export const requirements = (ownedByPool: boolean) =>
  listOf(
    'Requirements on the labels of nodes; all of them hold.',
    object('A requirement on one label.', {
      key: key({ ownedByPool, of: 'requirement' }),
      operator: operator(),
      values: values(),
      minValues: optional(
        integer('How many different values must stay possible when a node is launched.', { minimum: 1, maximum: 50 }),
      ),
    }),
    {
      maxItems: 100,
      'x-kubernetes-list-type': 'atomic',
      'x-kubernetes-validations': [
        needsValue('In'),
        singleNumber("requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value"),
        rule(
          "self.all(r, r.operator != 'In' || !has(r.minValues) || (has(r.values) && r.values.size() >= r.minValues))",
          "requirements with 'minValues' must have at least that many values specified in the 'values' field",
        ),
      ],
    },
  );

/** Requirements that choose the instance types an overlay applies to. */
export const overlayRequirements = () =>
  listOf(
    'Requirements that choose the offerings this applies to; all of them hold.',
    object('A requirement on one label.', {
      key: key({ ownedByPool: false, of: 'overlay' }),
      operator: operator(),
      values: values(),
    }),
    {
      maxItems: 100,
      'x-kubernetes-list-type': 'atomic',
      'x-kubernetes-validations': [
        needsValue('NotIn'),
        needsValue('In'),
        singleNumber("requirements operator 'Gt', 'Lt', 'Gte' or 'Lte' must have a single positive integer value"),
      ],
    },
  );
