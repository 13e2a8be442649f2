// A selector loose enough to match images of strangers, or of another purpose.

import type { Evidence } from '../../evidence.ts';
import { accountOf } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { allCaught, fieldItem, foundIn } from '../../found.ts';
import { objectInText } from '../../named-in-text.ts';
import { kinds } from '../../needs.ts';
import { refOf, type Stored } from '../../objects.ts';

/** Accounts that publish images for EKS: Amazon for EKS, Bottlerocket, Windows, and Canonical. */
const publishers = new Set([
  '602401143452',
  '651937483462',
  '092701018921',
  '149721548608',
  '801119661308',
  '099720109477',
  '013241004608',
  '151742754352',
  '961992271922',
  '918309763551',
]);
const eksName = /^(amazon-eks-|bottlerocket-|Windows_Server-|ubuntu-eks|al2023-ami-)/i;

export const unintendedImageSelected: Failure = {
  id: 'ami/unintended-image-selected',
  severity: 'high',
  symptom: 'Nodes boot a foreign image and never join.',
  cause:
    'A name or tag selector without an owner is loose enough to match other images; an alias cannot do that, it is resolved through parameters of EKS',
  fix: 'Prefer `alias`; otherwise `owner: "602401143452"` (EKS images in commercial regions) with an exact name pattern, or ids.',
  needs: [kinds('EC2NodeClass')],
  signs: [
    {
      words: ['ami-'],
      pattern:
        /"?id"?: ?"?(?<id>ami-[0-9a-f]{8,17})"?,? ?"?name"?: ?"?(?!amazon-eks-|bottlerocket-|Windows_Server-|ubuntu-eks|al2023-ami-)(?<name>[A-Za-z][^",}#]{3,80})/i,
      where: ['asked', 'cli'],
      confidence: 'likely',
    },
  ],
  fromText(sightings) {
    return [
      foundIn(sightings, {
        summary: `The node class resolved to images that are not made for EKS: ${allCaught(sightings, 'name')
          .map((name) => name.trim())
          .join(', ')}.`,
        fix: fixFor(objectInText(sightings, 'EC2NodeClass') ?? 'default'),
      }),
    ];
  },
  check(evidence): Found[] {
    return evidence.objects.of('EC2NodeClass').flatMap((nodeClass): Found[] => {
      const terms = listAt(nodeClass.object, 'spec', 'amiSelectorTerms');
      const isNamed = terms.some(
        (term) => textAt(term, 'id') !== '' || textAt(term, 'owner') !== '' || textAt(term, 'ssmParameter') !== '',
      );
      const isCustom = textAt(nodeClass.object, 'spec', 'amiFamily') === 'Custom';
      const images = listAt(nodeClass.object, 'status', 'amis').map((image) => ({
        id: textAt(image, 'id'),
        name: textAt(image, 'name'),
      }));
      const strange = images.flatMap(({ id, name }) => {
        const owner = ownerOf(id, evidence);
        if (owner !== undefined && owner !== accountOf(evidence) && !publishers.has(owner))
          return [{ id, name, owner, isSure: true }];
        if (isNamed || isCustom || name === '' || eksName.test(name)) return [];
        return [{ id, name, owner, isSure: false }];
      });
      if (strange.length === 0) return [];
      return [
        {
          confidence: strange.some(({ isSure }) => isSure) ? 'certain' : 'likely',
          summary: `EC2NodeClass ${nodeClass.name} resolved to ${strange.map(({ name, id, owner }) => `${name || id}${owner === undefined ? '' : ` of account ${owner}`}`).join(', ')}, which is not an image of EKS.`,
          objects: [refOf(nodeClass)],
          evidence: [
            ...strange.map(({ id, name }) => fieldItem(nodeClass, 'status.amis', `${id} ${name}`)),
            fieldItem(nodeClass, 'spec.amiSelectorTerms', JSON.stringify(terms)),
          ],
          fix: fixFor(nodeClass.name),
          key: nodeClass.name,
        },
      ];
    });
  },
  explains: ['registration/undiagnosed-timeout', 'ami/containerd-config-missing'],
};

function ownerOf(id: string, { aws }: Evidence): string | undefined {
  const owner = aws
    .items('ec2-describe-images')
    .map(({ item }) => item)
    .find((item) => textAt(item, 'ImageId') === id);
  return owner === undefined ? undefined : textAt(owner, 'OwnerId') || undefined;
}

const fixFor = (name: Stored['name']): string[] => [
  `kubectl patch ec2nodeclass ${name} --type=merge -p '{"spec":{"amiSelectorTerms":[{"alias":"al2023@latest"}]}}'  # pin a release in production`,
  `Or keep the name and add the owner: amiSelectorTerms: [{owner: "602401143452", name: "amazon-eks-node-al2023-x86_64-standard-*"}]`,
];
