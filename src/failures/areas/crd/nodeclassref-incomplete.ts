// v1 wants group, kind and name of the node class; v1beta1 had apiVersion, kind and name.

import type { Failure, Found } from '../../failure.ts';
import { at, mapAt, textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { manifestInText } from '../../named-in-text.ts';
import { anyOf, kinds, texts } from '../../needs.ts';

export const nodeclassrefIncomplete: Failure = {
  id: 'crd/nodeclassref-incomplete',
  severity: 'high',
  symptom: 'A v1 NodePool is rejected or never ready: `spec.template.spec.nodeClassRef.group: Required value`.',
  cause: 'v1 requires group, kind and name in nodeClassRef; group is the API group without a version',
  fix: '`nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}`; group and kind cannot be changed afterwards.',
  needs: [anyOf(kinds('NodePool'), texts('cli'))],
  signs: [
    {
      words: ['nodeclassref'],
      pattern:
        /nodeClassRef\.(?<field>group|kind|name)["']?: Required value|nodeClassRef\.(?<field2>group|kind|name)["']?: Invalid value: ""|nodeClassRef\.group: Invalid value.{0,60}(?:v1beta1|v1)["/ ]|missing required field ["'](?<field3>group|kind|name)["'] in [\w.]*nodeClassRef/i,
    },
    {
      words: ['nodeclassref'],
      pattern: /unknown field "(?:[\w.]*\.)?nodeClassRef\.(?<field>apiVersion)"/i,
    },
    {
      words: ['nodeclassref may not be empty', 'nodeclassref'],
      pattern:
        /nodeClassRef\.(?:group|kind|name) may not be empty|(?:group|kind|name) may not be empty.{0,80}nodeClassRef/i,
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary:
        'nodeClassRef of a NodePool is incomplete: v1 requires group, kind and name, and knows no apiVersion there.',
      fix: [
        'spec.template.spec.nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}',
        'v1 also requires spec.disruption.consolidateAfter where disruption is written: 0s keeps the old behaviour.',
        `kerf convert -f ${manifestInText(sightings)} writes it for you.`,
      ],
    }),
  ],
  check({ objects }): Found[] {
    const pools = objects.of('NodePool').filter(({ object }) => {
      if (textAt(object, 'apiVersion') !== 'karpenter.sh/v1') return false;
      const ref = mapAt(object, 'spec', 'template', 'spec', 'nodeClassRef');
      return (
        at(ref, 'apiVersion') !== undefined ||
        textAt(ref, 'group') === '' ||
        textAt(ref, 'kind') === '' ||
        textAt(ref, 'group').includes('/')
      );
    });
    if (pools.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `nodeClassRef of ${pools.map(({ name }) => name).join(', ')} is incomplete: v1 requires group, kind and name.`,
        objects: refsOf(pools),
        evidence: pools.map((pool) =>
          fieldItem(
            pool,
            'spec.template.spec.nodeClassRef',
            JSON.stringify(at(pool.object, 'spec', 'template', 'spec', 'nodeClassRef')),
          ),
        ),
        fix: pools.map(
          ({ name, object }) =>
            `kubectl patch nodepool ${name} --type=merge -p '{"spec":{"template":{"spec":{"nodeClassRef":{"apiVersion":null,"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"${textAt(object, 'spec', 'template', 'spec', 'nodeClassRef', 'name') || 'default'}"}}}}}'`,
        ),
      },
    ];
  },
};
