// The price list has no VPC endpoint: a cluster without a way to the internet cannot ask for prices.
import { controllerDeployments, releaseNamespace, settingOf } from '../../facts.ts';
import type { Failure } from '../../failure.ts';
import { foundIn } from '../../found.ts';
import { texts } from '../../needs.ts';

const unreachable = String.raw`(?:i\/o timeout|no such host|connection refused|connection reset|deadline exceeded|network is unreachable|no route to host|TLS handshake timeout|proxyconnect|server misbehaving|request send failed)`;

export const apiUnreachable: Failure = {
  id: 'pricing/api-unreachable',
  severity: 'low',
  symptom:
    '`updating on-demand pricing, RequestError: send request failed … Post "https://api.pricing.us-east-1.amazonaws.com/": dial tcp …: i/o timeout … using existing pricing data from …`.',
  cause: 'The price list API has no VPC endpoint, and this cluster has no other way to it',
  fix: '`--set settings.isolatedVPC=true`: prices built into the release are used and nothing is asked for.',
  needs: [texts('log')],
  signs: [
    {
      words: ['api.pricing.'],
      pattern: new RegExp(
        `api\\.pricing\\.[\\w-]+\\.(?:amazonaws\\.com(?:\\.cn)?|api\\.aws).{0,240}${unreachable}`,
        'i',
      ),
      unless: /AccessDenied|not authorized/i,
    },
    {
      words: ['operation error pricing', 'on-demand pricing'],
      pattern: new RegExp(
        `(?:operation error Pricing: GetProducts|(?:updating|retr\\w+) on-demand pricing).{0,300}${unreachable}`,
        'i',
      ),
      unless: /AccessDenied|not authorized/i,
    },
    // In GovCloud and China the price list belongs to another partition, which does not know the token.
    {
      words: ['unrecognizedclientexception'],
      pattern: /(?:updating|retr\w+) on-demand pricing.{0,200}UnrecognizedClientException/i,
    },
  ],
  fromText(sightings, evidence) {
    const deployment = controllerDeployments(evidence)[0];
    const isIsolated = deployment !== undefined && settingOf(deployment, 'ISOLATED_VPC') === 'true';
    return [
      foundIn(sightings, {
        summary: isIsolated
          ? 'The price list API was out of reach; the controller is set to do without it now.'
          : 'The controller cannot reach the price list API and goes on with the prices it has.',
        fix: [
          `helm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter --namespace ${releaseNamespace(evidence)} --reuse-values --set settings.isolatedVPC=true`,
          'Or give the controller a way to api.pricing.us-east-1.amazonaws.com (NAT gateway or proxy): there is no VPC endpoint for it.',
        ],
      }),
    ];
  },
  explains: ['pricing/stale-built-in-prices'],
};
