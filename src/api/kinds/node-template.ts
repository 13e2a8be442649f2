// Parts of a node's description that NodePool templates and NodeClaims share: taints, the node class, life time.
import { listOf, object, oneOf, optional, rule, rules, text, time } from '../schema/build.ts';
import type { ValidationRule } from '../schema/structural.ts';
import { duration, durationOrNever, qualifiedName } from './patterns.ts';

const taint = object('A taint.', {
  key: text('Key of the taint.', { minLength: 1, pattern: qualifiedName }),
  value: optional(text('Value that goes with the key.', { pattern: qualifiedName })),
  effect: oneOf('What happens to pods that do not tolerate it.', ['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
  timeAdded: optional(time('When the taint was added.')),
});

export const taints = () => optional(listOf('Taints the nodes keep.', taint, { 'x-kubernetes-list-type': 'atomic' }));

export const startupTaints = () =>
  optional(
    listOf('Taints that something on the node removes before it counts as initialized.', taint, {
      'x-kubernetes-list-type': 'atomic',
    }),
  );

const notEmpty = (field: string): ValidationRule => rule("self != ''", `${field} may not be empty`);

/** Names the object with the provider's settings. A NodePool may change the name, never group or kind. */
export const nodeClassRef = (options: { fixedKind: boolean }) =>
  object(
    "The object with the cloud provider's settings.",
    {
      group: text('API group of the node class.', { pattern: '^[^/]*$', ...rules(notEmpty('group')) }),
      kind: text('Kind of the node class.', rules(notEmpty('kind'))),
      name: text('Name of the node class.', rules(notEmpty('name'))),
    },
    options.fixedKind
      ? rules(
          rule('self.group == oldSelf.group', 'nodeClassRef.group is immutable'),
          rule('self.kind == oldSelf.kind', 'nodeClassRef.kind is immutable'),
        )
      : {},
  );

export const terminationGracePeriod = () =>
  optional(
    text('How long a node may drain before its pods are deleted by force; unset means as long as it takes.', {
      pattern: duration,
    }),
  );

export const expireAfter = () =>
  optional(text('Age at which a node is replaced; Never keeps it.', { pattern: durationOrNever, default: '720h' }));
