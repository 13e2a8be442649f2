// A Node object without a living kubelet behind it.
import { isOldNode } from '../../claims.ts';
import type { Failure, Found } from '../../failure.ts';
import { conditionItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conditionOf } from '../../objects.ts';

export const kubeletNeverPostedStatus: Failure = {
  id: 'registration/kubelet-never-posted-status',
  severity: 'high',
  symptom:
    'A Node exists with Ready=Unknown, reason NodeStatusNeverUpdated, `Kubelet never posted node status.`; there is no Lease for it.',
  cause:
    'The kubelet registered and died at once, or (in the days of Provisioners) the controller created the Node and no kubelet ever came',
  fix: "Find the failure in the instance's console output or bootstrap log, then delete the node.",
  needs: [kinds('Node')],
  signs: [
    {
      words: ['never posted node status', 'nodestatusneverupdated', 'failed to get lease: leases.coordination'],
      pattern:
        /NodeStatusNeverUpdated|Kubelet never posted node status|Failed to get lease: leases\.coordination\.k8s\.io "(?<node>[^"]+)" not found/i,
      where: ['cli', 'asked', 'log'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: 'A Node has no living kubelet behind it: it never posted a status.',
      fix: fixFor(sightings.map(({ groups }) => groups['node']).find((one) => one !== undefined) ?? '"$NODE"'),
    }),
  ],
  check(evidence): Found[] {
    const nodes = evidence.objects.of('Node').filter((node) => {
      const ready = conditionOf(node.object, 'Ready');
      return ready?.reason === 'NodeStatusNeverUpdated' && isOldNode(evidence, node, 3 * 60_000);
    });
    if (nodes.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `${nodes.map(({ name }) => name).join(', ')}: the kubelet never posted a status; the instance failed while it started.`,
        objects: refsOf(nodes),
        evidence: nodes.flatMap((node) => {
          const ready = conditionOf(node.object, 'Ready');
          return ready === undefined ? [] : [conditionItem(node, ready)];
        }),
        fix: fixFor(nodes[0]?.name ?? '"$NODE"'),
      },
    ];
  },
  explains: [
    'init/core-daemonsets-absent',
    'init/cni-not-initialised',
    'init/daemonset-selects-legacy-label',
    'registration/undiagnosed-timeout',
  ],
};

const fixFor = (node: string): string[] => [
  `aws ec2 get-console-output --latest --output text --instance-id $(kubectl get node ${node} -o jsonpath='{.spec.providerID}' | cut -d/ -f5) | kerf doctor -f -  # names what failed at boot`,
  `kubectl delete node ${node}  # after the cause is fixed; a new one is launched`,
];
