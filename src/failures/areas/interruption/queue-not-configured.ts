// Interruption handling is off while no queue is named: spot nodes vanish without a drain.
import type { Evidence } from '../../evidence.ts';
import {
  clusterName,
  controllerContainer,
  controllerDeployments,
  isEnvHidden,
  releaseNamespace,
  settingOf,
} from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { refOf, type Stored } from '../../objects.ts';
import { usersOfSpot } from './spot-pools.ts';

export const queueNotConfigured: Failure = {
  id: 'interruption/queue-not-configured',
  severity: 'high',
  symptom: 'Pods on spot nodes die without a drain: the two-minute notice is not acted on.',
  cause: 'Interruption handling is off: `INTERRUPTION_QUEUE` is not set, while spot capacity is in use',
  fix: 'Create the queue and its rules (`kerf iam queue`), then `--set settings.interruptionQueue=<name>`.',
  needs: [kinds('Deployment', 'NodePool')],
  signs: [
    {
      words: ['interruption_queue', 'interruptionqueue'],
      pattern:
        /INTERRUPTION_QUEUE["']?,? (?:["']?value["']?: ?)?(?:""|'')|settings\.interruptionQueue=(?:""|''|\s|$)|interruptionQueue: ?(?:""|'')|\bINTERRUPTION_QUEUE[:=] ?$/,
      where: ['cli', 'asked'],
      confidence: 'likely',
    },
    {
      words: ['interruption handling is disabled', 'interruption queue is not', 'no interruption queue'],
      pattern:
        /interruption handling is disabled|(?:no interruption queue|interruption queue (?:name )?is not) (?:set|configured|specified)/i,
      confidence: 'likely',
    },
  ],
  fromText: (sightings, evidence) => [
    foundIn(sightings, {
      summary: 'No interruption queue is set: notices of spot interruptions are not acted on.',
      fix: fixFor(evidence, undefined),
    }),
  ],
  check(evidence): Found[] {
    const spot = usersOfSpot(evidence);
    if (spot.length === 0) return [];
    return controllerDeployments(evidence).flatMap((deployment) => {
      const container = controllerContainer(deployment);
      if (container === undefined || isEnvHidden(container, 'INTERRUPTION_QUEUE')) return [];
      if (settingOf(deployment, 'INTERRUPTION_QUEUE') || queueOfOldSettings(evidence) !== '') return [];
      return [
        {
          confidence: 'certain' as const,
          summary: `${deployment.namespace}/${deployment.name} has no interruption queue, and ${spot[0]?.kind} ${spot[0]?.name} uses spot: its nodes vanish without a drain.`,
          objects: [refOf(deployment), ...refsOf(spot.slice(0, 3))],
          evidence: [
            fieldItem(
              deployment,
              'INTERRUPTION_QUEUE',
              settingOf(deployment, 'INTERRUPTION_QUEUE') === undefined ? 'not set' : '""',
            ),
            ...spot.slice(0, 3).map((one) => fieldItem(one, 'karpenter.sh/capacity-type', 'spot')),
          ],
          fix: fixFor(evidence, deployment),
        },
      ];
    });
  },
};

/** Releases before 0.33 read their settings from a ConfigMap. */
function queueOfOldSettings({ objects }: Evidence): string {
  const settings = objects.of('ConfigMap').find(({ name }) => name === 'karpenter-global-settings');
  return textAt(settings?.object, 'data', 'aws.interruptionQueueName');
}

function fixFor(evidence: Evidence, deployment: Stored | undefined): string[] {
  const cluster = clusterName(evidence);
  return [
    `kerf iam queue --cluster ${cluster} -o cloudformation > queue.yaml && aws cloudformation deploy --stack-name Karpenter-${cluster}-queue --template-file queue.yaml (queue, its policy and the five rules)`,
    `helm upgrade ${deployment?.name ?? 'karpenter'} oci://public.ecr.aws/karpenter/karpenter --namespace ${releaseNamespace(evidence)} --reuse-values --set settings.interruptionQueue=${cluster}`,
  ];
}
