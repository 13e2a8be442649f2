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

beforeAll(async () => {
  aws = await startAwsServer(({ headers, body }) => {
    if (isRefusing) return ec2Error('UnauthorizedOperation', 403, 'not for you');
    if (String(headers['x-amz-target'] ?? '').includes('GetProducts')) {
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
  expect(err).toMatch(/cannot read the prices of eu-north-1 from AWS: .*leave out --live-prices/);
});
