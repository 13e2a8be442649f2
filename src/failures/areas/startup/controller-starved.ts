// A controller without memory or CPU of its own: slow, then killed, in the bursts in which it is needed most.
import { controllerContainer, controllerDeployments, controllerPods } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { at, listAt, textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { refOf } from '../../objects.ts';

export const controllerStarved: Failure = {
  id: 'startup/controller-starved',
  severity: 'medium',
  symptom: 'Slow scale-up, missed consolidation, OOM kills of the controller in large bursts.',
  cause:
    'The controller has too little memory or CPU for the pods and instance types it simulates, or no requests at all',
  fix: 'Equal requests and limits for the controller (1 CPU and 1Gi to begin with; large clusters need more).',
  needs: [kinds('Deployment', 'Pod')],
  signs: [
    {
      words: ['oomkilled', 'oom-kill', 'out of memory'],
      pattern:
        /\b(?:karpenter|kerf)\b.{0,200}(?:OOMKilled|oom-kill|Killed process \d+ \((?:karpenter|controller|kerf)\))|(?:OOMKilled|Out of memory: Killed process).{0,160}\b(?:karpenter|kerf)\b/i,
    },
    {
      words: ['oomkilled'],
      pattern: /Reason: OOMKilled/i,
      beside: 'controllerDescribed',
      where: ['asked', 'cli'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, { summary: 'The controller was killed for want of memory.', fix: fixFor('kube-system') }),
  ],
  check(evidence): Found[] {
    const killed = controllerPods(evidence).filter(({ object }) =>
      listAt(object, 'status', 'containerStatuses').some(
        (status) =>
          textAt(status, 'lastState', 'terminated', 'reason') === 'OOMKilled' ||
          textAt(status, 'state', 'terminated', 'reason') === 'OOMKilled',
      ),
    );
    const deployment = controllerDeployments(evidence)[0];
    const container = deployment === undefined ? undefined : controllerContainer(deployment);
    const limit = textAt(container, 'resources', 'limits', 'memory');
    if (killed.length > 0)
      return [
        {
          confidence: 'certain',
          summary: `The controller was killed for want of memory${limit === '' ? '' : ` (limit ${limit})`}.`,
          objects: refsOf(killed),
          evidence: killed.map((pod) => fieldItem(pod, 'lastState.terminated.reason', 'OOMKilled')),
          fix: fixFor(killed[0]?.namespace ?? 'kube-system', limit),
        },
      ];
    if (deployment === undefined || container === undefined) return [];
    const isBare =
      at(container, 'resources', 'requests') === undefined && at(container, 'resources', 'limits') === undefined;
    if (!isBare) return [];
    return [
      {
        confidence: 'possible',
        summary:
          "The controller's container has neither requests nor limits: on a full node it is the first to be starved.",
        objects: [refOf(deployment)],
        evidence: [fieldItem(deployment, 'resources', '{}')],
        fix: fixFor(deployment.namespace),
      },
    ];
  },
};

function fixFor(namespace: string, limit = ''): string[] {
  const current = /^(\d+)Mi$/.exec(limit)?.[1];
  const memory = current === undefined ? (/^(\d+)Gi$/.exec(limit)?.[1] ?? '') : '';
  const next =
    memory === ''
      ? current !== undefined && Number(current) >= 1024
        ? `${2 * Number(current)}Mi`
        : '1Gi'
      : `${2 * Number(memory)}Gi`;
  return [
    `helm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter --namespace ${namespace} --reuse-values --set controller.resources.requests.cpu=1 --set controller.resources.requests.memory=${next} --set controller.resources.limits.cpu=1 --set controller.resources.limits.memory=${next}`,
  ];
}
