// KWOKNodeClass: settings of the simulated provider. `faults` is ours: what should go wrong, so that tests and people can
// watch it being handled; other KWOK providers ignore the field.
import type * as Type from 'typebox';
import { capacityType, conditionType, kwokGroup } from '../names.ts';
import type { ObjectMeta } from '../object-meta.ts';
import { int32, int64, listOf, object, oneOf, optional, text } from '../schema/build.ts';
import { nodeClassConditions } from './conditions.ts';
import { defineKind } from './definition.ts';
import { duration } from './patterns.ts';

const span = (description: string, options: { default?: string } = {}) =>
  text(description, { pattern: duration, ...options });

const names = (description: string) =>
  optional(listOf(description, text('A name.', { maxLength: 253 }), { maxItems: 100 }));

/** Which instances a fault concerns; an unset field means all. */
const target = () => ({
  instanceTypes: names('Instance types; all if unset.'),
  zones: names('Zones; all if unset.'),
  capacityTypes: optional(
    listOf('Capacity types; all if unset.', oneOf('A capacity type.', Object.values(capacityType)), { maxItems: 3 }),
  ),
});

const percent = (description: string) => int32(description, { minimum: 0, maximum: 100, default: 100 });

const chance = () => ({ percent: optional(percent('Share of the instances it happens to, chosen at random.')) });

const after = () => ({
  after: optional(span('How long after its launch it happens to an instance.', { default: '0s' })),
});

const lasting = (description: string) => ({ for: optional(span(description)) });

const faults = object('What goes wrong on purpose; nothing if unset.', {
  seed: optional(int64('Makes the random choices the same in every run.')),
  insufficientCapacity: optional(
    listOf(
      'Offerings that cannot be launched.',
      object('Offerings without capacity.', {
        ...target(),
        ...lasting('How long, from when the provider first sees this entry; unset means until it is removed.'),
      }),
      { maxItems: 100 },
    ),
  ),
  launch: optional(
    object('Slow launches.', {
      delay: optional(span('How long each launch takes.')),
      jitter: optional(span('Up to this much more, at random.')),
    }),
  ),
  registration: optional(object('Instances whose node never appears.', { ...target(), ...chance() })),
  notReady: optional(
    listOf(
      'Nodes that stop being Ready.',
      object('Nodes that stop being Ready.', {
        ...target(),
        ...chance(),
        ...after(),
        ...lasting('How long until they are Ready again; unset means for good.'),
        status: optional(oneOf('Status the Ready condition gets.', ['False', 'Unknown'], { default: 'Unknown' })),
      }),
      { maxItems: 100 },
    ),
  ),
  interruption: optional(
    listOf(
      'Spot instances the cloud takes back.',
      object('Spot instances the cloud takes back.', {
        instanceTypes: target().instanceTypes,
        zones: target().zones,
        ...chance(),
        ...after(),
        notice: optional(span('How long before the end the warning comes.', { default: '2m' })),
      }),
      { maxItems: 100 },
    ),
  ),
  throttling: optional(
    object('Calls the cloud refuses because there are too many.', {
      percent: optional(percent('Share of the calls refused.')),
      calls: optional(
        listOf('Calls concerned; all if unset.', oneOf('A call.', ['Create', 'Delete', 'Get', 'List']), {
          maxItems: 4,
          'x-kubernetes-list-type': 'set',
        }),
      ),
      ...lasting('How long, from when the provider first sees this; unset means until it is removed.'),
    }),
  ),
  vanish: optional(
    listOf(
      'Instances that are gone without a word.',
      object('Instances that are gone without a word.', { ...target(), ...chance(), ...after() }),
      { maxItems: 100 },
    ),
  ),
});

const spec = object(
  'Settings of the simulated provider.',
  {
    nodeRegistrationDelay: optional(span('How long an instance takes from its launch until its node appears.')),
    faults: optional(faults),
  },
  // Manifests in the field name the class and nothing else.
  { default: {} },
);

const status = object(
  'State of the node class.',
  { conditions: optional(nodeClassConditions()) },
  {
    // A node class that only simulates is ready from the start. The instant is a constant because a schema default cannot
    // know the time.
    default: {
      conditions: [
        {
          type: conditionType.ready,
          status: 'True',
          reason: 'Ready',
          message: '',
          lastTransitionTime: '2024-01-01T01:01:01Z',
        },
      ],
    },
  },
);

export const kwokNodeClass = defineKind({
  group: kwokGroup,
  version: 'v1alpha1',
  kind: 'KWOKNodeClass',
  plural: 'kwoknodeclasses',
  shortNames: ['kwoknc', 'kwokncs'],
  category: 'karpenter',
  namespaced: false,
  specIsOptional: true,
  description: 'Settings for nodes that exist only as objects, with no machine behind them.',
  columns: [],
  spec,
  status,
});

export type KwokFaults = Type.Static<typeof faults>;

export interface KWOKNodeClass {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec?: Type.Static<typeof spec>;
  status?: Type.Static<typeof status>;
}
