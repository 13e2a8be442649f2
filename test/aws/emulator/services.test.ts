// The emulator beside EC2: faults, control over HTTP, parameters, prices, profiles, clusters, zonal shifts, the queue.
import { existsSync } from 'node:fs';
import {
  DescribeInstanceTypesCommand,
  DescribeSubnetsCommand,
  EC2Client,
  EnableImageDeprecationCommand,
} from '@aws-sdk/client-ec2';
import { CreateClusterCommand, DescribeClusterCommand, EKSClient } from '@aws-sdk/client-eks';
import {
  CreateInstanceProfileCommand,
  CreateRoleCommand,
  IAMClient,
  ListInstanceProfilesCommand,
  paginateListInstanceProfiles,
  RemoveRoleFromInstanceProfileCommand,
} from '@aws-sdk/client-iam';
import { GetProductsCommand, PricingClient } from '@aws-sdk/client-pricing';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { GetParameterCommand, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { request } from 'undici';
import { beforeEach, expect, describe as suite, test } from 'vitest';
import { startAwsEmulator } from '../../setup/aws-emulator.ts';
import { useAwsEmulator } from '../../setup/use-aws-emulator.ts';

const emulator = useAwsEmulator();
beforeEach(() => emulator().control.reset());

suite('faults', () => {
  const subnets = (options: object = {}) =>
    new EC2Client({ ...emulator().clientOptions, ...options }).send(new DescribeSubnetsCommand({}));
  const attempts = (): number => emulator().control.calls().length;

  test('throttling is retried by the SDK until it is over', async () => {
    emulator().control.addFault({ action: 'DescribeSubnets', count: 2, code: 'RequestLimitExceeded', status: 503 });
    await subnets();
    const codes = emulator()
      .control.calls()
      .map(({ code }) => code);
    expect(codes).toEqual(['RequestLimitExceeded', 'RequestLimitExceeded', undefined]);
  });

  test('a denial surfaces under its own name, once', async () => {
    emulator().control.addFault({ action: '*', code: 'UnauthorizedOperation', status: 403, message: 'no' });
    await expect(subnets()).rejects.toMatchObject({ name: 'UnauthorizedOperation', message: 'no' });
    expect(attempts()).toBe(1);
  });

  test('a dropped connection is an error of the network; dropped after the call, its effect is real', async () => {
    emulator().control.addFault({ action: 'DescribeSubnets', drop: 'before' });
    await expect(subnets({ maxAttempts: 1 })).rejects.toThrow(/socket hang up|ECONNRESET/);
    const iam = new IAMClient({ ...emulator().clientOptions, maxAttempts: 1 });
    const create = () => iam.send(new CreateRoleCommand({ RoleName: 'r', AssumeRolePolicyDocument: '{}' }));
    emulator().control.addFault({ action: 'CreateRole', drop: 'after' });
    await expect(create()).rejects.toThrow(/socket hang up|ECONNRESET/);
    await expect(create()).rejects.toMatchObject({ name: 'EntityAlreadyExistsException' });
  });

  test('a late answer is still the true one; a hanging one never comes', async () => {
    emulator().control.addFault({ action: 'DescribeSubnets', delayMs: 200 });
    const started = Date.now();
    expect((await subnets()).Subnets?.length).toBeGreaterThan(0);
    expect(Date.now() - started).toBeGreaterThanOrEqual(195);
    emulator().control.addFault({ action: 'DescribeSubnets', hang: true });
    const impatient = { maxAttempts: 1, requestHandler: { requestTimeout: 300, throwOnRequestTimeout: true } };
    await expect(subnets(impatient)).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  test('a fault may wait for a later call, and look for a text in the request', async () => {
    emulator().control.addFault({ action: 'DescribeSubnets', after: 1, code: 'InternalError', status: 400 });
    await subnets();
    await expect(subnets()).rejects.toMatchObject({ name: 'InternalError' });
    emulator().control.addFault({
      action: 'DescribeSubnets',
      bodyContains: 'tag:x',
      code: 'InternalError',
      status: 400,
    });
    await subnets();
    const ec2 = new EC2Client(emulator().clientOptions);
    const filtered = ec2.send(new DescribeSubnetsCommand({ Filters: [{ Name: 'tag:x', Values: ['y'] }] }));
    await expect(filtered).rejects.toMatchObject({ name: 'InternalError' });
  });

  test('what moto cannot do is said at once, and not tried again', async () => {
    const ec2 = new EC2Client(emulator().clientOptions);
    const command = new EnableImageDeprecationCommand({ ImageId: 'ami-1', DeprecateAt: new Date() });
    await expect(ec2.send(command)).rejects.toMatchObject({ name: 'MotoNotImplemented' });
    expect(attempts()).toBe(1);
  });

  test('a filter the emulator does not know is refused, not ignored', async () => {
    const ec2 = new EC2Client(emulator().clientOptions);
    const command = new DescribeInstanceTypesCommand({ Filters: [{ Name: 'no-such-filter', Values: ['x'] }] });
    await expect(ec2.send(command)).rejects.toThrow("The filter 'no-such-filter' is invalid");
  });
});

suite('the control path', () => {
  const post = async (name: string, argument?: unknown) => {
    const body = argument === undefined ? '' : JSON.stringify(argument);
    const answer = await request(`${emulator().url}/_kerf/${name}`, { method: 'POST', body });
    return { status: answer.statusCode, body: await answer.body.json() };
  };

  test('does what the methods do', async () => {
    await post('setParameter', { name: '/aws/service/x', value: 'ami-1' });
    const ssm = new SSMClient(emulator().clientOptions);
    const { Parameter } = await ssm.send(new GetParameterCommand({ Name: '/aws/service/x' }));
    expect(Parameter?.Value).toBe('ami-1');
    expect((await post('calls')).body).toMatchObject([{ service: 'ssm', action: 'GetParameter', status: 200 }]);
  });

  test('names the known controls when asked for another', async () => {
    const answer = await post('explode');
    expect(answer.status).toBe(404);
    expect(JSON.stringify(answer.body)).toContain('addFault');
  });
});

suite('SSM', () => {
  const get = async (Name: string): Promise<string | undefined> => {
    const ssm = new SSMClient(emulator().clientOptions);
    return (await ssm.send(new GetParameterCommand({ Name }))).Parameter?.Value;
  };

  test('every family of every version has its public parameter, and the image it names exists', async () => {
    const images = new Set(
      emulator()
        .control.images()
        .map(({ imageId }) => imageId),
    );
    const folder = '/aws/service/eks/optimized-ami/1.36';
    for (const name of [
      `${folder}/amazon-linux-2/recommended/image_id`,
      `${folder}/amazon-linux-2-arm64/amazon-eks-arm64-node-1.36-v20260110/image_id`,
      `${folder}/amazon-linux-2-gpu/recommended/image_id`,
      `${folder}/amazon-linux-2023/x86_64/neuron/recommended/image_id`,
      `${folder}/amazon-linux-2023/arm64/nvidia/amazon-eks-node-al2023-arm64-nvidia-1.36-v20260110/image_id`,
      '/aws/service/bottlerocket/aws-k8s-1.30/arm64/latest/image_id',
      '/aws/service/bottlerocket/aws-k8s-1.30-nvidia/x86_64/1.52.0/image_id',
      '/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.33/image_id',
    ]) {
      expect({ name, exists: images.has((await get(name)) ?? '') }).toEqual({ name, exists: true });
    }
    expect(await get(`arn:aws:ssm:us-east-1::parameter${folder}/amazon-linux-2/recommended/image_id`)).toBe(
      await get(`${folder}/amazon-linux-2/recommended/image_id`),
    );
  });

  test('an unknown public name is not found; own names live in moto', async () => {
    await expect(get('/aws/service/eks/optimized-ami/0.9/x/image_id')).rejects.toMatchObject({
      name: 'ParameterNotFound',
    });
    const ssm = new SSMClient(emulator().clientOptions);
    await ssm.send(new PutParameterCommand({ Name: '/mine/ami', Value: 'ami-2', Type: 'String' }));
    expect(await get('/mine/ami')).toBe('ami-2');
  });
});

test('Pricing gives on-demand prices in pages, bare metal under its own family', async () => {
  const pricing = new PricingClient(emulator().clientOptions);
  const products = async (tenancy: string, productFamily: string): Promise<Map<string, string>> => {
    const fields = {
      regionCode: 'us-east-1',
      serviceCode: 'AmazonEC2',
      preInstalledSw: 'NA',
      operatingSystem: 'Linux',
      capacitystatus: 'Used',
      marketoption: 'OnDemand',
      tenancy,
      productFamily,
    };
    const Filters = Object.entries(fields).map(([Field, Value]) => ({ Type: 'TERM_MATCH' as const, Field, Value }));
    const found = new Map<string, string>();
    let NextToken: string | undefined;
    do {
      const page = await pricing.send(
        new GetProductsCommand({ ServiceCode: 'AmazonEC2', Filters, MaxResults: 100, ...(NextToken && { NextToken }) }),
      );
      for (const text of page.PriceList ?? []) {
        const { product, terms } = JSON.parse(String(text)) as {
          product: { attributes: { instanceType: string } };
          terms: { OnDemand: Record<string, { priceDimensions: Record<string, { pricePerUnit: { USD: string } }> }> };
        };
        const [term] = Object.values(terms.OnDemand);
        const [dimension] = Object.values(term?.priceDimensions ?? {});
        found.set(product.attributes.instanceType, dimension?.pricePerUnit.USD ?? '');
      }
      NextToken = page.NextToken;
    } while (NextToken !== undefined);
    return found;
  };
  const shared = await products('Shared', 'Compute Instance');
  const metal = await products('Dedicated', 'Compute Instance (bare metal)');
  expect(shared.size).toBeGreaterThan(1000);
  expect(Number(shared.get('m5.large'))).toBe(0.096);
  expect(shared.has('m5.metal')).toBe(false);
  expect(Number(metal.get('m5.metal'))).toBeGreaterThan(1);
});

suite('IAM', () => {
  test('lists profiles under a path only, in pages', async () => {
    const iam = new IAMClient(emulator().clientOptions);
    for (const [Path, count] of [
      ['/karpenter/us-east-1/a/', 3],
      ['/karpenter/us-east-1/b/', 1],
    ] as const) {
      for (let index = 0; index < count; index += 1) {
        const InstanceProfileName = `${Path.replaceAll('/', '-')}${index}`;
        await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName, Path }));
      }
    }
    const names: (string | undefined)[] = [];
    const input = { PathPrefix: '/karpenter/us-east-1/a/' };
    let pages = 0;
    for await (const page of paginateListInstanceProfiles({ client: iam, pageSize: 2 }, input)) {
      pages += 1;
      names.push(...(page.InstanceProfiles ?? []).map(({ InstanceProfileName }) => InstanceProfileName));
    }
    expect(names).toEqual(['-karpenter-us-east-1-a-0', '-karpenter-us-east-1-a-1', '-karpenter-us-east-1-a-2']);
    expect(pages).toBe(2);
    const all = await iam.send(new ListInstanceProfilesCommand({}));
    expect(all.InstanceProfiles).toHaveLength(4);
  });

  test('removing a role that is not in the profile is NoSuchEntity', async () => {
    const iam = new IAMClient(emulator().clientOptions);
    await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName: 'p' }));
    const remove = new RemoveRoleFromInstanceProfileCommand({ InstanceProfileName: 'p', RoleName: 'r' });
    await expect(iam.send(remove)).rejects.toMatchObject({ name: 'NoSuchEntityException' });
  });
});

test('EKS describes a cluster with the endpoint, authority and addresses a test set', async () => {
  const eks = new EKSClient(emulator().clientOptions);
  const network = { subnetIds: ['subnet-1'] };
  const roleArn = 'arn:aws:iam::123456789012:role/r';
  await eks.send(new CreateClusterCommand({ name: 'c', version: '1.36', roleArn, resourcesVpcConfig: network }));
  emulator().control.setCluster({
    name: 'c',
    endpoint: 'https://127.0.0.1:1',
    certificateAuthority: { data: 'Q0E=' },
    kubernetesNetworkConfig: { ipFamily: 'ipv6', serviceIpv6Cidr: 'fd00::/108' },
  });
  const { cluster } = await eks.send(new DescribeClusterCommand({ name: 'c' }));
  expect(cluster).toMatchObject({
    version: '1.36',
    status: 'ACTIVE',
    endpoint: 'https://127.0.0.1:1',
    certificateAuthority: { data: 'Q0E=' },
    kubernetesNetworkConfig: { serviceIpv6Cidr: 'fd00::/108' },
  });
  const absent = eks.send(new DescribeClusterCommand({ name: 'absent' }));
  await expect(absent).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
});

test('zonal shifts of a managed resource are those a test set', async () => {
  emulator().control.setZonalShifts([{ awayFromZoneId: 'use1-az1', expiresAt: '2030-01-01T00:00:00Z' }]);
  const arn = 'arn:aws:eks:us-east-1:123456789012:cluster/c';
  const answer = await request(`${emulator().url}/managedresources/${encodeURIComponent(arn)}`, {
    headers: { authorization: 'AWS4-HMAC-SHA256 Credential=t/20260101/us-east-1/arc-zonal-shift/aws4_request' },
  });
  expect(await answer.body.json()).toMatchObject({
    arn,
    zonalShifts: [{ awayFrom: 'use1-az1', appliedStatus: 'APPLIED', expiryTime: 1_893_456_000 }],
  });
});

test('an interruption arrives in the queue in EventBridge’s envelope, and is gone once deleted', async () => {
  const sqs = new SQSClient(emulator().clientOptions);
  await sqs.send(new CreateQueueCommand({ QueueName: 'events' }));
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: 'events' }));
  expect(QueueUrl?.startsWith(emulator().url)).toBe(true);
  const receive = () =>
    sqs.send(
      new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1, MessageSystemAttributeNames: ['SentTimestamp'] }),
    );
  await emulator().control.interrupt({ queue: 'events', event: { kind: 'spot-interruption', instanceId: 'i-1' } });
  const { Messages: [message] = [] } = await receive();
  expect(JSON.parse(message?.Body ?? '')).toMatchObject({
    version: '0',
    source: 'aws.ec2',
    'detail-type': 'EC2 Spot Instance Interruption Warning',
    region: 'us-east-1',
    resources: ['arn:aws:ec2:us-east-1:123456789012:instance/i-1'],
    detail: { 'instance-id': 'i-1', 'instance-action': 'terminate' },
  });
  expect(message?.Attributes?.['SentTimestamp']).toMatch(/^\d+$/);
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message?.ReceiptHandle }));
  expect((await receive()).Messages).toBeUndefined();
  await expect(emulator().control.interrupt({ queue: 'absent', body: '' })).rejects.toThrow('queue absent');
});

test('STS says who is calling', async () => {
  const sts = new STSClient(emulator().clientOptions);
  expect((await sts.send(new GetCallerIdentityCommand({}))).Account).toBe('123456789012');
});

test('two emulators are two accounts, and one that was stopped leaves nothing', async () => {
  const other = await startAwsEmulator();
  try {
    await new IAMClient(other.clientOptions).send(new CreateInstanceProfileCommand({ InstanceProfileName: 'theirs' }));
    const ours = await new IAMClient(emulator().clientOptions).send(new ListInstanceProfilesCommand({}));
    expect(ours.InstanceProfiles).toEqual([]);
  } finally {
    await other.stop();
  }
  expect(existsSync(other.logs)).toBe(false);
  await expect(request(other.url)).rejects.toThrow('ECONNREFUSED');
});
