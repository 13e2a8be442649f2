// A controller on a node that it manages removes the ground under its own feet.
import { controllerPods } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { labelsOf, type Stored } from '../../objects.ts';
import { poolLabel } from '../../relations.ts';

export const controllerOnManagedNode: Failure = {
  id: 'startup/controller-on-managed-node',
  severity: 'high',
  symptom: 'The controller disappears during consolidation, drift or interruption, and nothing can bring a node back.',
  cause: 'The controller was allowed onto capacity that it manages: the affinity of the chart was overridden',
  fix: 'Run it on a managed node group, on Fargate or on nodes of another autoscaler; put the affinity `karpenter.sh/nodepool DoesNotExist` back.',
  needs: [kinds('Pod', 'Node')],
  signs: [
    {
      words: ['karpenter-', 'kerf-'],
      pattern:
        /(?:evicting pod|evicted pod|Deleting pod|draining).{0,80}\b(?:karpenter|kerf)-[a-z0-9]{6,10}-[a-z0-9]{5}\b.{0,200}karpenter\.sh\/(?:disrupt|nodepool)/i,
      confidence: 'likely',
    },
    // Tables of kubectl: the node of the controller's pod, and the labels of that node.
    {
      words: ['karpenter.sh/nodepool='],
      pattern:
        /\b(?:karpenter|kerf)-[a-z0-9]{6,10}-[a-z0-9]{5} \d\/\d Running .{0,80}?(?<node>ip-[\d-]+(?:\.[\w-]+)+|i-[0-9a-f]{8,17})\b.{0,300}\k<node> .{0,300}karpenter\.sh\/nodepool=/i,
      where: ['asked', 'cli'],
      confidence: 'likely',
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: 'The controller runs on a node that it manages.',
      fix: fixFor('kube-system'),
    }),
  ],
  check(evidence): Found[] {
    const { objects } = evidence;
    const placed = controllerPods(evidence).flatMap((pod): { pod: Stored; node: Stored }[] => {
      const node = objects.find('Node', textAt(pod.object, 'spec', 'nodeName'));
      return node !== undefined && textAt(labelsOf(node.object), poolLabel) !== '' ? [{ pod, node }] : [];
    });
    if (placed.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `The controller runs on ${placed.map(({ node }) => node.name).join(', ')}, which it manages itself.`,
        objects: refsOf(placed.map(({ pod }) => pod)),
        evidence: placed.flatMap(({ pod, node }) => [
          fieldItem(pod, 'spec.nodeName', node.name),
          fieldItem(node, poolLabel, textAt(labelsOf(node.object), poolLabel)),
        ]),
        fix: fixFor(placed[0]?.pod.namespace ?? 'kube-system'),
      },
    ];
  },
};

const fixFor = (namespace: string): string[] => [
  `kubectl -n ${namespace} patch deployment karpenter --type=merge -p '{"spec":{"template":{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"karpenter.sh/nodepool","operator":"DoesNotExist"}]}]}}}}}}}'`,
  'It needs a node for it: a managed node group (tainted CriticalAddonsOnly=true:NoSchedule) or a Fargate profile. Write the same affinity into the chart values, or the next upgrade takes it away.',
];
