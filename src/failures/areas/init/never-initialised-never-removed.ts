// A node that is not initialised is excluded from every voluntary disruption: kept and paid for.
import { uninitialisedClaims } from '../../claims.ts';
import { named } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { conditionItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conditionOf } from '../../objects.ts';

/** Fifteen minutes after registration nothing healthy is left to wait for. */
const deadlineMs = 15 * 60_000;

export const neverInitialisedNeverRemoved: Failure = {
  id: 'init/never-initialised-never-removed',
  severity: 'medium',
  symptom: 'An empty or expired node is not deleted.',
  cause:
    'Nodes without the label karpenter.sh/initialized are excluded from every voluntary disruption, so a half-broken node is kept and paid for',
  fix: 'Fix what keeps it from initialising, or delete the NodeClaim.',
  needs: [kinds('NodeClaim')],
  signs: [
    {
      words: [
        'label karpenter.sh/initialized',
        'inflight check failed',
        'not initialized',
        'not been initialized',
        "isn't initialized",
      ],
      pattern:
        /\b(?:no|without|missing|lacks?)(?: the| its)? label karpenter\.sh\/initialized|inflight check failed for node,? (?!Expected resource)(?<why>[^"{]{0,160})|(?:node|nodeclaim) (?:is |has )?not (?:been )?initialized.{0,60}(?:not considered|cannot disrupt|can't disrupt|blocking)|Cannot disrupt Node(?:Claim)?: (?:state )?node isn't initialized|DisruptionBlocked\b.{0,80}\bnode isn't initialized/i,
      confidence: 'likely',
      where: ['log', 'asked', 'cli', 'object'],
      until: ['nodeReady'],
      atLeast: 1,
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: 'A node is not initialised, so it is never consolidated, drifted or removed as empty.',
      fix: fixFor('"$CLAIM"'),
    }),
  ],
  check(evidence): Found[] {
    const claims = uninitialisedClaims(evidence, deadlineMs);
    if (claims.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `${named(claims)}: registered but never initialised, so ${claims.length === 1 ? 'it is' : 'they are'} never consolidated, drifted or removed.`,
        objects: refsOf(claims),
        evidence: claims.slice(0, 4).flatMap((claim) => {
          const initialized = conditionOf(claim.object, 'Initialized');
          return initialized === undefined
            ? [{ source: claim.source, text: `NodeClaim ${claim.name}: no condition Initialized` }]
            : [conditionItem(claim, initialized)];
        }),
        fix: fixFor(claims[0]?.name ?? '"$CLAIM"'),
      },
    ];
  },
  explains: ['disruption/not-consolidating-unexplained'],
};

const fixFor = (claim: string): string[] => [
  `kubectl get nodeclaim ${claim} -o jsonpath='{.status.conditions[?(@.type=="Initialized")].message}'  # fix what it names`,
  `kubectl delete nodeclaim ${claim}  # its pods are drained first`,
];
