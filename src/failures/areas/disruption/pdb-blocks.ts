// A budget that cannot allow a disruption keeps its nodes for ever: too many pods must stay, or pods of it are not healthy.
import type { Evidence } from '../../evidence.ts';
import type { Failure, Found } from '../../failure.ts';
import { at, listAt, numberAt, textAt } from '../../fields.ts';
import { allCaught, fieldItem, foundIn } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conditionOf, isDeleting, refOf, type Stored } from '../../objects.ts';
import { allowsNothing, neverAllows, selects } from './budgets-of-pods.ts';
import { olderThan } from './usage.ts';

/** New pods are ready by then, or something is wrong with them. */
const rolloutMs = 10 * 60_000;

/** Evictions of such a pod are refused whatever its budgets say. */
const twoBudgets =
  /\bpod\b.{0,60} has (?:more than one PodDisruptionBudget|multiple PDBs)|pod has more than one PodDisruptionBudget/i;

export const pdbBlocks: Failure = {
  id: 'disruption/pdb-blocks',
  severity: 'medium',
  symptom: 'A node is never consolidated or drained: `pdb <namespace>/<name> prevents pod evictions`.',
  cause:
    'A PodDisruptionBudget allows no eviction: minAvailable equals the number of replicas, its pods are not healthy, or two budgets select one pod',
  fix: 'Relax the PDB, add replicas, or set `unhealthyPodEvictionPolicy: AlwaysAllow`; `terminationGracePeriod` on the NodePool is a ceiling.',
  needs: [kinds('PodDisruptionBudget', 'Pod')],
  signs: [
    {
      words: ['prevents pod eviction'],
      pattern:
        /pdb "?(?:(?<pdb>[\w-]+\/[\w.-]+)"? )?prevents pod evictions?(?: \(PodDisruptionBudget=\[?(?<pdb2>[\w-]+\/[\w.-]+))?/i,
      evenWhenWell: true,
      confidence: 'likely',
    },
    {
      words: ["violate the pod's disruption budget", 'needs 1 healthy pods'],
      pattern:
        /Cannot evict pod as it would violate the pod's disruption budget|The disruption budget (?<name>[\w.-]+) needs \d+ healthy pods and has \d+ currently/i,
      evenWhenWell: true,
      confidence: 'likely',
      where: ['asked', 'cli', 'object'],
    },
    {
      words: ['is blocking evictions', 'due to pdb violation'],
      pattern: /PDB "?(?<pdb>[\w-]+\/[\w.-]+)"? is blocking evictions|not (?:to )?evict pod \S+ due to PDB violation/i,
      evenWhenWell: true,
      confidence: 'likely',
      where: ['log', 'asked', 'cli'],
      until: ['nodeDeleted'],
    },
    // The table of kubectl: one that allows nothing by its own setting.
    {
      words: ['allowed disruptions'],
      pattern:
        /MIN AVAILABLE MAX UNAVAILABLE ALLOWED DISRUPTIONS AGE.{0,2000}? (?<name>[a-z0-9][\w.-]*) (?:N\/A 0%?|100% N\/A) 0 \d+[smhdy]/i,
      confidence: 'likely',
      where: ['asked'],
    },
    {
      words: ['more than one poddisruptionbudget', 'multiple pdbs'],
      pattern: twoBudgets,
      evenWhenWell: true,
    },
  ],
  fromText(sightings, evidence) {
    const named = [...allCaught(sightings, 'pdb'), ...allCaught(sightings, 'pdb2')];
    const bare = allCaught(sightings, 'name')[0];
    const { objects } = evidence;
    // A budget that is there and allows evictions again was busy for a moment, as in every rollout.
    const blocking = named.filter((name) => {
      const [namespace = '', budget = ''] = name.split('/');
      const stored = objects.find('PodDisruptionBudget', budget, namespace);
      if (stored === undefined) return !objects.isCollected('PodDisruptionBudget');
      return allowsNothing(stored) && !isRollout(stored, evidence);
    });
    if (named.length > 0 && blocking.length === 0) return [];
    if (
      named.length === 0 &&
      !sightings.some(({ sign }) => sign.pattern === twoBudgets) &&
      objects.isCollected('PodDisruptionBudget') &&
      !objects.of('PodDisruptionBudget').some(allowsNothing)
    )
      return [];
    const [first] = blocking;
    return [
      foundIn(sightings, {
        summary: `${first === undefined && bare === undefined ? 'A PodDisruptionBudget' : `PDB ${first === undefined ? bare : blocking.join(', ')}`} allows no eviction, so its nodes cannot be disrupted.`,
        fix: fixFor(first?.split('/')[0] ?? '"$NAMESPACE"', first?.split('/')[1] ?? bare ?? '"$PDB"'),
        ...(blocking.length === 1 && first !== undefined ? { key: first } : {}),
      }),
    ];
  },
  check(evidence): Found[] {
    const named = namedInEvents(evidence);
    return evidence.objects.of('PodDisruptionBudget').flatMap((budget): Found[] => {
      if (!allowsNothing(budget)) return [];
      const held = heldPods(budget, evidence);
      if (held.length === 0) return [];
      const never = neverAllows(budget);
      const isSeen = named.has(`${budget.namespace}/${budget.name}`);
      // Pods that are not healthy at the moment are the usual picture of a rollout; only an event makes it a finding.
      if (never === undefined && (!isSeen || isRollout(budget, evidence))) return [];
      return [
        {
          confidence: isSeen ? 'certain' : held.some((pod) => isKept(pod, evidence)) ? 'likely' : 'possible',
          summary: `PDB ${budget.namespace}/${budget.name} allows no eviction${never === undefined ? ' while its pods are not healthy' : `: ${never}`}; the nodes of ${held.length === 1 ? 'its pod' : `its ${held.length} pods`} cannot be disrupted.`,
          objects: [refOf(budget), ...held.slice(0, 2).map(refOf)],
          evidence: [
            fieldItem(budget, 'status.disruptionsAllowed', '0'),
            fieldItem(
              budget,
              'spec',
              `minAvailable ${textAt(budget.object, 'spec', 'minAvailable') || '-'}, maxUnavailable ${textAt(budget.object, 'spec', 'maxUnavailable') || '-'}, pods ${numberAt(budget.object, 'status', 'expectedPods') ?? '?'}`,
            ),
          ],
          fix: fixFor(budget.namespace, budget.name),
          key: `${budget.namespace}/${budget.name}`,
        },
      ];
    });
  },
};

/** The pod's node should have gone by now: it has drifted, or is more than a day old. */
function isKept(pod: Stored, evidence: Evidence): boolean {
  const name = textAt(pod.object, 'spec', 'nodeName');
  const node = evidence.objects.find('Node', name);
  const claim = evidence.objects.of('NodeClaim').find(({ object }) => textAt(object, 'status', 'nodeName') === name);
  if (claim !== undefined && conditionOf(claim.object, 'Drifted')?.status === 'True') return true;
  return node !== undefined && olderThan(evidence, node, 24 * 3_600_000);
}

/** Every pod of it that is not healthy has just been created: it will be in a moment, and evictions are allowed again. */
function isRollout(budget: Stored, evidence: Evidence): boolean {
  if (neverAllows(budget) !== undefined) return false;
  const unhealthy = evidence.objects.of('Pod').filter((pod) => selects(budget, pod) && !isHealthy(pod));
  return unhealthy.length > 0 && unhealthy.every((pod) => !olderThan(evidence, pod, rolloutMs));
}

const isHealthy = ({ object }: Stored): boolean =>
  textAt(object, 'status', 'phase') === 'Running' &&
  listAt(object, 'status', 'containerStatuses').every((status) => at(status, 'ready') === true);

/** Budgets that events and logs name as the reason. */
function namedInEvents({ sightings }: Evidence): Set<string> {
  const seen = sightings.get('disruption/pdb-blocks') ?? [];
  return new Set([...allCaught(seen, 'pdb'), ...allCaught(seen, 'pdb2')]);
}

/** Pods of the budget on nodes of the autoscaler that stay; a drain that waits has a finding of its own. */
function heldPods(budget: Stored, { objects }: Evidence): Stored[] {
  return objects.of('Pod').filter((pod) => {
    if (textAt(pod.object, 'spec', 'nodeName') === '' || !selects(budget, pod)) return false;
    const node = objects.find('Node', textAt(pod.object, 'spec', 'nodeName'));
    if (node === undefined) return !objects.isCollected('Node');
    return textAt(node.object, 'metadata', 'labels', 'karpenter.sh/nodepool') !== '' && !isDeleting(node.object);
  });
}

function fixFor(namespace: string, name: string): string[] {
  return [
    `kubectl -n ${namespace} patch pdb ${name} --type=merge -p '{"spec":{"minAvailable":null,"maxUnavailable":1}}' (or one replica more than minAvailable)`,
    `kubectl -n ${namespace} patch pdb ${name} --type=merge -p '{"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}}' (lets pods go that do not get healthy)`,
  ];
}
