// v1 makes the choice of images explicit.

import type { Failure, Found } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { manifestInText } from '../../named-in-text.ts';
import { anyOf, kinds, texts } from '../../needs.ts';

export const amiSelectorRequired: Failure = {
  id: 'crd/ami-selector-required',
  severity: 'high',
  symptom: 'A v1 EC2NodeClass without amiSelectorTerms is rejected: `spec.amiSelectorTerms: Required value`.',
  cause:
    'v1beta1 chose images from amiFamily; v1 requires at least one selector term, and an alias must be the only term',
  fix: '`amiSelectorTerms: [{alias: al2023@v20240625}]`: pin a release in production, `@latest` drifts nodes on every image release.',
  needs: [anyOf(kinds('EC2NodeClass'), texts('cli'))],
  signs: [
    {
      words: ['amiselectorterms'],
      pattern:
        /amiSelectorTerms["']?: (?:Required value|Invalid value:.{0,60}(?:should have at least 1 items|must have at least|expected at least one))|missing required field ["']amiSelectorTerms|amiSelectorTerms:? (?:cannot be|must not be) empty|'alias' is (?:improperly set|mutually exclusive).{0,160}|(?:must|should) (?:specify|set|have) (?:an? )?amiSelectorTerms|must specify amiFamily if amiSelectorTerms does not contain an alias/i,
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: 'The EC2NodeClass is refused: v1 requires amiSelectorTerms, and an alias must stand alone.',
      fix: [
        'spec.amiSelectorTerms: [{alias: al2023@v20240625}]  # name a current release; al2023@latest follows every image release',
        `kerf convert -f ${manifestInText(sightings)} writes the alias that fits the old amiFamily.`,
      ],
    }),
  ],
  check({ objects }): Found[] {
    const classes = objects
      .of('EC2NodeClass')
      .filter(
        ({ object }) =>
          textAt(object, 'apiVersion') === 'karpenter.k8s.aws/v1' &&
          listAt(object, 'spec', 'amiSelectorTerms').length === 0,
      );
    if (classes.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `${classes.map(({ name }) => `EC2NodeClass ${name}`).join(', ')}: amiSelectorTerms is missing, which v1 requires.`,
        objects: refsOf(classes),
        evidence: classes.map((one) => fieldItem(one, 'spec.amiSelectorTerms', 'absent')),
        fix: classes.map(
          ({ name, object }) =>
            `kubectl patch ec2nodeclass ${name} --type=merge -p '{"spec":{"amiSelectorTerms":[{"alias":"${aliasFor(textAt(object, 'spec', 'amiFamily'))}"}]}}'`,
        ),
      },
    ];
  },
};

const aliasFor = (family: string): string =>
  family.startsWith('Windows') || family === 'Bottlerocket' ? `${family.toLowerCase()}@latest` : 'al2023@latest';
