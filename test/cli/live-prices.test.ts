// `kerf plan --live-prices`: the prices are those that AWS gives now, from a stand-in for its endpoints.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ec2Error, startAwsServer } from '../../src/aws/clients/aws-server.testing.ts';
import { runKerf } from './run-kerf.ts';

let aws: Awaited<ReturnType<typeof startAwsServer>>;
let isRefusing = false;

const product = (instanceType: string, price: string): string =>
  JSON.stringify({
    product: { attributes: { instanceType } },
    terms: { OnDemand: { t: { priceDimensions: { d: { pricePerUnit: { USD: price } } } } } },
  });
const spotItem = (type: string, zone: string, price: string): string =>
  `<item><instanceType>${type}</instanceType><availabilityZone>${zone}</availabilityZone><spotPrice>${price}</spotPrice><timestamp>2026-01-01T00:00:00.000Z</timestamp></item>`;

const deniedList = {
  status: 400,
  body: JSON.stringify({ __type: 'AccessDeniedException', message: 'nor for you' }),
  headers: { 'content-type': 'application/x-amz-json-1.1' },
};

beforeAll(async () => {
  aws = await startAwsServer(({ headers, body }) => {
    const isPriceList = String(headers['x-amz-target'] ?? '').includes('GetProducts');
    if (isRefusing) return isPriceList ? deniedList : ec2Error('UnauthorizedOperation', 403, 'not for you');
    if (isPriceList) {
      const list = body.includes('bare metal') ? [product('m5.metal', '9')] : [product('m5.large', '0.222')];
      return {
        status: 200,
        body: JSON.stringify({ PriceList: list }),
        headers: { 'content-type': 'application/x-amz-json-1.1' },
      };
    }
    const items = ['eu-north-1a', 'eu-north-1b'].map((zone) => spotItem('m5.large', zone, '0.0123')).join('');
    return {
      status: 200,
      body: `<DescribeSpotPriceHistoryResponse><requestId>r</requestId><spotPriceHistorySet>${items}</spotPriceHistorySet></DescribeSpotPriceHistoryResponse>`,
    };
  });
});
afterAll(() => aws.close());

const manifests = (capacityType: string): string =>
  JSON.stringify([
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'default' },
      spec: {
        template: {
          spec: {
            nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
            requirements: [
              { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['m5.large'] },
              { key: 'karpenter.sh/capacity-type', operator: 'In', values: [capacityType] },
            ],
          },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', namespace: 'default' },
      spec: { containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: '1' } } }] },
    },
  ]);

const plan = (capacityType: string) =>
  runKerf(['plan', '-f', '-', '--zones', 'eu-north-1a,eu-north-1b', '--live-prices', '-o', 'json'], {
    stdin: manifests(capacityType),
    env: {
      AWS_ENDPOINT_URL: aws.url,
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_EC2_METADATA_DISABLED: 'true',
    },
  });
const priceOf = (out: string): number =>
  (JSON.parse(out) as { newNodes: { chosen: { pricePerHour: number } }[] }).newNodes[0]?.chosen.pricePerHour ?? 0;

test('on-demand and spot prices are those of the region, for a region that none are built in for', async () => {
  const onDemand = await plan('on-demand');
  expect(onDemand.err).toContain('note: prices are those AWS gave just now for eu-north-1');
  expect(onDemand.err).not.toContain('stand in');
  expect(priceOf(onDemand.out)).toBe(0.222);
  expect(priceOf((await plan('spot')).out)).toBe(0.0123);
});

test('prices that cannot be read are an error that says what to do, and no plan', async () => {
  isRefusing = true;
  const { code, out, err } = await plan('spot');
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(
    /cannot read the prices of eu-north-1 from AWS: .*nor for you; not for you; leave out --live-prices/,
  );
});

test('the flag has no effect on simulated nodes, and that is said', async () => {
  const { code, err } = await runKerf(['plan', '-f', 'examples/plan/stateful.yaml', '--live-prices']);
  expect(code).toBe(0);
  expect(err).toContain('note: --live-prices has no effect: the NodePools are not of AWS');
});

test('a region that the subnets given are not in is a wrong flag, not a plan without types', async () => {
  const { code, out, err } = await runKerf([
    'plan',
    '-f',
    'examples/plan/mixed-sizes.yaml',
    '--region',
    'eu-central-1',
  ]);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain('--region eu-central-1: the subnets and nodes given are in us-east-1a, us-east-1b, us-east-1c');
});
