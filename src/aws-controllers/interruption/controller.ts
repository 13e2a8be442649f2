// interruption: reads the queue that EventBridge fills and reacts to every event that concerns one of our instances.
//
// 1. A message that was dealt with is deleted, and so is one that can never be read.
// 2. A message whose handling failed stays, and comes back when its visibility timeout is over; so does a scheduled change of
//    more instances than are replaced per minute. What EC2 takes back within minutes is never kept waiting.
// 3. The queue is asked again at once; only a failure to ask it backs off.
import {
  DeleteMessageCommand,
  GetQueueUrlCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { NodeClaim } from '../../api/index.ts';
import { KerfError, messageOf } from '../../base/index.ts';
import { aboutPool, again, type Controller, type ControllerContext } from '../../controllers/index.ts';
import { claimsByInstance } from '../claims-by-instance.ts';
import { isSpotPool } from '../spot-pools.ts';
import { type InterruptionMessage, readInterruption } from './message.ts';
import { interruptionMetrics } from './metrics.ts';
import type { Reaction } from './reaction.ts';
import { SharePerMinute } from './share-per-minute.ts';

const name = 'interruption';
/** How many messages are dealt with at once. */
const parallel = 10;

export interface InterruptionOptions {
  sqs: SQSClient;
  queueName: string;
  reaction: Reaction;
}

export function interruptionController(
  context: ControllerContext,
  { sqs, queueName, reaction }: InterruptionOptions,
): Controller {
  const { clock, cluster, recorder } = context;
  const log = context.log.with({ controller: name, queue: queueName });
  const metrics = interruptionMetrics(context.metrics);
  const scheduled = new SharePerMinute({ ...context, log }, name);
  let url: string | undefined;

  const queueUrl = async (abortSignal: AbortSignal): Promise<string> => {
    url ??= (await sqs.send(new GetQueueUrlCommand({ QueueName: queueName }), { abortSignal })).QueueUrl;
    if (url === undefined) throw new KerfError('QueueUnknown', `SQS gave no address for queue ${queueName}`);
    return url;
  };

  const receive = async (abortSignal: AbortSignal): Promise<Message[]> => {
    try {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: await queueUrl(abortSignal),
          MaxNumberOfMessages: 10,
          VisibilityTimeout: 20,
          WaitTimeSeconds: 20,
          MessageSystemAttributeNames: ['SentTimestamp'],
          MessageAttributeNames: ['All'],
        }),
        { abortSignal },
      );
      return Messages;
    } catch (error) {
      // The queue may have been made anew since.
      url = undefined;
      const message = `cannot read interruption queue ${queueName}: ${error instanceof Error ? error.name : ''} ${messageOf(error)}; check --interruption-queue, that the queue exists in this region, and sqs:GetQueueUrl, ReceiveMessage and DeleteMessage (kerf iam queue prints both)`;
      if (!abortSignal.aborted) tellPools(message);
      throw new KerfError('QueueUnreadable', message, { cause: error, retryable: true });
    }
  };

  /** Nothing is wrong with them yet: the next node that EC2 takes back ends without a drain. */
  const tellPools = (message: string): void => {
    for (const pool of cluster.nodePools.list().filter((each) => isSpotPool(context, each))) {
      const reason = 'InterruptionQueueUnreadable';
      recorder.publish({ subject: aboutPool(pool), type: 'Warning', reason, message, dedupeMs: 10 * 60_000 });
    }
  };

  const remove = async (message: Message): Promise<void> => {
    const ReceiptHandle = message.ReceiptHandle ?? '';
    await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
    metrics.deleted.add();
  };

  const read = (message: Message): InterruptionMessage | undefined => {
    try {
      return readInterruption(message.Body);
    } catch (error) {
      log.error('cannot read message, deleting it', error, { message: message.MessageId });
      return undefined;
    }
  };

  const handle = async (message: Message, claims: ReadonlyMap<string, NodeClaim[]>): Promise<void> => {
    const event = read(message);
    if (event === undefined) return remove(message);
    metrics.received.add({ message_type: event.kind });
    const concerned = event.instanceIds.flatMap((id) => claims.get(id) ?? []);
    if (concerned.length > 0)
      log.info('initiating delete from interruption message', {
        messageKind: event.kind,
        NodeClaims: concerned.map(({ metadata }) => metadata.name),
      });
    const due = event.kind === 'scheduled_change' ? scheduled.take(concerned, claims.size) : concerned;
    await Promise.all(due.map((claim) => reaction.to(event.kind, claim)));
    if (concerned.some((claim) => !due.includes(claim) && claim.metadata.deletionTimestamp === undefined)) return;
    const sentMs = Number(message.Attributes?.SentTimestamp ?? Number.NaN);
    if (Number.isFinite(sentMs)) metrics.onQueue.observe(Math.max(0, clock.now() - sentMs) / 1000);
    await remove(message);
  };

  return {
    name,
    sources: [],
    startKeys: [queueName],
    concurrency: 1,
    async reconcile(_, signal) {
      const waiting = await receive(signal);
      const claims = waiting.length === 0 ? new Map<string, NodeClaim[]>() : claimsByInstance(context);
      const worker = async (): Promise<void> => {
        for (let message = waiting.shift(); message !== undefined; message = waiting.shift()) {
          try {
            await handle(message, claims);
          } catch (error) {
            log.error('cannot handle message, it will come again', error, { message: message.MessageId });
          }
        }
      };
      await Promise.all(Array.from({ length: parallel }, worker));
      return again(0);
    },
  };
}
