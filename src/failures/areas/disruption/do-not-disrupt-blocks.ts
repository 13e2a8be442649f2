// One annotated pod keeps its node from every voluntary disruption, however old and empty the node is.
import { parseGoDuration } from '../../../base/index.ts';
import type { Evidence } from '../../evidence.ts';
import type { Failure, Found, Sighting } from '../../failure.ts';
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
      words: ['do-not-disrupt', 'do-not-evict', 'do not evict annotation'],
      pattern:
        /pod "?(?<pod>[\w-]+\/[\w.-]+)"? has "?karpenter\.sh\/do-not-(?:disrupt|evict)"? annotation|pod "?(?<pod2>[\w-]+\/[\w.-]+)"? has do not evict annotation|(?:pod|node) has "?karpenter\.sh\/do-not-(?:disrupt|evict)"? annotation(?: \(Pod=(?<pod3>[\w-]+\/[\w.-]+)\))?|disruption is blocked (?:through|with) the "?karpenter\.sh\/do-not-disrupt"? annotation/i,
      evenWhenWell: true,
      confidence: 'likely',
    },
  ],
  fromText(sightings, evidence) {
    const pod = caught(sightings, 'pod') ?? caught(sightings, 'pod2') ?? caught(sightings, 'pod3');
    const [namespace = '"$NAMESPACE"', name = '"$POD"'] = (pod ?? '').split('/').filter((part) => part !== '');
    const found = foundIn(sightings, {
      summary: `${pod === undefined ? 'A pod' : `Pod ${pod}`} has ${annotation}: its node is not disrupted while it runs.`,
      fix: fixFor(namespace, name),
      ...(pod === undefined ? {} : { key: pod }),
    });
    // Every candidate gets such an event; only a node that is kept for long is a question.
    return [sightings.every((one) => isYoung(one, evidence)) ? { ...found, confidence: 'possible' } : found];
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
      const isExpired =
        expiryMs(node, evidence) !== undefined && olderThan(evidence, node, expiryMs(node, evidence) ?? 0);
      const [keeper] = keepers;
      const why =
        drifted !== undefined
          ? 'it has drifted'
          : isExpired
            ? 'it is older than its expireAfter'
            : share === undefined
              ? 'it is more than a day old'
              : `pods ask for ${Math.round(share * 100)} % of its cpu`;
      return [
        {
          // A busy node is kept anyway.
          confidence: drifted !== undefined || isExpired || isSparse ? 'likely' : 'possible',
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

/** An event about a node or claim that is not even a day old. */
function isYoung({ about, kind }: Sighting, evidence: Evidence): boolean {
  if (kind !== 'object' || about === undefined) return false;
  const stored = evidence.objects.find(about.kind, about.name, about.namespace ?? '');
  return stored !== undefined && !olderThan(evidence, stored, longMs);
}

function expiryMs(node: Stored, { objects }: Evidence): number | undefined {
  const claim = objects.of('NodeClaim').find(({ object }) => textAt(object, 'status', 'nodeName') === node.name);
  return parseGoDuration(textAt(claim?.object, 'spec', 'expireAfter'));
}

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
