// The chart or tag is not where it was looked for, and Helm says little about why.
import type { Failure } from '../../failure.ts';
import { caught, foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';

export const chartNotFoundOrGenericError: Failure = {
  id: 'helm/chart-not-found-or-generic-error',
  severity: 'low',
  symptom:
    '`Error: public.ecr.aws/karpenter/karpenter:9.9.9: not found`, `chart "karpenter" … not found in … index`, or an error that does not name a cause.',
  cause:
    'The tag does not exist, the chart is looked for in a repository that no longer has it, or Helm hides the cause',
  fix: 'Check the tag in the gallery of public ECR; charts after 0.16 are only at `oci://public.ecr.aws/karpenter/karpenter`; repeat with `--debug`.',
  needs: [texts('cli')],
  signs: [
    {
      words: ['ecr.aws/karpenter'],
      pattern:
        /public\.ecr\.aws\/(?:karpenter\/)*karpenter(?:-crd)?(?::|\/manifests\/)(?<version>[\w.+-]+?)"?:? .{0,120}(?:not found|manifest unknown|does not exist)/i,
    },
    {
      words: [
        'chart "karpenter',
        'karpenter not found',
        '(karpenter) not found',
        'karpenter) not found',
        'no chart version found',
      ],
      pattern:
        /chart "karpenter(?:-crd)?"(?: (?:version|matching) "?(?<version>[\w.*^~-]+)"?)? not found in \S+|(?:repo|repository) (?:name )?\(?karpenter\)? not found|no chart version found for karpenter/i,
    },
    {
      words: ['charts.karpenter.sh'],
      pattern:
        /(?:Error|failed|404|not a valid chart repository|cannot be reached).{0,200}charts\.karpenter\.sh|charts\.karpenter\.sh.{0,200}(?:not a valid chart repository|cannot be reached|404|not found)/i,
    },
    {
      words: ['public.ecr.aws/v2/karpenter/'],
      pattern:
        /(?:failed to do request|unexpected status).{0,40}https:\/\/public\.ecr\.aws\/v2\/karpenter\/karpenter(?:-crd)?\/manifests\/(?<version>[\w.+-]+)/i,
      unless: /403|Forbidden|authorization token/i,
    },
    {
      words: ['failed to download'],
      pattern:
        /failed to download "?(?:oci:\/\/public\.ecr\.aws\/karpenter\/|karpenter\/)karpenter(?:-crd)?"?(?: at version "?(?<version>[\w.]+)"?)?/i,
      unless: /403|Forbidden|authorization token|i\/o timeout|no such host/i,
    },
  ],
  fromText(sightings) {
    const version = caught(sightings, 'version');
    return [
      foundIn(sightings, {
        summary: `Helm does not find the chart${version === undefined ? '' : ` of version ${version}`} where it looks.`,
        fix: [
          'helm show chart oci://public.ecr.aws/karpenter/karpenter --version "$VERSION" (the tags are in the gallery of public ECR; charts.karpenter.sh ends with 0.16.3)',
          'helm upgrade --install karpenter oci://public.ecr.aws/karpenter/karpenter --version "$VERSION" --namespace kube-system --debug',
        ],
      }),
    ];
  },
};
