// A node that has been draining for long: a pod on it cannot be evicted, and no deadline ends the wait.
import { parseGoDuration } from '../../../base/index.ts';
import { ageMs, type Evidence } from '../../evidence.ts';
import type { EvidenceItem, Failure, Found, Sighting } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { caught, conditionItem, fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { annotationsOf, conditionOf, type Stored } from '../../objects.ts';
import { selects } from '../disruption/budgets-of-pods.ts';
import { controllerState, deletedMsAgo, leaving } from './leaving.ts';

/** Graceful drains of ordinary workloads are over by then; with a blocker in sight less is enough. */
const longMs = 60 * 60_000;
const longWithBlockerMs = 20 * 60_000;

export const drainNeverCompletes: Failure = {
  id: 'termination/drain-never-completes',
  severity: 'high',
  symptom: 'A node is tainted and draining for hours: `FailedDraining … pods are waiting to be evicted`.',
  cause:
    'Evictions are tried again for ever behind a PodDisruptionBudget, `karpenter.sh/do-not-disrupt` or an unreachable kubelet; without `terminationGracePeriod` no deadline ends it',
  fix: 'Remove what blocks (relax the PDB, take the annotation off), and set `spec.template.spec.terminationGracePeriod` on the NodePool as a ceiling.',
  needs: [kinds('NodeClaim', 'Pod')],
  signs: [
    {
      words: ['waiting to be evicted', 'faileddraining'],
      pattern: /(?<count>\d+) pods? (?:are|is) waiting to be evicted|FailedDraining/i,
      where: ['asked', 'cli'],
      until: ['nodeDeleted'],
      confidence: 'likely',
    },
    {
      words: ['awaitingvolumedetachment', 'drained'],
      pattern: /\bDrained\b["',: =|]+(?:status["': ]+)?Unknown\b.{0,60}\bDraining\b|AwaitingVolumeDetachment/i,
      where: ['asked', 'cli'],
      until: ['nodeDeleted'],
      confidence: 'possible',
    },
    {
      words: ['faileddraining'],
      pattern: /FailedDraining \S+ \(x\d{2,} over \d+[hd]\b/i,
      where: ['log'],
      until: ['nodeDeleted'],
      confidence: 'likely',
    },
    {
      words: ['waiting to be evicted'],
      pattern: /(?<count>\d+) pods? (?:are|is) waiting to be evicted/i,
      where: ['log'],
      until: ['nodeDeleted'],
      atLeast: 20,
      confidence: 'likely',
    },
  ],
  fromText(sightings) {
    const count = caught(sightings, 'count');
    const found = foundIn(sightings, {
      summary: `A drain does not end: ${count === undefined ? 'pods wait' : `${count} pods wait`} to be evicted.`,
      fix: [
        'kubectl get pdb -A (ALLOWED DISRUPTIONS 0), and pods with karpenter.sh/do-not-disrupt on the node: relax or remove what blocks.',
        'spec.template.spec.terminationGracePeriod: 1h on the NodePool is a ceiling for every later drain.',
      ],
    });
    return [sightings.every(isYoungEvent) ? { ...found, confidence: 'possible' } : found];
  },
  check(evidence): Found[] {
    if (controllerState(evidence) === 'gone' || controllerState(evidence) === 'stopped') return [];
    return claimsFirst(leaving(evidence)).flatMap((one) => {
      const since = deletedMsAgo(evidence, one);
      if (since === undefined || !hasStarted(one) || isWithinDeadline(evidence, one)) return [];
      const blockers = blockersOn(one, evidence);
      if (since < (blockers.length > 0 ? longWithBlockerMs : longMs)) return [];
      const drained = conditionOf(one.object, 'Drained') ?? conditionOf(one.object, 'VolumesDetached');
      return [
        {
          confidence: blockers.length > 0 ? ('certain' as const) : ('likely' as const),
          summary: `${one.kind} ${one.name} has been draining for ${Math.round(since / 60_000)} minutes${
            blockers.length > 0
              ? `: ${blockers
                  .map(({ says }) => says)
                  .slice(0, 3)
                  .join('; ')}`
              : ''
          }.`,
          objects: refsOf([one]),
          evidence: [
            fieldItem(one, 'metadata.deletionTimestamp', textAt(one.object, 'metadata', 'deletionTimestamp')),
            ...(drained === undefined ? [] : [conditionItem(one, drained)]),
            ...blockers.map(({ item }) => item),
          ],
          fix: [
            ...new Set(blockers.map(({ fix }) => fix)),
            `kubectl patch nodepool ${textAt(one.object, 'metadata', 'labels', 'karpenter.sh/nodepool') || '"$POOL"'} --type=merge -p '{"spec":{"template":{"spec":{"terminationGracePeriod":"1h"}}}}' (a ceiling for nodes launched from now on)`,
          ],
          key: one.name,
        },
      ];
    });
  },
  explains: ['disruption/pdb-blocks', 'disruption/do-not-disrupt-blocks'],
};

/** A line of `kubectl describe` or `kubectl get events` that says how long: every drain begins like this. */
function isYoungEvent({ text }: Sighting): boolean {
  const ages = [...text.matchAll(/(?<![\w.:-])((?:\d+[smhd])+)(?![\w.:-])/g)].flatMap(([, age = '']) => agesMs(age));
  return ages.length > 0 && ages.every((age) => age < longWithBlockerMs);
}

function agesMs(age: string): number[] {
  const days = /^(\d+)d/.exec(age)?.[1];
  if (days !== undefined) return [Number(days) * 86_400_000];
  const parsed = parseGoDuration(age);
  return parsed === undefined ? [] : [parsed];
}

/** A claim and its node are one drain. */
function claimsFirst(stored: readonly Stored[]): Stored[] {
  const nodes = new Set(
    stored.filter(({ kind }) => kind !== 'Node').map(({ object }) => textAt(object, 'status', 'nodeName')),
  );
  return stored.filter(({ kind, name }) => kind !== 'Node' || !nodes.has(name));
}

/** A claim that never got a machine has nothing to drain. */
const hasStarted = ({ kind, object }: Stored): boolean =>
  kind === 'Node' || textAt(object, 'status', 'nodeName') !== '';

/** With a deadline the drain ends by itself. */
function isWithinDeadline(evidence: Evidence, one: Stored): boolean {
  const stamped = textAt(annotationsOf(one.object), 'karpenter.sh/nodeclaim-termination-timestamp');
  if (stamped !== '') return (ageMs(evidence, stamped) ?? 1) < 0;
  const allowed = parseGoDuration(textAt(one.object, 'spec', 'terminationGracePeriod'));
  return allowed !== undefined && (deletedMsAgo(evidence, one) ?? 0) < allowed;
}

interface Blocker {
  says: string;
  item: EvidenceItem;
  fix: string;
}

function blockersOn(one: Stored, { objects }: Evidence): Blocker[] {
  const node = one.kind === 'Node' ? one.name : textAt(one.object, 'status', 'nodeName');
  const pods = objects.of('Pod').filter(({ object }) => textAt(object, 'spec', 'nodeName') === node);
  const kept = pods.filter(({ object }) => textAt(annotationsOf(object), 'karpenter.sh/do-not-disrupt') === 'true');
  const budgets = objects
    .of('PodDisruptionBudget')
    .filter(
      (budget) =>
        textAt(budget.object, 'status', 'disruptionsAllowed') === '0' && pods.some((pod) => selects(budget, pod)),
    );
  const ready = conditionOf(objects.find('Node', node)?.object ?? {}, 'Ready');
  return [
    ...budgets.map((budget) => ({
      says: `PDB ${budget.namespace}/${budget.name} allows no eviction`,
      item: fieldItem(budget, 'status.disruptionsAllowed', '0'),
      fix: `kubectl -n ${budget.namespace} patch pdb ${budget.name} --type=merge -p '{"spec":{"minAvailable":null,"maxUnavailable":1}}' (or add a replica)`,
    })),
    ...kept.map((pod) => ({
      says: `pod ${pod.namespace}/${pod.name} has karpenter.sh/do-not-disrupt`,
      item: fieldItem(pod, 'karpenter.sh/do-not-disrupt', 'true'),
      fix: `kubectl -n ${pod.namespace} annotate pod ${pod.name} karpenter.sh/do-not-disrupt- (when its work may be interrupted)`,
    })),
    ...(ready !== undefined && ready.status === 'Unknown'
      ? [
          {
            says: `the kubelet of ${node} does not answer`,
            item: {
              source: objects.find('Node', node)?.source ?? '',
              text: `Node ${node}: Ready=Unknown ${ready.reason}`,
            },
            fix: `kubectl taint node ${node} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute (only when the machine is really down)`,
          },
        ]
      : []),
  ];
}
