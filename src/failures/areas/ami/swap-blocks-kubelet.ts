// Some old instance types come with a swap volume, and the kubelet refuses to run with swap.
import type { Failure } from '../../failure.ts';
import { foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';

export const swapBlocksKubelet: Failure = {
  id: 'ami/swap-blocks-kubelet',
  severity: 'medium',
  symptom: 'c1.medium and m1.small never register: `running with swap on is not supported, please disable swap!`.',
  cause: 'The instance type comes with a swap volume',
  fix: 'Exclude such types (`karpenter.k8s.aws/instance-generation Gt 2`), or `swapoff -a` in the user data.',
  needs: [texts('node')],
  signs: [
    {
      words: ['swap'],
      pattern:
        /running with swap on is not supported|Running with swap on is not supported|swap is (?:enabled|on).{0,60}kubelet.{0,60}(?:fail|refus|not support)/i,
      until: ['registered'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: 'The kubelet does not run because the instance has swap, as some old types do.',
      fix: [
        'NodePool requirement: {key: karpenter.k8s.aws/instance-generation, operator: Gt, values: ["2"]}',
        'Or in spec.userData of the EC2NodeClass: swapoff -a',
      ],
    }),
  ],
  explains: [
    'registration/undiagnosed-timeout',
    'registration/kubelet-never-posted-status',
    'init/cni-not-initialised',
  ],
};
