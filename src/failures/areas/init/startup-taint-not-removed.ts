// A startup taint is a promise that some agent removes it.
import { uninitialisedClaims } from '../../claims.ts';
import type { Failure, Found } from '../../failure.ts';
import { allCaught, conditionItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conditionOf } from '../../objects.ts';
import { poolNameOf } from '../../relations.ts';

export const startupTaintNotRemoved: Failure = {
  id: 'init/startup-taint-not-removed',
  severity: 'medium',
  symptom: 'The node is Ready but not initialised, and never disrupted: `StartupTaint "…" still exists`.',
  cause: 'No agent removes a taint listed in startupTaints, or the taint was meant as a permanent one',
  fix: 'Run the agent that removes it, or move the taint to `taints`.',
  needs: [kinds('NodeClaim')],
  signs: [
    {
      words: ['startuptaint', 'startup taint'],
      pattern:
        /StartupTaint(?:s)? "(?<taint>[^"]+)" still exists?|reason["']?: ?["']?StartupTaintsExist|Startup taint(?:s)? ["'[]?(?<taint2>[\w./=:-]+)["'\]]? (?:still exist|(?:is |are )?not (?:been )?removed|remain|(?:is |are )?still (?:on|present|there))/i,
      where: ['log', 'cli', 'asked'],
      until: ['nodeReady'],
      confidence: 'likely',
    },
  ],
  fromText(sightings) {
    const taints = [...allCaught(sightings, 'taint'), ...allCaught(sightings, 'taint2')];
    return [
      foundIn(sightings, {
        summary: `The node is not initialised because a startup taint stays${taints.length > 0 ? `: ${[...new Set(taints)].join(', ')}` : ''}.`,
        fix: fixFor(taints[0] ?? 'the taint', 'the pool'),
      }),
    ];
  },
  check(evidence): Found[] {
    const waiting = uninitialisedClaims(evidence).filter(
      ({ object }) => conditionOf(object, 'Initialized')?.reason === 'StartupTaintsExist',
    );
    if (waiting.length === 0) return [];
    const message = conditionOf(waiting[0]?.object ?? {}, 'Initialized')?.message ?? '';
    const taint = /"([^"]+)"/.exec(message)?.[1] ?? 'the taint';
    return [
      {
        confidence: 'certain',
        summary: `${waiting.map(({ name }) => name).join(', ')}: nothing removes the startup taint ${taint}.`,
        objects: refsOf(waiting),
        evidence: waiting.flatMap((claim) => {
          const initialized = conditionOf(claim.object, 'Initialized');
          return initialized === undefined ? [] : [conditionItem(claim, initialized)];
        }),
        fix: fixFor(taint, waiting[0] === undefined ? 'the pool' : poolNameOf(waiting[0])),
      },
    ];
  },
  explains: ['init/never-initialised-never-removed'],
};

const fixFor = (taint: string, pool: string): string[] => [
  `Install or repair the agent that removes ${taint} (a CSI driver or network agent; its DaemonSet must tolerate the taint).`,
  `If no agent is meant to remove it: move ${taint} from spec.template.spec.startupTaints of NodePool ${pool} to spec.template.spec.taints.`,
];
