// The endpoint of the API server is a setting that old releases did not look up by themselves.
import { clusterName, controllerDeployments, releaseNamespace, settingOf } from '../../facts.ts';
import type { Failure } from '../../failure.ts';
import { foundIn } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';

export const clusterEndpointMissing: Failure = {
  id: 'startup/cluster-endpoint-missing',
  severity: 'critical',
  symptom:
    'The controller is in CrashLoopBackOff at once, with `panic: "" not a valid CLUSTER_ENDPOINT URL` (releases around 0.16).',
  cause:
    'The release needs the address of the API server as a setting and got none; later releases look it up with eks:DescribeCluster',
  fix: 'Upgrade to a supported release, or set `settings.clusterEndpoint` to the endpoint that `aws eks describe-cluster` prints. Where the endpoint is looked up, allow `eks:DescribeCluster`.',
  needs: [anyOf(texts('log'), kinds('Pod'))],
  signs: [
    {
      words: ['cluster_endpoint', 'cluster-endpoint', 'clusterendpoint'],
      pattern:
        /"" (?:is )?not a valid CLUSTER_ENDPOINT URL|(?:CLUSTER_ENDPOINT|cluster-endpoint|clusterEndpoint)\b["']?:? (?:is |was )?(?:required|missing|must be set|not set|cannot be empty)|missing field,? cluster-?endpoint/i,
      until: ['controllerStarted', 'launched'],
    },
    {
      words: ['resolving cluster endpoint', 'detect the cluster endpoint', 'unable to detect', 'cluster endpoint'],
      pattern:
        /(?:unable to detect|failed to (?:detect|resolve|discover)|resolving|could not (?:detect|resolve|discover)) (?:the )?cluster endpoint(?!.{0,400}(?:AccessDenied|not authorized|UnauthorizedOperation))/i,
      unless: /i\/o timeout|AccessDenied|not authorized|WebIdentityErr|no such host|ExpiredToken/i,
      confidence: 'likely',
      until: ['controllerStarted', 'launched'],
    },
  ],
  fromText(sightings, evidence) {
    const cluster = clusterName(evidence);
    const isSetEmpty = controllerDeployments(evidence).some((one) => settingOf(one, 'CLUSTER_ENDPOINT') === '');
    return [
      foundIn(sightings, {
        summary: `The controller ends at its start: it has no address of the API server${isSetEmpty ? ' (CLUSTER_ENDPOINT is empty)' : ''}.`,
        fix: [
          `helm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter --namespace ${releaseNamespace(evidence)} --reuse-values --set settings.clusterEndpoint=$(aws eks describe-cluster --name ${cluster} --query cluster.endpoint --output text)`,
          'Better: upgrade to a supported release, which looks the endpoint up with eks:DescribeCluster.',
        ],
      }),
    ];
  },
};
