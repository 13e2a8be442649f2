// Without its network plugin a node stays NotReady. In the first seconds of every node this is normal.
import { isOldNode } from '../../claims.ts';
import type { Evidence } from '../../evidence.ts';
import { nodeRoles } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { conditionItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { annotationsOf, conditionOf } from '../../objects.ts';

const words = [
  'cni plugin not initialized',
  'no network config found in /etc/cni',
  'cni config uninitialized',
  'networkpluginnotready',
  'no networks found in /etc/cni',
];
const pattern =
  /cni plugin not initialized|no network config found in \/etc\/cni\/net\.d|cni config uninitialized|NetworkPluginNotReady|No networks found in \/etc\/cni\/net\.d/i;

export const cniNotInitialised: Failure = {
  id: 'init/cni-not-initialised',
  severity: 'high',
  symptom:
    'The node is NotReady: `NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized`.',
  cause: 'The pod of the network plugin lacks permissions (AmazonEKS_CNI_Policy) or cannot start',
  fix: 'Attach the policy to the node role, or fix the role of the plugin; read the log of the `aws-node` pod.',
  needs: [kinds('Node')],
  signs: [
    { words, pattern, where: ['asked', 'cli'], until: ['nodeReady'] },
    // The kubelet repeats it every few seconds: only where it goes on is it more than a start.
    {
      words,
      pattern,
      where: ['node', 'log'],
      atLeast: 6,
      orLastsMs: 5 * 60_000,
      confidence: 'likely',
      until: ['nodeReady', 'podStarted'],
    },
  ],
  fromText: (sightings, evidence) => [
    foundIn(sightings, {
      summary: 'The network plugin of the node does not come up, so the node stays NotReady.',
      fix: fixFor(evidence),
    }),
  ],
  check(evidence): Found[] {
    const nodes = evidence.objects.of('Node').filter((node) => {
      const ready = conditionOf(node.object, 'Ready');
      return ready?.status === 'False' && pattern.test(ready.message) && isOldNode(evidence, node, 3 * 60_000);
    });
    if (nodes.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `${nodes
          .map(({ name }) => name)
          .slice(0, 3)
          .join(', ')}: the network plugin does not come up, so the node stays NotReady.`,
        objects: refsOf(nodes),
        evidence: nodes.slice(0, 4).flatMap((node) => {
          const ready = conditionOf(node.object, 'Ready');
          return ready === undefined ? [] : [conditionItem(node, ready)];
        }),
        fix: fixFor(evidence),
      },
    ];
  },
  explains: ['init/never-initialised-never-removed'],
};

function fixFor(evidence: Evidence): string[] {
  const account = evidence.objects.find('ServiceAccount', 'aws-node', 'kube-system');
  const own = account === undefined ? '' : textAt(annotationsOf(account.object), 'eks.amazonaws.com/role-arn');
  const role = own === '' ? (nodeRoles(evidence)[0]?.role ?? '"$NODE_ROLE"') : (own.split('/').at(-1) ?? own);
  return [
    'kubectl -n kube-system logs -l k8s-app=aws-node -c aws-node --tail=50',
    `aws iam attach-role-policy --role-name ${role} --policy-arn arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy  # unless it is attached`,
  ];
}
