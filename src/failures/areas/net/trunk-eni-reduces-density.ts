// With security groups for pods one interface becomes the trunk, and its addresses are gone.
import { controllerDeployments, settingOf } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { fieldItem, foundIn } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { refOf } from '../../objects.ts';
import { cniSettings, noAddress } from './cni-settings.ts';

export const trunkEniReducesDensity: Failure = {
  id: 'net/trunk-eni-reduces-density',
  severity: 'medium',
  symptom: 'The same sandbox error (`failed to assign an IP address to container`) with security groups for pods on.',
  cause:
    'One interface becomes the trunk, which pods without a SecurityGroupPolicy cannot use, yet the number of pods is computed with all interfaces',
  fix: '`settings.reservedENIs=1` (`RESERVED_ENIS`).',
  needs: [kinds('DaemonSet', 'Deployment')],
  signs: [
    {
      words: ['failed to assign an ip address'],
      pattern:
        /ENABLE_POD_ENI["']?[:= ]+(?:value: ?)?["']?true.{0,400}failed to assign an IP address to container|failed to assign an IP address to container.{0,400}ENABLE_POD_ENI["']?[:= ]+(?:value: ?)?["']?true/i,
      confidence: 'likely',
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary:
        'Security groups for pods take one interface of each node, which the computed number of pods does not know.',
      fix: fixFor('kube-system'),
    }),
  ],
  check(evidence): Found[] {
    const settings = cniSettings(evidence);
    const deployment = controllerDeployments(evidence)[0];
    if (settings === undefined || deployment === undefined || !settings.hasPodEni) return [];
    if (Number(settingOf(deployment, 'RESERVED_ENIS') ?? 0) > 0 || settings.hasPrefixes) return [];
    const hasTrouble = (evidence.sightings.get('net/max-pods-above-ip-capacity') ?? []).some(({ around }) =>
      noAddress.test(around),
    );
    return [
      {
        confidence: hasTrouble ? 'certain' : 'possible',
        summary:
          'The network plugin keeps one interface as trunk (ENABLE_POD_ENI), and the controller reserves none: nodes get more pods than addresses.',
        objects: [refOf(deployment)],
        evidence: [
          fieldItem(settings.daemon, 'ENABLE_POD_ENI', 'true'),
          fieldItem(deployment, 'RESERVED_ENIS', settingOf(deployment, 'RESERVED_ENIS') ?? 'not set'),
        ],
        fix: fixFor(deployment.namespace),
      },
    ];
  },
  explains: ['net/max-pods-above-ip-capacity'],
};

const fixFor = (namespace: string): string[] => [
  `helm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter --namespace ${namespace} --reuse-values --set settings.reservedENIs=1`,
];
