// Cases of interruption/.
import { type FailureCase, minutesAgo, now, object } from '../../case.testing.ts';

const controller = (env: object[]): object =>
  object(
    'Deployment',
    'karpenter',
    {
      metadata: { labels: { 'app.kubernetes.io/name': 'karpenter' } },
      spec: {
        replicas: 2,
        template: {
          spec: { containers: [{ name: 'controller', env: [{ name: 'CLUSTER_NAME', value: 'prod' }, ...env] }] },
        },
      },
    },
    'kube-system',
  );
const pool = (...capacityTypes: string[]): object =>
  object('NodePool', 'default', {
    spec: {
      template: {
        spec: { requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: capacityTypes }] },
      },
    },
  });
const queue = { name: 'INTERRUPTION_QUEUE', value: 'prod' };
const attributes = (principal: string | undefined): object => ({
  Attributes: {
    QueueArn: 'arn:aws:sqs:us-east-1:111122223333:prod',
    CreatedTimestamp: '1700000000',
    ...(principal === undefined
      ? {}
      : {
          Policy: JSON.stringify({
            Statement: [
              { Effect: 'Allow', Principal: { Service: [principal, 'sqs.amazonaws.com'] }, Action: 'sqs:SendMessage' },
            ],
          }),
        }),
  },
});
const rule = (detail: string): object => ({
  Name: detail.replaceAll(' ', ''),
  State: 'ENABLED',
  EventPattern: JSON.stringify({ 'detail-type': [detail] }),
});
const rules = {
  Rules: [
    'EC2 Spot Instance Interruption Warning',
    'EC2 Instance Rebalance Recommendation',
    'EC2 Instance State-change Notification',
    'AWS Health Event',
  ].map(rule),
};
const handler = (env: object[]): object =>
  object(
    'DaemonSet',
    'aws-node-termination-handler',
    { spec: { template: { spec: { containers: [{ name: 'handler', env }] } } } },
    'kube-system',
  );

export const interruptionCases: readonly FailureCase[] = [
  {
    id: 'interruption/queue-not-configured',
    name: 'a pool with spot and no queue',
    objects: [controller([]), pool('spot', 'on-demand')],
    now,
    confidence: 'certain',
    fix: ['settings.interruptionQueue=prod', 'kerf iam queue --cluster prod'],
  },
  {
    id: 'interruption/queue-not-configured',
    name: 'an empty variable',
    objects: [controller([{ name: 'INTERRUPTION_QUEUE', value: '' }]), pool('spot')],
    now,
  },
  {
    id: 'interruption/queue-not-configured',
    name: 'a manifest with an empty value',
    text: 'env:\n- name: INTERRUPTION_QUEUE\n  value: ""\n- name: CLUSTER_NAME\n  value: prod',
    confidence: 'likely',
  },
  {
    id: 'interruption/queue-not-configured',
    name: 'a cluster without spot',
    nearMiss: true,
    objects: [controller([]), pool('on-demand')],
    now,
  },
  {
    id: 'interruption/events-not-delivered',
    name: 'a queue that does not exist',
    texts: {
      'logs/karpenter.log':
        '{"level":"ERROR","time":"2026-03-01T11:59:00Z","logger":"controller","message":"Reconciler error","controller":"interruption","error":"fetching queue url, operation error SQS: GetQueueUrl, https response error StatusCode: 400, RequestID: 9a, AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist."}',
    },
    confidence: 'certain',
  },
  {
    id: 'interruption/events-not-delivered',
    name: 'a queue whose policy lets no rule send',
    objects: [controller([queue]), pool('spot')],
    aws: { 'sqs-get-queue-attributes': attributes(undefined), 'events-list-rules': rules },
    now,
    fix: ['kerf iam queue --cluster prod'],
  },
  {
    id: 'interruption/events-not-delivered',
    name: 'one rule of four',
    objects: [controller([queue]), pool('spot')],
    aws: {
      'sqs-get-queue-attributes': attributes('events.amazonaws.com'),
      'events-list-rules': { Rules: rules.Rules.slice(0, 1) },
    },
    now,
  },
  {
    id: 'interruption/events-not-delivered',
    name: 'a queue, its policy and its rules',
    nearMiss: true,
    objects: [controller([queue]), pool('spot')],
    aws: { 'sqs-get-queue-attributes': attributes('events.amazonaws.com'), 'events-list-rules': rules },
    now,
  },
  {
    id: 'interruption/events-not-delivered',
    name: 'a person who may not look',
    nearMiss: true,
    objects: [controller([queue]), pool('spot')],
    refused: {
      'sqs-get-queue-url':
        'An error occurred (AccessDenied) when calling the GetQueueUrl operation: User: arn:aws:iam::111122223333:user/eve is not authorized to perform: sqs:GetQueueUrl',
    },
    now,
  },
  {
    id: 'interruption/nth-relaunch-loop',
    name: 'a handler that drains on recommendations',
    objects: [handler([{ name: 'ENABLE_REBALANCE_DRAINING', value: 'true' }]), pool('spot')],
    now,
    confidence: 'certain',
    fix: ['enableRebalanceDraining=false'],
  },
  {
    id: 'interruption/nth-relaunch-loop',
    name: 'a handler with its defaults',
    objects: [handler([]), pool('spot', 'on-demand')],
    now,
    confidence: 'likely',
  },
  {
    id: 'interruption/nth-relaunch-loop',
    name: 'a handler that drains nothing',
    nearMiss: true,
    objects: [
      handler([
        { name: 'ENABLE_REBALANCE_DRAINING', value: 'false' },
        { name: 'ENABLE_SPOT_INTERRUPTION_DRAINING', value: 'false' },
      ]),
      pool('spot'),
    ],
    now,
  },
  {
    id: 'interruption/rebalance-not-acted-on',
    name: 'an event of a node',
    objects: [
      object('Node', 'ip-10-0-0-1', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }),
      object(
        'Event',
        'rebalance',
        {
          reason: 'SpotRebalanceRecommendation',
          message: 'Spot rebalance recommendation was triggered',
          lastTimestamp: minutesAgo(10),
          involvedObject: { kind: 'Node', name: 'ip-10-0-0-1' },
        },
        'default',
      ),
    ],
    now,
    confidence: 'possible',
  },
  {
    id: 'interruption/rebalance-not-acted-on',
    name: 'a question about the event',
    text: '8m  Normal  SpotRebalanceRecommendation  node/ip-10-0-0-1  Spot rebalance recommendation was triggered',
    confidence: 'likely',
    fix: ['--spot-rebalance-policy'],
  },
  {
    id: 'interruption/rebalance-not-acted-on',
    name: 'a handler that acts on it',
    nearMiss: true,
    text: '2026-03-01 INF Adding new event to the event store event={"EventID":"rebalance-recommendation-1","Kind":"REBALANCE_RECOMMENDATION"} aws-node-termination-handler: spot rebalance recommendation, node cordoned and drained',
  },
];
