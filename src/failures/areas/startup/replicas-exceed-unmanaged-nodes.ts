// Two replicas that may not share a node, and fewer nodes for them: the controller never launches capacity for itself.
import { podSpecOf } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { conditionItem, fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conditionOf, refOf } from '../../objects.ts';
import { needsOneNodeEach, ownReplicas } from './own-replicas.ts';

export const replicasExceedUnmanagedNodes: Failure = {
  id: 'startup/replicas-exceed-unmanaged-nodes',
  severity: 'medium',
  symptom: 'One replica of the controller runs, one is Pending for ever; the Deployment shows 1/2.',
  cause:
    'The controller runs two replicas on different nodes by default and never launches capacity for itself, and there are fewer nodes outside the autoscaler',
  fix: '`--set replicas=1`, or at least two nodes that the autoscaler does not manage, in two zones.',
  needs: [kinds('Deployment', 'Pod', 'Node')],
  signs: [
    {
      words: [
        'could not schedule pod',
        'karpenter.sh/nodepool doesnotexist',
        'karpenter.sh/provisioner-name doesnotexist',
        'failedscheduling',
      ],
      pattern:
        /karpenter\.sh\/(?:nodepool|provisioner-name)["']? DoesNotExist.{0,200}(?:not in|incompatible)|(?:pod|Pod)["':{ ]{0,12}.{0,60}(?:karpenter|kerf)-[a-z0-9]{6,10}-[a-z0-9]{5}.{0,200}(?:incompatible|did not tolerate|DoesNotExist)[^.]{0,120}karpenter\.sh\/(?:nodepool|provisioner-name)/i,
      confidence: 'likely',
    },
    {
      words: ['karpenter-', 'kerf-'],
      pattern:
        /\b(?:karpenter|kerf)-[a-z0-9]{6,10}-[a-z0-9]{5}\s+0\/\d\s+Pending\b.{0,200}\b(?:karpenter|kerf)-[a-z0-9]{6,10}-[a-z0-9]{5}\s+\d\/\d\s+Running|\b(?:karpenter|kerf)-[a-z0-9]{6,10}-[a-z0-9]{5}\s+\d\/\d\s+Running\b.{0,200}\b(?:karpenter|kerf)-[a-z0-9]{6,10}-[a-z0-9]{5}\s+0\/\d\s+Pending/i,
      where: ['cli', 'asked'],
      confidence: 'likely',
    },
    // The Deployment as kubectl lists it, and why its second pod waits.
    {
      words: ["didn't match pod anti-affinity rules", 'nodes are available'],
      pattern:
        /\b(?:karpenter|kerf) 1\/2 2 1 \d+[smhdy].{0,300}nodes are available: .{0,200}(?:anti-affinity|node affinity|topology spread|Insufficient)/i,
      where: ['asked', 'cli'],
      confidence: 'likely',
    },
    {
      words: ["didn't match pod anti-affinity rules"],
      pattern: /(?:karpenter|kerf)-[a-z0-9]{6,10}-[a-z0-9]{5}.{0,300}didn't match pod anti-affinity rules/i,
    },
    {
      words: ["didn't match pod anti-affinity rules", 'nodes are available'],
      pattern:
        /\d+ node\(s\) didn't match (?:pod anti-affinity rules|pod topology spread constraints|Pod's node affinity)|0\/\d+ nodes are available: .{0,200}Insufficient (?:cpu|memory|pods)/i,
      beside: 'controllerDescribed',
      where: ['asked', 'cli'],
      confidence: 'likely',
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary:
        'A replica of the controller waits for a node that is not managed by the autoscaler: it never launches capacity for itself.',
      fix: fixFor('kube-system'),
    }),
  ],
  check(evidence): Found[] {
    const own = ownReplicas(evidence);
    if (own === undefined || own.waiting.length === 0 || own.running.length === 0) return [];
    const { deployment, waiting, running, systemNodes, matching } = own;
    if (systemNodes === undefined || matching.length > running.length) return [];
    const isOnePerNode = needsOneNodeEach(podSpecOf(deployment));
    return [
      {
        confidence: isOnePerNode ? 'certain' : 'likely',
        summary: `${waiting.length} of ${waiting.length + running.length} replicas of the controller wait: ${matching.length === 1 ? 'one node' : `${matching.length} nodes`} outside the autoscaler can take them${isOnePerNode ? ', one replica each' : ''}.`,
        objects: [refOf(deployment), ...refsOf(waiting)],
        evidence: [
          fieldItem(deployment, 'spec.replicas', textAt(deployment.object, 'spec', 'replicas')),
          ...waiting.flatMap((pod) => {
            const scheduled = conditionOf(pod.object, 'PodScheduled');
            return scheduled === undefined ? [] : [conditionItem(pod, scheduled)];
          }),
          ...systemNodes
            .slice(0, 3)
            .map((node) => ({ source: node.source, text: `Node ${node.name} is outside the autoscaler` })),
        ],
        fix: fixFor(deployment.namespace),
      },
    ];
  },
  explains: [
    'startup/controller-pod-selector-unsatisfied',
    'scheduling/label-without-known-values',
    'scheduling/no-usable-nodepool',
  ],
};

const fixFor = (namespace: string): string[] => [
  `helm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter --namespace ${namespace} --reuse-values --set replicas=1`,
  'Or, for two replicas, raise the minimum and desired size of the system node group to 2, in two zones. Adding the label to a NodePool does not help: the controller does not launch nodes for itself.',
];
