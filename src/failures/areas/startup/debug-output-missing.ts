// A log that says too little to find anything out. Never a fault by itself: mentioned when someone asks about it.
import { controllerDeployments, settingOf } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { fieldItem, foundIn } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { refOf } from '../../objects.ts';

export const debugOutputMissing: Failure = {
  id: 'startup/debug-output-missing',
  severity: 'low',
  symptom: 'Nothing useful in the log at the default level.',
  cause: 'The level of the log is set so high that decisions and errors are left out',
  fix: '`helm upgrade … --set logLevel=debug`, or the variable `LOG_LEVEL=debug` and a restart.',
  needs: [kinds('Deployment')],
  signs: [
    {
      words: ['log_level', 'loglevel', 'log-level', 'debug log'],
      pattern:
        /LOG_LEVEL["']?[:= ]{1,3}(?:value: ?)?["']?(?<level>error|warn|fatal|panic)\b|logLevel["']?[:= ]{1,2}["']?(?<level2>error|warn|fatal|panic)\b|(?:enable|how to (?:get|enable)|no|missing) debug (?:logs?|logging|output)/i,
      where: ['asked', 'cli'],
    },
    // Someone asks why, and says that the log does not.
    {
      words: ['info lines', 'log_level', 'loglevel'],
      pattern:
        /\blog\w*\b.{0,40}\bonly (?:has |have |shows? |prints? )?INFO\b|(?:LOG_LEVEL|logLevel)["']?[:= ]{1,3}["']?info\b.{0,80}\b(?:nothing|no (?:reason|detail|decision|explanation))/i,
      where: ['asked'],
      confidence: 'likely',
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: 'The log is set to leave out what would explain decisions.',
      fix: fixFor('kube-system'),
    }),
  ],
  check(evidence): Found[] {
    return controllerDeployments(evidence).flatMap((deployment): Found[] => {
      const level = settingOf(deployment, 'LOG_LEVEL') ?? '';
      if (!['error', 'warn', 'fatal', 'panic', 'dpanic'].includes(level.toLowerCase())) return [];
      return [
        {
          confidence: 'certain',
          summary: `The controller logs only from level ${level} on: what it decides is not written down.`,
          objects: [refOf(deployment)],
          evidence: [fieldItem(deployment, 'LOG_LEVEL', level)],
          fix: fixFor(deployment.namespace),
        },
      ];
    });
  },
};

const fixFor = (namespace: string): string[] => [
  `kubectl -n ${namespace} set env deployment/karpenter LOG_LEVEL=debug`,
  `To keep it over upgrades: helm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter --namespace ${namespace} --reuse-values --set logLevel=debug`,
];
