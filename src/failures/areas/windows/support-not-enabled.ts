// Windows pods get their addresses from the control plane, which does that only when it is asked to.
import type { Evidence } from '../../evidence.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { windowsClasses, windowsNodes } from './windows-classes.ts';

const fixFor = ({ aws }: Evidence): string[] => [
  `kubectl -n kube-system patch cm amazon-vpc-cni --type=merge -p '{"data":{"enable-windows-ipam":"true"}}'`,
  `aws iam attach-role-policy --role-name ${textAt(aws.bodies('eks-describe-cluster')[0]?.item, 'roleArn').split('/').at(-1) || '"$CLUSTER_ROLE"'} --policy-arn arn:aws:iam::aws:policy/AmazonEKSVPCResourceController  # the cluster's role, not the nodes'`,
];

export const supportNotEnabled: Failure = {
  id: 'windows/support-not-enabled',
  severity: 'high',
  symptom:
    '`plugin type="vpc-bridge" name="vpc" failed (add): failed to parse Kubernetes args: pod does not have label vpc.amazonaws.com/PrivateIPv4Address`.',
  cause: 'Windows address management is off in the control plane',
  fix: 'Set `enable-windows-ipam: "true"` in ConfigMap `kube-system/amazon-vpc-cni` and attach AmazonEKSVPCResourceController to the role of the cluster.',
  needs: [kinds('ConfigMap', 'EC2NodeClass')],
  signs: [
    {
      words: ['privateipv4address', 'vpc-bridge'],
      pattern: /pod (?:\S+ )?does not have label vpc\.amazonaws\.com\/PrivateIPv4Address/i,
    },
    {
      words: ['vpc.amazonaws.com/privateipv4address'],
      pattern: /Insufficient vpc\.amazonaws\.com\/PrivateIPv4Address/i,
      confidence: 'likely',
    },
  ],
  fromText: (sightings, evidence) => [
    foundIn(sightings, {
      summary: 'Windows pods get no address: Windows support of the cluster is not enabled.',
      fix: fixFor(evidence),
    }),
  ],
  check(evidence): Found[] {
    const users = [...windowsClasses(evidence), ...windowsNodes(evidence)];
    const { objects } = evidence;
    if (users.length === 0 || !objects.isCollected('ConfigMap')) return [];
    const config = objects.find('ConfigMap', 'amazon-vpc-cni', 'kube-system');
    // Only some ConfigMaps were collected: its absence proves nothing.
    if (config === undefined && !objects.of('ConfigMap').some(({ namespace }) => namespace === 'kube-system'))
      return [];
    if (textAt(config?.object, 'data', 'enable-windows-ipam') === 'true') return [];
    const [first] = users;
    return [
      {
        confidence: config === undefined ? 'likely' : 'certain',
        summary: `${first?.kind} ${first?.name} runs Windows, and enable-windows-ipam is not "true" in ConfigMap kube-system/amazon-vpc-cni: its pods get no address.`,
        objects: refsOf(users.slice(0, 3)),
        evidence: [
          config === undefined
            ? { source: first?.source ?? '', text: 'ConfigMap kube-system/amazon-vpc-cni is absent' }
            : fieldItem(
                config,
                'data.enable-windows-ipam',
                textAt(config.object, 'data', 'enable-windows-ipam') || 'not set',
              ),
        ],
        fix: fixFor(evidence),
      },
    ];
  },
  explains: ['init/cni-not-initialised'],
};
