// The conditions list of every kind's status. `strict` is the shape Kubernetes asks of new APIs; the lax one (NodeClaim)
// also takes a condition without reason or message. Lists are merged by type, but for those of node classes, which are
// replaced as a whole: whoever applies one owns all of it, as with Karpenter's.
import type * as Type from 'typebox';
import { int64, listOf, object, oneOf, optional, text, time } from '../schema/build.ts';
import { conditionReason, conditionReasonOrEmpty, conditionType } from './patterns.ts';

const statuses = ['True', 'False', 'Unknown'] as const;

const shared = () => ({
  type: text('What the condition is about.', { maxLength: 316, pattern: conditionType }),
  status: oneOf('Whether it holds.', statuses),
  lastTransitionTime: time('When the status changed last.'),
  observedGeneration: optional(
    int64('Generation of the object this was written for; an older one makes it out of date.', { minimum: 0 }),
  ),
});

const mapByType = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] } as const;

const listDescription = 'The state of the object, one entry per aspect.';

const strictCondition = () =>
  object('One aspect of the state.', {
    ...shared(),
    reason: text('Why, in one CamelCase word.', { minLength: 1, maxLength: 1024, pattern: conditionReason }),
    message: text('Why, in words for people; may be empty.', { maxLength: 32_768 }),
  });

export const strictConditions = () => listOf(listDescription, strictCondition(), mapByType);

export const nodeClassConditions = () => listOf(listDescription, strictCondition());

const laxCondition = object('One aspect of the state.', {
  ...shared(),
  reason: optional(text('Why, in one CamelCase word.', { maxLength: 1024, pattern: conditionReasonOrEmpty })),
  message: optional(text('Why, in words for people; may be empty.', { maxLength: 32_768 })),
});

export const laxConditions = () => listOf(listDescription, laxCondition, mapByType);

/** A condition of any kind. */
export type Condition = Type.Static<typeof laxCondition>;
