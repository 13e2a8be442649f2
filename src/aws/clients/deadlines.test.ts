// Every client ends every call: nothing that AWS, or what is between us, does or leaves undone is waited for without end.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateFleetCommand, DescribeSubnetsCommand, TerminateInstancesCommand } from '@aws-sdk/client-ec2';
import { DescribeClusterCommand } from '@aws-sdk/client-eks';
import { ListInstanceProfilesCommand } from '@aws-sdk/client-iam';
import { GetProductsCommand } from '@aws-sdk/client-pricing';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { GetParameterCommand } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { HurriedClock } from '../../../test/kube/hurried-clock.ts';
import { recordedMetrics } from '../../controllers/testing/records.testing.ts';
import { RealClock } from '../../runtime/index.ts';
import { type AwsClients, createAwsClients } from '../index.ts';

let server: Server;
let url: string;
let asked = 0;
let answer: (response: ServerResponse) => void;
let clients: AwsClients | undefined;

beforeEach(async () => {
  asked = 0;
  server = createServer((request, response) => {
    asked += 1;
    request.resume();
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  vi.stubEnv('AWS_ENDPOINT_URL', url);
});
afterEach(() => {
  clients?.destroy();
  server.closeAllConnections();
  server.close();
  vi.unstubAllEnvs();
});

const open = async (over: Partial<Parameters<typeof createAwsClients>[0]> = {}): Promise<AwsClients> => {
  clients = await createAwsClients({
    clock: new RealClock(),
    metrics: recordedMetrics(),
    env: { ...process.env },
    version: '9.9.9',
    region: 'eu-west-1',
    lookUpCredentials: () => Promise.resolve({ accessKeyId: 'AKIAONE', secretAccessKey: 'secret' }),
    attemptTimeoutMs: 150,
    ...over,
  });
  return clients;
};

const calls: Record<string, (of: AwsClients) => Promise<unknown>> = {
  ec2: ({ ec2 }) => ec2.send(new DescribeSubnetsCommand({})),
  'ec2, writing': ({ ec2 }) => ec2.send(new TerminateInstancesCommand({ InstanceIds: ['i-1'] })),
  eks: ({ eks }) => eks.send(new DescribeClusterCommand({ name: 'a' })),
  iam: ({ iam }) => iam.send(new ListInstanceProfilesCommand({})),
  pricing: ({ pricing }) => pricing.send(new GetProductsCommand({ ServiceCode: 'AmazonEC2' })),
  sqs: ({ sqs }) => sqs.send(new ReceiveMessageCommand({ QueueUrl: `${url}/queue` })),
  ssm: ({ ssm }) => ssm.send(new GetParameterCommand({ Name: 'a' })),
  sts: ({ sts }) => sts.send(new GetCallerIdentityCommand({})),
  zonalShift: ({ zonalShift }) => zonalShift.appliedShifts('arn:aws:eks:eu-west-1:1:cluster/a'),
  'json, KMS': ({ json }) => json.ask('kms', 'DescribeKey', { KeyId: 'a' }),
  'json, EventBridge': ({ json }) => json.ask('events', 'ListRules', {}),
};

test('no client is left out below', async () => {
  const { region: _region, destroy: _destroy, ...all } = await open();
  expect([...new Set(Object.keys(calls).map((name) => name.split(',')[0]))].sort()).toEqual(Object.keys(all).sort());
});

describe.each(Object.keys(calls))('%s', (name) => {
  test.each<[string, typeof answer]>([
    ['no answer comes', () => {}],
    [
      'headers come and the body stalls',
      (response) => {
        response.writeHead(200, { 'content-type': 'text/xml' });
        response.write('<A');
      },
    ],
    [
      'the body drips',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        setInterval(() => response.write(' '), 20).unref();
      },
    ],
  ])('gives up when %s', async (_, behave) => {
    answer = behave;
    const startedMs = performance.now();
    await expect(calls[name]?.(await open())).rejects.toMatchObject({ name: 'TimeoutError' });
    // Three attempts and the pauses between them, on a busy machine.
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });
});

test('a call that waits at a token bucket past its deadline fails, and is not sent afterwards', async () => {
  answer = (response) => response.writeHead(500).end();
  const { ec2 } = await open({ clock: new HurriedClock(10), callTimeoutMs: 15_000, attemptTimeoutMs: 5_000 });
  const all = Array.from({ length: 250 }, () => ec2.send(new CreateFleetCommand({} as never)));
  const outcomes = await Promise.allSettled(all);
  expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
  expect(asked).toBeGreaterThan(0);
  // Those on the wire in that moment still arrive.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const sent = asked;
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(asked).toBe(sent);
});

test('a source of credentials that says nothing is given up, and asked anew by the next call', async () => {
  answer = (response) => response.writeHead(500).end();
  let lookUps = 0;
  const { ec2 } = await open({
    clock: new HurriedClock(500),
    lookUpCredentials: () => {
      lookUps += 1;
      return new Promise(() => {});
    },
  });
  for (let index = 0; index < 2; index += 1) {
    await expect(ec2.send(new DescribeSubnetsCommand({}))).rejects.toThrow(/gave none within 60 s/);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(lookUps).toBeGreaterThan(1);
});

describe('a process that no longer leads', () => {
  const kill = (of: AwsClients) => of.ec2.send(new TerminateInstancesCommand({ InstanceIds: ['i-1'] }));

  test('sends no call that changes anything, and may still look', async () => {
    answer = (response) => response.writeHead(200, { 'content-type': 'text/xml' }).end('<A><subnetSet/></A>');
    const of = await open({ mayWrite: () => false, attemptTimeoutMs: 5_000 });
    await expect(kill(of)).rejects.toMatchObject({ code: 'NotLeader', retryable: true });
    await expect(of.sqs.send(new ReceiveMessageCommand({ QueueUrl: url }))).rejects.toMatchObject({
      code: 'NotLeader',
    });
    expect(asked).toBe(0);
    await of.ec2.send(new DescribeSubnetsCommand({}));
    expect(asked).toBe(1);
  });

  test('does not send what waited at a token bucket or for its next attempt when the term ended', async () => {
    let leads = true;
    let allowed = 0;
    const mayWrite = (): boolean => {
      if (leads) allowed += 1;
      return leads;
    };
    answer = (response) => {
      leads = false;
      response.writeHead(503).end();
    };
    const of = await open({ mayWrite, attemptTimeoutMs: 5_000 });
    await expect(kill(of)).rejects.toMatchObject({ code: 'NotLeader' });
    expect(asked).toBe(1);
    leads = true;
    answer = (response) => response.writeHead(200, { 'content-type': 'text/xml' }).end('<A/>');
    const waiting = Promise.allSettled(Array.from({ length: 130 }, () => kill(of)));
    // What the bucket lets through at once has arrived (one token went to the call before); thirty wait for theirs.
    await vi.waitFor(() => expect(asked).toBeGreaterThanOrEqual(99), { timeout: 30_000, interval: 5 });
    leads = false;
    const outcomes = await waiting;
    expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
    // Those on the wire in that moment may still arrive; every one of them was allowed before.
    expect(asked).toBeLessThanOrEqual(allowed);
  });
});
