// Cases of pricing/.
import { type FailureCase, now, object } from '../../case.testing.ts';

const controller = (env: object[], image = 'public.ecr.aws/karpenter/controller:1.3.1'): object =>
  object(
    'Deployment',
    'karpenter',
    {
      metadata: { labels: { 'app.kubernetes.io/name': 'karpenter' } },
      spec: { replicas: 2, template: { spec: { containers: [{ name: 'controller', image, env }] } } },
    },
    'kube-system',
  );

export const pricingCases: readonly FailureCase[] = [
  {
    id: 'pricing/api-unreachable',
    name: 'an old log line',
    text: 'ERROR   controller.aws.pricing  updating on-demand pricing, RequestError: send request failed\ncaused by: Post "https://api.pricing.us-east-1.amazonaws.com/": dial tcp 52.94.231.236:443: i/o timeout; RequestError: send request failed\ncaused by: Post "https://api.pricing.us-east-1.amazonaws.com/": dial tcp 52.94.231.236:443: i/o timeout, using existing pricing data from 2022-08-17T00:19:52Z  {"commit": "4b5f953"}',
    fix: ['settings.isolatedVPC=true'],
  },
  {
    id: 'pricing/api-unreachable',
    name: 'a JSON log',
    texts: {
      'logs/karpenter.log':
        '{"level":"ERROR","time":"2026-03-01T11:59:00.123Z","logger":"controller","message":"Reconciler error","controller":"providers.pricing","error":"retreiving on-demand pricing data, operation error Pricing: GetProducts, exceeded maximum number of attempts, 3, https response error StatusCode: 0, RequestID: , request send failed, Post \\"https://api.pricing.us-east-1.amazonaws.com/\\": dial tcp: lookup api.pricing.us-east-1.amazonaws.com: i/o timeout"}',
    },
  },
  {
    id: 'pricing/api-unreachable',
    name: 'a denial',
    nearMiss: true,
    text: 'updating on-demand pricing, operation error Pricing: GetProducts, https response error StatusCode: 400, RequestID: 1b2c, api error AccessDeniedException: User: arn:aws:sts::111122223333:assumed-role/karpenter/x is not authorized to perform: pricing:GetProducts',
  },
  {
    id: 'pricing/stale-built-in-prices',
    name: 'prices of another year',
    texts: {
      'logs/karpenter.log':
        '2026-03-01T11:59:00Z ERROR controller.aws.pricing using existing pricing data from 2024-08-17T00:19:52Z',
    },
    confidence: 'likely',
  },
  {
    id: 'pricing/stale-built-in-prices',
    name: 'an isolated controller',
    objects: [controller([{ name: 'ISOLATED_VPC', value: 'true' }])],
    now,
    confidence: 'possible',
  },
  {
    id: 'pricing/stale-built-in-prices',
    name: 'a controller that asks for prices',
    nearMiss: true,
    objects: [controller([{ name: 'ISOLATED_VPC', value: 'false' }])],
    now,
  },
];
