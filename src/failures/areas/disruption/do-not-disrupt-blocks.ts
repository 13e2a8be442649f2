// One annotated pod keeps its node from every voluntary disruption, however old and empty the node is.
import type { Evidence } from '../../evidence.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { caught, fieldItem, foundIn } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { annotationsOf, conditionOf, refOf, type Stored } from '../../objects.ts';
import { cpuShare, olderThan, ownNodes, podsByNode } from './usage.ts';

const annotation = 'karpenter.sh/do-not-disrupt';
/** Jobs that may not be disturbed run for hours; a node kept for longer deserves a question. */
const longMs = 24 * 3_600_000;
const emptyShare = 0.5;

export const doNotDisruptBlocks: Failure = {
  id: 'disruption/do-not-disrupt-blocks',
  severity: 'medium',
  symptom: 'A node with one annotated pod lives for ever.',
  cause: `The annotation \`${annotation}\` keeps its node from consolidation, drift and a graceful drain`,
  fix: `Remove the annotation, or give it a duration (\`${annotation}: "30m"\` from 1.14 on); set \`terminationGracePeriod\` on the NodePool.`,
  needs: [kinds('Pod', 'Node')],
  signs: [
    {
      words: ['do-not-disrupt', 'do-not-evict'],
      pattern:
        /pod "?(?<pod>[\w-]+\/[\w.-]+)"? has "?karpenter\.sh\/do-not-(?:disrupt|evict)"? annotation|(?:pod|node) has "?karpenter\.sh\/do-not-(?:disrupt|evict)"? annotation|disruption is blocked (?:through|with) the "?karpenter\.sh\/do-not-disrupt"? annotation/i,
      evenWhenWell: true,
      confidence: 'likely',
    },
  ],
  fromText(sightings) {
    const pod = caught(sightings, 'pod');
    const [namespace = '"$NAMESPACE"', name = '"$POD"'] = (pod ?? '').split('/').filter((part) => part !== '');
    return [
      foundIn(sightings, {
        summary: `${pod === undefined ? 'A pod' : `Pod ${pod}`} has ${annotation}: its node is not disrupted while it runs.`,
        fix: fixFor(namespace, name),
        ...(pod === undefined ? {} : { key: pod }),
      }),
    ];
  },
  check(evidence): Found[] {
    const pods = podsByNode(evidence);
    return ownNodes(evidence).flatMap((node): Found[] => {
      const own = pods.get(node.name) ?? [];
      const keepers = own.filter(({ object }) => textAt(annotationsOf(object), annotation) === 'true');
      const isOnNode = textAt(annotationsOf(node.object), annotation) === 'true';
      if ((keepers.length === 0 && !isOnNode) || !olderThan(evidence, node, longMs)) return [];
      const drifted = driftOf(node, evidence);
      const share = cpuShare(node, own);
      const isSparse = share !== undefined && share < emptyShare;
      if (drifted === undefined && !isSparse) return [];
      const [keeper] = keepers;
      const why =
        drifted === undefined ? `pods ask for ${Math.round((share ?? 0) * 100)} % of its cpu` : 'it has drifted';
      return [
        {
          confidence: 'likely',
          summary: `Node ${node.name} stays although ${why}: ${keeper === undefined ? 'it' : `pod ${keeper.namespace}/${keeper.name}`} has ${annotation}.`,
          objects: [refOf(node), ...keepers.slice(0, 2).map(refOf)],
          evidence: [
            fieldItem(keeper ?? node, annotation, 'true'),
            fieldItem(node, 'metadata.creationTimestamp', textAt(node.object, 'metadata', 'creationTimestamp')),
          ],
          fix:
            keeper === undefined
              ? [`kubectl annotate node ${node.name} ${annotation}-`]
              : fixFor(keeper.namespace, keeper.name),
          key: keeper === undefined ? node.name : `${keeper.namespace}/${keeper.name}`,
        },
      ];
    });
  },
};

function driftOf(node: Stored, { objects }: Evidence): Stored | undefined {
  return objects
    .of('NodeClaim')
    .find(
      ({ object }) =>
        textAt(object, 'status', 'nodeName') === node.name && conditionOf(object, 'Drifted')?.status === 'True',
    );
}

function fixFor(namespace: string, name: string): string[] {
  return [
    `kubectl -n ${namespace} annotate pod ${name} ${annotation}- (when its work may be interrupted; change its template too)`,
    `Or give it an end, from 1.14 on: ${annotation}: "4h" in the pod template`,
  ];
}
