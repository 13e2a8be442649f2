// The autoscaler expects trunk interfaces, and the network plugin has them off.
import type { Failure, Found } from '../../failure.ts';
import { conditionItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conditionOf } from '../../objects.ts';
import { claimsWaitingFor } from './unregistered-resource.ts';

export const podEniNotRegistered: Failure = {
  id: 'init/pod-eni-not-registered',
  severity: 'medium',
  symptom:
    '`Expected resource "vpc.amazonaws.com/pod-eni" didn\'t register on the node`; the node is never initialised and never consolidated.',
  cause:
    'Pods request vpc.amazonaws.com/pod-eni, or an old release expects it, and the network plugin has ENABLE_POD_ENI off',
  fix: 'Enable security groups for pods in the plugin (`ENABLE_POD_ENI=true`), or do not request the resource.',
  needs: [kinds('NodeClaim')],
  signs: [
    {
      words: ['vpc.amazonaws.com/pod-eni'],
      pattern:
        /(?:Expected resource|Resource) "vpc\.amazonaws\.com\/pod-eni" (?:didn't register|was requested but not registered)/i,
      where: ['log', 'cli', 'asked'],
      until: ['nodeReady'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: 'The node waits for vpc.amazonaws.com/pod-eni, which the network plugin does not advertise.',
      fix: fixLines,
    }),
  ],
  check(evidence): Found[] {
    const waiting = claimsWaitingFor(/^vpc\.amazonaws\.com\/pod-eni$/, evidence).map(({ claim }) => claim);
    if (waiting.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `${waiting.map(({ name }) => name).join(', ')}: the node waits for vpc.amazonaws.com/pod-eni, which the network plugin does not advertise.`,
        objects: refsOf(waiting),
        evidence: waiting.flatMap((claim) => {
          const initialized = conditionOf(claim.object, 'Initialized');
          return initialized === undefined ? [] : [conditionItem(claim, initialized)];
        }),
        fix: fixLines,
      },
    ];
  },
  explains: ['init/never-initialised-never-removed'],
};

const fixLines = [
  'kubectl -n kube-system set env daemonset/aws-node ENABLE_POD_ENI=true',
  'Or remove requests for vpc.amazonaws.com/pod-eni; releases from 0.33 on wait only for what pods of the node request.',
];
