// A queue that is named but does not exist, that no rule feeds, that EventBridge may not write to, or that the controller may
// not read: interruption handling is on and hears nothing.
import type { Evidence } from '../../evidence.ts';
import { clusterName, controllerDeployments, settingOf } from '../../facts.ts';
import type { EvidenceItem, Failure, Found } from '../../failure.ts';
import { at, isPlain, listAt, type Plain, textAt, textsAt } from '../../fields.ts';
import { aroundOf, caught, foundIn, refsOf } from '../../found.ts';
import { coversAction, isAllow, policyOf, statementsOf } from '../../iam-policy.ts';
import { answer, anyOf } from '../../needs.ts';

interface WantedEvent {
  source: string;
  type: string;
  words: string;
}

/** What rules must let through, and the words for it. */
const wantedEvents: readonly WantedEvent[] = [
  { source: 'aws.ec2', type: 'EC2 Spot Instance Interruption Warning', words: 'spot interruption warnings' },
  { source: 'aws.ec2', type: 'EC2 Instance Rebalance Recommendation', words: 'rebalance recommendations' },
  { source: 'aws.ec2', type: 'EC2 Instance State-change Notification', words: 'instance state changes' },
  { source: 'aws.health', type: 'AWS Health Event', words: 'health events' },
];

/** The queue is read all the time; what fails is tried again within minutes. */
const pollsWithinMs = 3_600_000;

export const eventsNotDelivered: Failure = {
  id: 'interruption/events-not-delivered',
  severity: 'high',
  symptom: 'A queue is configured and no message ever arrives, or SQS answers AccessDenied or `QueueDoesNotExist`.',
  cause:
    'The queue, its policy for EventBridge, one of the rules, or the rights of the controller on the queue are missing',
  fix: 'Create all of it from one source: `kerf iam queue`, or the CloudFormation template of the release.',
  needs: [anyOf(answer('sqs-get-queue-attributes'), answer('sqs-get-queue-url')), answer('events-list-rules')],
  signs: [
    {
      words: ['queuedoesnotexist', 'nonexistentqueue', 'specified queue does not exist'],
      pattern: /QueueDoesNotExist|AWS\.SimpleQueueService\.NonExistentQueue|specified queue does not exist/i,
      unless: /SQSError|sqs-consumer|celery|boto3|Traceback|shoryuken|keda|"service": ?"/i,
      where: ['log', 'object', 'asked', 'cli'],
      until: ['queueRead'],
      repeatsWithinMs: pollsWithinMs,
    },
    {
      words: ['sqs:'],
      pattern:
        /not authorized to perform: (?<action>sqs:(?:GetQueueUrl|GetQueueAttributes|ReceiveMessage|DeleteMessage))\b(?:.{0,80}on resource: (?<arn>arn:aws[\w-]*:sqs:[\w:-]+))?/i,
      where: ['log', 'object', 'asked'],
      until: ['queueRead'],
      repeatsWithinMs: pollsWithinMs,
    },
    {
      words: ['access to the resource https://sqs.'],
      pattern: /AccessDenied\w*: Access to the resource (?<url>https:\/\/sqs\.\S+) is denied/i,
      where: ['log', 'object', 'asked'],
      until: ['queueRead'],
      repeatsWithinMs: pollsWithinMs,
    },
  ],
  fromText(sightings, evidence) {
    const action = caught(sightings, 'action');
    const queue =
      aroundOf(sightings, /arn:aws[\w-]*:sqs:[\w-]+:\d+:([\w-]+)/) ??
      aroundOf(sightings, /https:\/\/sqs\.[\w.-]+\/\d+\/([\w-]+)/) ??
      queueName(evidence);
    return [
      foundIn(sightings, {
        summary:
          action === undefined && !sightings.some(({ groups }) => groups['url'])
            ? `The interruption queue${queue === undefined ? '' : ` ${queue}`} does not exist in this account and region.`
            : `The controller may not read the interruption queue${queue === undefined ? '' : ` ${queue}`}${action === undefined ? '' : ` (${action})`}.`,
        fix: fixFor(evidence, queue),
      }),
    ];
  },
  check(evidence): Found[] {
    const queue = queueName(evidence);
    const problems = [...absentQueue(evidence), ...policyProblems(evidence), ...ruleProblems(evidence, queue)];
    if (problems.length === 0 || (queue === undefined && evidence.aws.of('sqs-get-queue-attributes').length === 0))
      return [];
    return [
      {
        confidence: 'certain',
        summary: `Interruption events do not arrive: ${problems.map(({ says }) => says).join('; ')}.`,
        objects: refsOf(controllerDeployments(evidence)),
        evidence: problems.map(({ item }) => item),
        fix: fixFor(evidence, queue),
      },
    ];
  },
};

interface Problem {
  says: string;
  item: EvidenceItem;
}

function queueName(evidence: Evidence): string | undefined {
  for (const deployment of controllerDeployments(evidence)) {
    const name = settingOf(deployment, 'INTERRUPTION_QUEUE');
    if (name) return name.split('/').at(-1);
  }
  const arn = evidence.aws.of('sqs-get-queue-attributes').map(({ body }) => textAt(body, 'Attributes', 'QueueArn'))[0];
  return arn?.split(':').at(-1) || undefined;
}

function absentQueue({ aws }: Evidence): Problem[] {
  const refusals = [...aws.absent('sqs-get-queue-url'), ...aws.absent('sqs-get-queue-attributes')];
  return refusals.slice(0, 1).map(({ source, text }) => ({ says: 'the queue does not exist', item: { source, text } }));
}

/** The queue's policy must let EventBridge send. */
function policyProblems({ aws }: Evidence): Problem[] {
  return aws.of('sqs-get-queue-attributes').flatMap(({ body, source }): Problem[] => {
    const attributes = at(body, 'Attributes');
    // Only some attributes were asked for: nothing is known about the policy.
    if (!isPlain(attributes) || (attributes['Policy'] === undefined && !isWhole(attributes))) return [];
    if (statementsOf(policyOf(attributes['Policy'])).some(letsEventsSend)) return [];
    return [
      {
        says: "the queue's policy does not let events.amazonaws.com send",
        item: { source, text: `Policy: ${textAt(attributes, 'Policy') || 'none'}` },
      },
    ];
  });
}

/** Settings that no one asks for one by one. */
const isWhole = (attributes: Plain): boolean =>
  attributes['CreatedTimestamp'] !== undefined ||
  (attributes['QueueArn'] !== undefined &&
    ['MessageRetentionPeriod', 'VisibilityTimeout', 'DelaySeconds'].some((name) => attributes[name] !== undefined));

function letsEventsSend(statement: Plain): boolean {
  const principals = [
    ...textsAt(statement, 'Principal', 'Service'),
    ...textsAt(statement, 'Principal'),
    ...textsAt(statement, 'Principal', 'AWS'),
  ];
  const isForEvents = principals.some((one) => one === '*' || /^events\.amazonaws\.com(?:\.cn)?$/.test(one));
  return isAllow(statement) && isForEvents && coversAction(statement, 'sqs:SendMessage');
}

/** Every kind of event needs an enabled rule; whose targets were listed, one of them must be the queue. */
function ruleProblems({ aws }: Evidence, queue: string | undefined): Problem[] {
  if (!aws.isAnswered('events-list-rules')) return [];
  const rules = aws.items('events-list-rules').filter(({ item }) => textAt(item, 'State') !== 'DISABLED');
  const source = aws.of('events-list-rules')[0]?.source ?? 'aws/events-list-rules.json';
  const missing = wantedEvents.filter((event) => !rules.some(({ item }) => letsThrough(item, event)));
  const problems: Problem[] = [];
  if (missing.length > 0) {
    const names = missing.map(({ words }) => words).join(', ');
    problems.push({
      says: `no rule for ${names}`,
      item: { source, text: `rules: ${ruleNames(rules)}; none matches ${names}` },
    });
  }
  const untargeted = rules.filter(({ item }) => {
    if (!wantedEvents.some((event) => letsThrough(item, event))) return false;
    const listed = aws.of('events-list-targets-by-rule').filter(({ suffix }) => suffix === textAt(item, 'Name'));
    return (
      listed.length > 0 &&
      !listed.some(({ body }) => listAt(body, 'Targets').some((target) => isQueue(textAt(target, 'Arn'), queue)))
    );
  });
  for (const { item } of untargeted.slice(0, 3))
    problems.push({
      says: `rule ${textAt(item, 'Name')} does not target the queue`,
      item: { source: `aws/events-list-targets-by-rule-${textAt(item, 'Name')}.json`, text: 'no target is the queue' },
    });
  return problems;
}

/** A pattern without a field lets all of it through; what is not a list of words is taken as a match. */
function letsThrough(rule: unknown, { source, type }: WantedEvent): boolean {
  const pattern = policyOf(textAt(rule, 'EventPattern'));
  if (pattern === undefined) return false;
  const admits = (field: string, wanted: string): boolean => {
    const values = at(pattern, field);
    if (values === undefined) return true;
    return !Array.isArray(values) || values.some((value) => typeof value !== 'string' || value === wanted);
  };
  return admits('source', source) && admits('detail-type', type);
}

const isQueue = (arn: string, queue: string | undefined): boolean =>
  arn.includes(':sqs:') && (queue === undefined || arn.endsWith(`:${queue}`));

const ruleNames = (rules: readonly { item: unknown }[]): string =>
  rules.map(({ item }) => textAt(item, 'Name')).join(', ') || 'none';

function fixFor(evidence: Evidence, queue: string | undefined): string[] {
  const cluster = clusterName(evidence);
  return [
    `kerf iam queue --cluster ${cluster} -o cloudformation > queue.yaml && aws cloudformation deploy --stack-name Karpenter-${cluster}-queue --template-file queue.yaml (queue${queue === undefined ? '' : ` ${queue}`}, its policy and the rules)`,
    `kerf iam policy --cluster ${cluster} (the controller needs sqs:GetQueueUrl, sqs:ReceiveMessage and sqs:DeleteMessage on the queue)`,
  ];
}
