// A node turned out smaller than planned.

import type { Evidence } from '../../evidence.ts';
import { controllerDeployments, releaseNamespace, settingOf } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { conditionItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conditionOf } from '../../objects.ts';

export const allocatableOverestimated: Failure = {
  id: 'scheduling/allocatable-overestimated',
  severity: 'medium',
  symptom:
    'A node launched for a pod is slightly too small; the pod stays Pending, or nodes are launched again and again.',
  cause:
    'VM_MEMORY_OVERHEAD_PERCENT is too low for the type, or the reservations of the kubelet differ from the planned ones',
  fix: 'Raise the percentage (default 0.075); correct the reservations in `spec.kubelet`.',
  needs: [kinds('NodeClaim')],
  signs: [
    {
      words: [
        'consistency check failed',
        'consistencycheckfailed',
        'failedconsistencycheck',
        'consistentstatefound',
        '% of expected',
      ],
      pattern:
        /Consistency Check Failed|ConsistencyCheckFailed|FailedConsistencyCheck|expected [\d.]+\w* of resource (?<resource>[\w./-]+), but found [\d.]+\w*/i,
      where: ['log', 'cli', 'asked'],
    },
  ],
  fromText: (sightings, evidence) => [
    foundIn(sightings, { summary: 'A node has less to give than was planned for it.', fix: fixFor(evidence) }),
  ],
  check(evidence): Found[] {
    const claims = evidence.objects
      .of('NodeClaim')
      .filter(({ object }) => conditionOf(object, 'ConsistentStateFound')?.status === 'False');
    if (claims.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `${claims
          .map(({ name }) => name)
          .slice(0, 3)
          .join(', ')}: the node has less to give than was planned for it.`,
        objects: refsOf(claims),
        evidence: claims.slice(0, 4).flatMap((claim) => {
          const state = conditionOf(claim.object, 'ConsistentStateFound');
          return state === undefined ? [] : [conditionItem(claim, state)];
        }),
        fix: fixFor(evidence),
      },
    ];
  },
};

function fixFor(evidence: Evidence): string[] {
  const deployment = controllerDeployments(evidence)[0];
  const current = deployment === undefined ? undefined : settingOf(deployment, 'VM_MEMORY_OVERHEAD_PERCENT');
  return [
    `helm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter --namespace ${releaseNamespace(evidence)} --reuse-values --set settings.vmMemoryOverheadPercent=${current !== undefined && Number(current) >= 0.075 ? Number(current) + 0.025 : 0.075}`,
    'Compare status.allocatable of the NodeClaim and of its Node; where only CPU or storage differs, correct spec.kubelet.kubeReserved and systemReserved of the EC2NodeClass.',
  ];
}
