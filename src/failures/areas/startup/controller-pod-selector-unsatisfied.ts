// The controller's own pod simulated like any other: an error line that is not the real problem.
import { clusterName } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { caught, fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { refOf } from '../../objects.ts';
import { ownReplicas } from './own-replicas.ts';

export const controllerPodSelectorUnsatisfied: Failure = {
  id: 'startup/controller-pod-selector-unsatisfied',
  severity: 'medium',
  symptom:
    'The log repeats `could not schedule pod … label "role" does not have known values` for the controller\'s own pod.',
  cause:
    'A waiting replica of the controller selects a label that only nodes outside the autoscaler have; the line is about too few system nodes, not about the label',
  fix: 'Give the replica a system node with the label, or run fewer replicas. Do not add the label to a NodePool.',
  needs: [kinds('Deployment', 'Pod', 'Node')],
  signs: [
    {
      words: ['does not have known values'],
      pattern:
        /(?:name["']?: ?["']?|pod["']?: ?["']?(?:[\w-]+\/)?|\bPod\b.{0,40})(?:karpenter|kerf)-[a-z0-9]{6,10}-[a-z0-9]{5}\b.{0,300}label "(?<label>[^"]+)" does not have known values|label "(?<label2>[^"]+)" does not have known values.{0,300}["'/ ](?:karpenter|kerf)-[a-z0-9]{6,10}-[a-z0-9]{5}\b/i,
    },
  ],
  fromText(sightings, evidence) {
    const label = caught(sightings, 'label') ?? caught(sightings, 'label2') ?? '';
    return [
      foundIn(sightings, {
        summary: `A replica of the controller selects the label ${label}, which only nodes outside the autoscaler have, and none of them has room for it.`,
        fix: [
          `Add a system node with the label ${label} (in EKS: raise the desired size of the node group of ${clusterName(evidence)}), or: kubectl -n kube-system scale deployment karpenter --replicas=1`,
          `Do not add ${label} to a NodePool: the controller does not launch nodes for itself.`,
        ],
      }),
    ];
  },
  check(evidence): Found[] {
    const own = ownReplicas(evidence);
    if (own === undefined || own.waiting.length === 0 || own.systemNodes === undefined) return [];
    const keys = Object.entries(own.selector);
    if (keys.length === 0 || own.matching.length > 0) return [];
    const wanted = keys.map(([key, value]) => `${key}=${value}`).join(', ');
    return [
      {
        confidence: 'certain',
        summary: `No node outside the autoscaler has ${wanted}, which the controller's pods select.`,
        objects: [refOf(own.deployment), ...refsOf(own.waiting)],
        evidence: [fieldItem(own.deployment, 'spec.template.spec.nodeSelector', wanted)],
        fix: [
          `kubectl label node ${own.systemNodes[0]?.name ?? '"$SYSTEM_NODE"'} ${keys.map(([key, value]) => `${key}=${value}`).join(' ')}`,
          'Or remove the nodeSelector from the chart values. Do not add the label to a NodePool.',
        ],
      },
    ];
  },
  explains: ['startup/replicas-exceed-unmanaged-nodes', 'scheduling/label-without-known-values'],
};
