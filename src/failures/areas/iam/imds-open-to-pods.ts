// A hop limit of two, or tokens that are optional, let pods take the credentials of the node.
import type { Failure, Found } from '../../failure.ts';
import { numberAt, textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';

export const imdsOpenToPods: Failure = {
  id: 'iam/imds-open-to-pods',
  severity: 'high',
  symptom: "Any pod can take the node role's credentials.",
  cause:
    'httpPutResponseHopLimit of 2 or more lets pods reach the metadata service; httpTokens optional lets them do it without a token. A hop limit does not enforce tokens',
  fix: '`metadataOptions: {httpTokens: required, httpPutResponseHopLimit: 1}` (the defaults of v1); give pods roles of their own.',
  needs: [anyOf(kinds('EC2NodeClass'), texts('cli'))],
  signs: [
    {
      words: ['httpputresponsehoplimit', 'httptokens'],
      pattern: /httpPutResponseHopLimit["']?: ?["']?(?:[2-9]|\d\d)\b|httpTokens["']?: ?["']?optional/i,
      where: ['asked', 'cli'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary:
        'The metadata service of the nodes is open to pods: tokens are enforced by httpTokens, and a hop limit of 2 lets pods through.',
      fix: ['spec.metadataOptions: {httpTokens: required, httpPutResponseHopLimit: 1}'],
    }),
  ],
  check({ objects }): Found[] {
    const classes = [...objects.of('EC2NodeClass'), ...objects.of('AWSNodeTemplate')].filter(
      ({ object }) =>
        (numberAt(object, 'spec', 'metadataOptions', 'httpPutResponseHopLimit') ?? 1) > 1 ||
        textAt(object, 'spec', 'metadataOptions', 'httpTokens') === 'optional',
    );
    if (classes.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `Pods on nodes of ${classes.map(({ name }) => name).join(', ')} can take the node role's credentials from the metadata service.`,
        objects: refsOf(classes),
        evidence: classes.map((one) =>
          fieldItem(
            one,
            'spec.metadataOptions',
            `httpTokens ${textAt(one.object, 'spec', 'metadataOptions', 'httpTokens') || 'required'}, httpPutResponseHopLimit ${textAt(one.object, 'spec', 'metadataOptions', 'httpPutResponseHopLimit') || '1'}`,
          ),
        ),
        fix: [
          ...classes.map(
            ({ name, kind }) =>
              `kubectl patch ${kind.toLowerCase()} ${name} --type=merge -p '{"spec":{"metadataOptions":{"httpTokens":"required","httpPutResponseHopLimit":1}}}'`,
          ),
          'Pods that use the node role today need roles of their own first (Pod Identity, IRSA); existing nodes are replaced by drift.',
        ],
      },
    ];
  },
};
