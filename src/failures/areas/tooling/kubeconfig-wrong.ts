// kubectl, helm or terraform talks to no cluster, or to one that is gone: its configuration is missing or old.
import { clusterName, regionOf } from '../../facts.ts';
import type { Failure } from '../../failure.ts';
import { caught, foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';

export const kubeconfigWrong: Failure = {
  id: 'tooling/kubeconfig-wrong',
  severity: 'low',
  symptom: '`The connection to the server localhost:42169 was refused - did you specify the right host or port?`',
  cause: 'The kubeconfig is missing, old, or names another cluster',
  fix: '`aws eks update-kubeconfig --name "$CLUSTER" --region "$REGION"`; `kubectl config current-context` shows which cluster is used.',
  needs: [texts('cli')],
  signs: [
    {
      words: ['did you specify the right host or port'],
      pattern:
        /The connection to the server (?<server>(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?::\d+)?) was refused - did you specify the right host or port/i,
    },
    {
      words: ['cluster unreachable', 'server api group list', 'unable to connect to the server'],
      pattern:
        /(?:Kubernetes cluster unreachable|couldn't get current server API group list|Unable to connect to the server).{0,80}(?<server>(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?)/i,
    },
    {
      words: ['http://localhost', 'http://127.0.0.1'],
      pattern:
        /Error: (?:Get|Post|Put|Patch|Delete) "?(?<server>http:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?)\/(?:api|apis|version)\b.{0,120}connection refused/i,
      where: ['cli', 'asked'],
    },
    {
      words: ['no configuration has been provided', 'current-context is not set', 'context was not found'],
      pattern:
        /no configuration has been provided, try setting KUBERNETES_MASTER|current-context is not set|(?:context|cluster) "?[^"]{1,120}"? (?:does not exist|was not found for specified context)|invalid configuration: no configuration/i,
      where: ['cli', 'asked'],
    },
    {
      words: ['must be logged in to the server'],
      pattern:
        /error: You must be logged in to the server \((?:Unauthorized|the server has asked for the client to provide credentials)/i,
      where: ['cli', 'asked'],
      confidence: 'likely',
    },
    {
      words: ['unable to connect to the server'],
      pattern:
        /Unable to connect to the server: dial tcp: lookup (?<server>[\w.-]+\.eks\.amazonaws\.com\S*?)[: ].{0,60}no such host/i,
      where: ['cli', 'asked'],
      confidence: 'likely',
    },
  ],
  fromText(sightings, evidence) {
    const server = caught(sightings, 'server');
    return [
      foundIn(sightings, {
        summary: `The command talks to ${server ?? 'no cluster'}: the kubeconfig in use is missing or old.`,
        fix: [
          `aws eks update-kubeconfig --name ${clusterName(evidence)} --region ${regionOf(evidence)}`,
          'kubectl config current-context; echo "$KUBECONFIG"',
        ],
      }),
    ];
  },
};
