// Sparse nodes stay by the settings of their pool: only empty nodes may go, the quiet time never ends, or spot may not
// replace spot.
import type { Evidence } from '../../evidence.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { labelsOf, refOf, type Stored } from '../../objects.ts';
import { poolLabel } from '../../relations.ts';
import { cpuShare, isDaemon, olderThan, ownNodes, podsByNode } from './usage.ts';

/** One sparse node is chance; several that stay for a day are a setting. */
const fewest = 3;
const longMs = 24 * 3_600_000;
const sparse = 0.35;

export const notConsolidatingUnexplained: Failure = {
  id: 'disruption/not-consolidating-unexplained',
  severity: 'medium',
  symptom: 'Nodes are not consolidated, and no event says why.',
  cause:
    'A setting keeps them: policy WhenEmpty, `consolidateAfter: Never`, or spot nodes that may not be replaced by spot',
  fix: '`kerf explain node <name>` lists every reason in the order in which it would have to change; then change that setting.',
  needs: [kinds('NodePool', 'Node', 'Pod')],
  signs: [
    {
      words: ['spottospotconsolidation'],
      pattern:
        /SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node|SpotToSpotConsolidation requires \d+ cheaper instance type options/i,
      evenWhenWell: true,
      confidence: 'possible',
      where: ['object', 'log'],
    },
    {
      words: ['spottospotconsolidation'],
      pattern:
        /SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node|SpotToSpotConsolidation requires \d+ cheaper instance type options/i,
      confidence: 'likely',
      where: ['asked', 'cli'],
    },
    {
      words: ["can't replace with a cheaper node", "can't remove without creating"],
      pattern:
        /can't replace with a (?:cheaper|lower-priced) node|can't remove without creating \d+ (?:candidates|nodes)/i,
      confidence: 'possible',
      where: ['asked', 'cli'],
    },
    {
      words: ['consolidation disabled'],
      pattern: /NodePool "?[\w.-]+"? has (?:non-empty )?consolidation disabled/i,
      evenWhenWell: true,
      confidence: 'possible',
    },
    {
      words: ['abandoning consolidation', 'consolidation timed out', 'abandoning single-node', 'abandoning multi-node'],
      pattern: /abandoning (?:single|multi)-node consolidation due to timeout|consolidation timed out/i,
      atLeast: 5,
      confidence: 'likely',
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary:
        'Nodes stay as they are by a setting: spot nodes are not replaced by cheaper spot nodes, or the search ends before it finds something.',
      fix: [
        'Feature gate SpotToSpotConsolidation=true (--set settings.featureGates.spotToSpotConsolidation=true); it needs 15 cheaper types to choose from.',
        'kerf explain node "$NODE" lists every reason and what would have to change first.',
      ],
    }),
  ],
  check(evidence): Found[] {
    const pods = podsByNode(evidence);
    return evidence.objects.of('NodePool').flatMap((pool): Found[] => {
      const why = keepsSparseNodes(pool);
      if (why === undefined) return [];
      const nodes = sparseNodes(pool, evidence, pods);
      if (nodes.length < fewest) return [];
      return [
        {
          confidence: 'likely',
          summary: `${nodes.length} sparse nodes of NodePool ${pool.name} stay: ${why.field} is ${why.value}.`,
          objects: [refOf(pool), ...refsOf(nodes.slice(0, 2))],
          evidence: [
            fieldItem(pool, why.field, why.value),
            ...nodes.slice(0, 3).map((node) => fieldItem(node, 'cpu asked for', percent(node, pods))),
          ],
          fix: [`kubectl patch nodepool ${pool.name} --type=merge -p '${why.patch}'`],
          key: pool.name,
        },
      ];
    });
  },
};

function keepsSparseNodes({ object }: Stored): { field: string; value: string; patch: string } | undefined {
  const after = textAt(object, 'spec', 'disruption', 'consolidateAfter');
  if (after === 'Never')
    return {
      field: 'spec.disruption.consolidateAfter',
      value: after,
      patch: '{"spec":{"disruption":{"consolidateAfter":"5m"}}}',
    };
  const policy = textAt(object, 'spec', 'disruption', 'consolidationPolicy');
  if (policy === 'WhenEmpty')
    return {
      field: 'spec.disruption.consolidationPolicy',
      value: policy,
      patch: '{"spec":{"disruption":{"consolidationPolicy":"WhenEmptyOrUnderutilized"}}}',
    };
  return undefined;
}

function sparseNodes(pool: Stored, evidence: Evidence, pods: ReadonlyMap<string, Stored[]>): Stored[] {
  return ownNodes(evidence).filter((node) => {
    if (textAt(labelsOf(node.object), poolLabel) !== pool.name || !olderThan(evidence, node, longMs)) return false;
    const own = pods.get(node.name) ?? [];
    const share = cpuShare(node, own);
    return share !== undefined && share < sparse && own.some((pod) => !isDaemon(pod));
  });
}

function percent(node: Stored, pods: ReadonlyMap<string, Stored[]>): string {
  return `${Math.round((cpuShare(node, pods.get(node.name) ?? []) ?? 0) * 100)} %`;
}
