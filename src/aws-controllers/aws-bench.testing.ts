// The controllers' bench with machines that look like instances of EC2, and a queue in memory.
import { SQSClient } from '@aws-sdk/client-sqs';
import { label, type NodeClaim } from '../api/index.ts';
import { type Controller, type ControllerContext, claimMetrics, nodeClaims } from '../controllers/index.ts';
import { type Bench, openBench } from '../controllers/testing/bench.testing.ts';
import type { Cloud, Kube } from '../ports/index.ts';
import { Reaction } from './interruption/reaction.ts';

export interface AwsBench extends Bench {
  lost: string[];
  claim(name: string): Promise<NodeClaim>;
  isDeleted(name: string): Promise<boolean>;
  eventsOf(name: string): string[];
}

export interface AwsBenchOptions {
  controllers: (context: ControllerContext, reaction: Reaction) => Controller[];
  replacesOnRebalance?: boolean;
  cloud?: (cloud: Cloud) => Cloud;
  between?: (kube: Kube) => Kube;
}

export async function openAwsBench(options: AwsBenchOptions): Promise<AwsBench> {
  const lost: string[] = [];
  const bench = await openBench({
    ...(options.cloud === undefined ? {} : { cloud: options.cloud }),
    ...(options.between === undefined ? {} : { between: options.between }),
    controllers: (context) => {
      const reaction = new Reaction(
        context,
        claimMetrics(context.metrics),
        {
          offering: (type, zone, capacityType) => void lost.push(`${capacityType}:${type}:${zone}`),
          reservation: (id) => void lost.push(id),
        },
        { replacesOnRebalance: options.replacesOnRebalance ?? false },
      );
      return options.controllers(context, reaction);
    },
  });
  await bench.nodeClass();
  const claim = async (name: string): Promise<NodeClaim> => {
    const found = await bench.get(nodeClaims, name);
    if (found === undefined) throw new Error(`there is no NodeClaim ${name}`);
    return found;
  };
  return {
    ...bench,
    lost,
    claim,
    isDeleted: async (name) => (await claim(name)).metadata.deletionTimestamp !== undefined,
    eventsOf: (name) =>
      bench.events.filter(({ subject }) => subject.name === name).map((each) => `${each.subject.kind} ${each.reason}`),
  };
}

export const providerIdOf = (instanceId: string): string => `aws:///us-east-1a/${instanceId}`;

/** A claim that someone else keeps from vanishing, with its Node, on instance `i-<name>`. */
export async function makeInstance(bench: Bench, name: string, labels: Record<string, string> = {}): Promise<void> {
  const providerID = providerIdOf(`i-${name}`);
  await bench.machine('default', name, {
    claim: {
      metadata: {
        finalizers: ['example.com/keep'],
        labels: {
          [label.zone]: 'us-east-1a',
          [label.instanceType]: 'm5.large',
          [label.capacityType]: 'spot',
          ...labels,
        },
      },
      status: { providerID, nodeName: name },
    },
    node: { spec: { providerID } },
  });
}

/** A queue in memory behind a real client's `send`; waits as a long poll does. */
export function memoryQueue(clock: { sleep(ms: number): Promise<void> }) {
  const messages: { MessageId: string; ReceiptHandle: string; Body: string; Attributes: { SentTimestamp: string } }[] =
    [];
  const deleted: string[] = [];
  let receiveError: Error | undefined;
  const client = new SQSClient({ region: 'us-east-1' });
  const answers: Record<string, (input: Record<string, unknown>) => Promise<unknown>> = {
    GetQueueUrl: async ({ QueueName }) => ({ QueueUrl: `https://sqs/${String(QueueName)}` }),
    DeleteMessage: async ({ ReceiptHandle }) => void deleted.push(String(ReceiptHandle)),
    ReceiveMessage: async () => {
      if (receiveError !== undefined) throw receiveError;
      if (messages.length === 0) await clock.sleep(20_000);
      return { Messages: messages.splice(0) };
    },
  };
  client.send = (async (command: { constructor: { name: string }; input: Record<string, unknown> }) =>
    answers[command.constructor.name.replace(/Command$/, '')]?.(command.input)) as typeof client.send;
  let serial = 0;
  return {
    client,
    deleted,
    send(body: string, sentMs = 0): void {
      serial += 1;
      const id = `m-${serial}`;
      messages.push({ MessageId: id, ReceiptHandle: id, Body: body, Attributes: { SentTimestamp: String(sentMs) } });
    },
    failReceive(error: Error | undefined): void {
      receiveError = error;
    },
  };
}
