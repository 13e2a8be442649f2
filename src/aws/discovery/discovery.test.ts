import { EKSClient } from '@aws-sdk/client-eks';
import { beforeEach, describe, expect, test } from 'vitest';
import { recordedLog } from '../../controllers/testing/records.testing.ts';
import { type Kube, KubeError } from '../../ports/index.ts';
import { awsRefusal, fakeEc2 } from '../fake-client.testing.ts';
import {
  checkEc2,
  type EksCluster,
  eksCluster,
  findCaBundle,
  findClusterDns,
  findEndpoint,
  findServiceCidr,
} from './cluster.ts';
import { KubernetesVersion } from './kubernetes-version.ts';

let log = recordedLog();
beforeEach(() => {
  log = recordedLog();
});

describe('the check of EC2', () => {
  const check = (answer: () => unknown) => checkEc2(fakeEc2({ DescribeInstanceTypes: answer }).client);

  test('passes when the dry run would have worked', async () => {
    await check(() => {
      throw awsRefusal('DryRunOperation', 'would have', 412);
    });
  });

  test.each(['UnauthorizedOperation', 'AuthFailure'])('fails on %s and says what to check', async (code) => {
    const refused = check(() => {
      throw awsRefusal(code);
    });
    await expect(refused).rejects.toThrow(new RegExp(`${code}.*check the region, the credentials`));
  });

  test('names the identity that EC2 refuses, where there is an answer of EC2', async () => {
    const { client } = fakeEc2({
      DescribeInstanceTypes: () => {
        throw awsRefusal('UnauthorizedOperation', 'no', 403);
      },
    });
    await expect(checkEc2(client, async () => 'arn:aws:sts::1:assumed-role/x')).rejects.toThrow(
      /cannot work with EC2 as arn:aws:sts::1:assumed-role\/x/,
    );
  });

  test('promises nothing about a next call: there is none', async () => {
    const missing = new Error(
      'none found: set AWS_PROFILE; they are looked for again at the next call, no restart is needed',
    );
    const refused = check(() => {
      throw missing;
    });
    await expect(refused).rejects.toThrow(/none found: set AWS_PROFILE; check the region/);
  });

  test('fails when the dry run is carried out', async () => {
    await expect(check(() => ({ InstanceTypes: [] }))).rejects.toThrow(/dry run was not recognised/);
  });
});

const cluster = (fields: object, asked = { times: 0 }): EksCluster => ({
  async describe() {
    asked.times += 1;
    return { name: 'one', ...fields };
  },
});

describe('the endpoint', () => {
  test('is the setting, without asking EKS', async () => {
    const asked = { times: 0 };
    expect(await findEndpoint('https://set', cluster({ endpoint: 'https://eks' }, asked))).toBe('https://set');
    expect(asked.times).toBe(0);
  });

  test('else what DescribeCluster says', async () => {
    expect(await findEndpoint('', cluster({ endpoint: 'https://eks' }))).toBe('https://eks');
  });

  test('a failure of DescribeCluster goes on to whoever asked', async () => {
    const eks = new EKSClient({ region: 'us-west-2' });
    eks.send = () => Promise.reject(awsRefusal('ResourceNotFoundException', 'No cluster found for name: one.', 404));
    await expect(findEndpoint('', eksCluster(eks, 'one'))).rejects.toThrow(
      /cannot describe EKS cluster one: ResourceNotFoundException: No cluster found.*allow eks:DescribeCluster/,
    );
  });
});

test('the authority is the setting, else our own in base64', () => {
  expect(findCaBundle('c2V0', 'own')).toBe('c2V0');
  expect(findCaBundle('', 'own')).toBe(Buffer.from('own').toString('base64'));
  expect(findCaBundle('', undefined)).toBeUndefined();
});

describe('the cluster DNS', () => {
  const find = (get: () => Promise<unknown>) => findClusterDns({ get } as unknown as Kube, log);
  test.each([
    ['10.100.0.10', { address: '10.100.0.10', ipFamily: 'ipv4' }],
    ['fd4b:121b:812b::a', { address: 'fd4b:121b:812b::a', ipFamily: 'ipv6' }],
    ['None', { ipFamily: 'ipv4' }],
  ])('kube-dns at %s', async (clusterIP, expected) => {
    expect(await find(async () => ({ spec: { clusterIP } }))).toEqual(expected);
  });

  test('without kube-dns none is set and IPv4 is assumed', async () => {
    const missing = new KubeError({ status: 404, reason: 'NotFound', message: 'not found' });
    expect(await find(() => Promise.reject(missing))).toEqual({ ipFamily: 'ipv4' });
    expect(log.lines).toEqual([]);
  });
});

test('the service range is that of IPv4, or of IPv6 where there is no other', async () => {
  const of = (network: object) => findServiceCidr(cluster({ kubernetesNetworkConfig: network }));
  expect(await of({ serviceIpv4Cidr: '10.100.0.0/16' })).toBe('10.100.0.0/16');
  expect(await of({ ipFamily: 'ipv6', serviceIpv6Cidr: 'fd00::/108' })).toBe('fd00::/108');
  expect(await of({})).toBeUndefined();
});

describe('the Kubernetes version', () => {
  test.each([
    ['v1.33.4-eks-abc', '1.33'],
    ['1.34+', '1.34'],
    ['1.27', '1.27'],
  ])('%s is %s', async (answer, expected) => {
    const version = new KubernetesVersion(async () => answer, log);
    await version.refresh();
    expect(version.current).toBe(expected);
  });

  test('outside 1.26 to 1.37 it is reported once', async () => {
    let answer = '1.25';
    const version = new KubernetesVersion(async () => answer, log);
    await version.refresh();
    await version.refresh();
    const complaints = () => log.lines.filter(({ message }) => message.includes('not supported'));
    expect(complaints()).toHaveLength(1);
    answer = '1.37';
    await version.refresh();
    expect(complaints()).toHaveLength(1);
    answer = '1.38';
    await version.refresh();
    expect(complaints()).toHaveLength(2);
    expect(version.current).toBe('1.38');
  });

  test('stays while it cannot be asked, and is an error before it ever was', async () => {
    const answers = ['1.33'];
    const version = new KubernetesVersion(async () => {
      const answer = answers.shift();
      if (answer === undefined) throw new Error('away');
      return answer;
    }, log);
    expect(() => version.current).toThrow(/not known yet/);
    await version.refresh();
    await expect(version.refresh()).rejects.toThrow('away');
    expect(version.current).toBe('1.33');
  });
});
