// NodeOverlay: corrects what the provider says about instance types: their price, or resources it does not know of.
import type * as Type from 'typebox';
import { conditionType, group } from '../names.ts';
import type { ObjectMeta } from '../object-meta.ts';
import { int32, object, optional, resourceList, rule, rules, text } from '../schema/build.ts';
import { strictConditions } from './conditions.ts';
import { ageColumn, conditionColumn, defineKind } from './definition.ts';
import { overlayRequirements } from './requirements.ts';

const spec = object(
  'What to change, and for which offerings.',
  {
    requirements: overlayRequirements(),
    priceAdjustment: optional(
      text('Change of the price, with its sign: an amount (+0.5, -0.5) or a share (+10%, -15.5%).', {
        pattern: '^(([+-]{1}(\\d*\\.?\\d+))|(\\+{1}\\d*\\.?\\d+%)|(^(-\\d{1,2}(\\.\\d+)?%)$)|(-100%))$',
      }),
    ),
    price: optional(text('Price that replaces the known one, in USD per hour.', { pattern: '^\\d+(\\.\\d+)?$' })),
    capacity: optional(
      resourceList(
        'Extended resources to add.',
        rules(
          rule("self.all(k, !(k in ['cpu', 'memory', 'ephemeral-storage', 'pods']))", 'invalid resource restricted'),
        ),
      ),
    ),
    weight: optional(
      int32('Where overlays disagree, the one with more weight counts; unset is 0.', { minimum: 1, maximum: 10_000 }),
    ),
  },
  rules(rule('!(has(self.price) && has(self.priceAdjustment))', "cannot set both 'price' and 'priceAdjustment'")),
);

const status = object('Whether the overlay is in force.', { conditions: optional(strictConditions()) });

export const nodeOverlay = defineKind({
  group,
  version: 'v1alpha1',
  kind: 'NodeOverlay',
  plural: 'nodeoverlays',
  shortNames: ['overlays'],
  category: 'karpenter',
  namespaced: false,
  description: "Changes the price or the resources of instance types, beside the provider's own figures.",
  columns: [
    conditionColumn('Ready', conditionType.ready),
    ageColumn,
    { name: 'Weight', type: 'integer', jsonPath: '.spec.weight', wide: true },
  ],
  spec,
  status,
});

export interface NodeOverlay {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: Type.Static<typeof spec>;
  status?: Type.Static<typeof status>;
}
