// The list of pod densities in the image is older than the instance type.
import type { Failure } from '../../failure.ts';
import { allCaught, foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';

export const eniMaxPodsEntryMissing: Failure = {
  id: 'ami/eni-max-pods-entry-missing',
  severity: 'high',
  symptom: 'The kubelet never runs; the user-data log says `No entry for c6i.xlarge in /etc/eks/eni-max-pods.txt`.',
  cause: 'The image, or the data of the network plugin in it, is older than the instance type',
  fix: 'A newer image, an update of the VPC CNI, or `spec.kubelet.maxPods`.',
  needs: [texts('node')],
  signs: [
    {
      words: ['eni-max-pods'],
      pattern:
        /No entry for (?:type )?['"]?(?<type>[a-z0-9-]+\.[a-z0-9-]+)['"]? (?:was |is )?(?:found )?in \/etc\/eks\/eni-max-pods\.txt|(?:unknown|unsupported|not found|missing).{0,60}(?<type2>[a-z][a-z0-9-]+\.[a-z0-9]+).{0,60}eni-max-pods/i,
    },
  ],
  fromText(sightings) {
    const types = [...allCaught(sightings, 'type'), ...allCaught(sightings, 'type2')];
    return [
      foundIn(sightings, {
        summary: `The image does not know the instance type ${types.join(', ')}: its list of pod densities is older than the type.`,
        fix: [
          'spec.amiSelectorTerms of the EC2NodeClass: a newer release, for instance [{alias: al2023@latest}]',
          ...types.map(
            (type) =>
              `Until then: spec.kubelet.maxPods, or leave ${type} out of the NodePool: {key: node.kubernetes.io/instance-type, operator: NotIn, values: [${type}]}`,
          ),
        ],
      }),
    ];
  },
  explains: ['registration/undiagnosed-timeout', 'registration/kubelet-never-posted-status'],
};
