import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DescribeSubnetsCommand } from '@aws-sdk/client-ec2';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CertificateAuthority } from '../../../test/setup/control-plane/certificates.ts';
import { recordedMetrics } from '../../controllers/testing/records.testing.ts';
import { RealClock } from '../../runtime/index.ts';
import { type AwsClients, createAwsClients } from '../index.ts';
import { type Answer, type Asked, ec2Error, noSubnets, startAwsServer } from './aws-server.testing.ts';
import { discoverRegion, pricingRegionOf } from './region.ts';

let server: Awaited<ReturnType<typeof startAwsServer>>;
let answers: (asked: Asked, index: number) => Answer;
let clients: AwsClients | undefined;
let folder: string;
let metrics = recordedMetrics();
const keys = { accessKeyId: 'AKIAONE', secretAccessKey: 'secret' };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-aws-clients-'));
  metrics = recordedMetrics();
  answers = () => noSubnets;
  server = await startAwsServer((asked, index) => answers(asked, index));
  vi.stubEnv('AWS_ENDPOINT_URL', '');
  vi.stubEnv('AWS_ENDPOINT_URL_EC2', server.url);
});
afterEach(() => {
  clients?.destroy();
  server.close();
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
});

const open = async (lookUp?: () => Promise<typeof keys>): Promise<AwsClients> => {
  const lookUpCredentials = lookUp ?? (() => Promise.resolve(keys));
  const env = { ...process.env };
  clients = await createAwsClients({
    clock: new RealClock(),
    metrics,
    env,
    version: '9.9.9',
    region: 'eu-west-1',
    lookUpCredentials,
  });
  return clients;
};
const ask = async (of: AwsClients) => of.ec2.send(new DescribeSubnetsCommand({}));
const keyOf = ({ headers }: Asked): string => /Credential=([^/]+)/.exec(headers.authorization ?? '')?.[1] ?? '';

describe('a call', () => {
  test('goes to the endpoint of AWS_ENDPOINT_URL_EC2, signed for the region, with our user agent', async () => {
    await ask(await open());
    const [asked] = server.asked;
    expect(asked?.headers.authorization).toContain('/eu-west-1/ec2/aws4_request');
    expect(asked?.headers['user-agent']).toContain('karpenter.sh-9.9.9');
  });

  test('is counted once, with its attempts and retries, by service, action and code', async () => {
    answers = (_, index) => (index < 2 ? ec2Error('RequestLimitExceeded', 503) : noSubnets);
    await ask(await open());
    const of = { service: 'EC2', action: 'DescribeSubnets' };
    expect(metrics.value('aws_sdk_go_request_total', { ...of, code: '200' })).toBe(1);
    expect(metrics.value('aws_sdk_go_request_retry_count', { ...of, code: '200' })).toBe(2);
    expect(metrics.value('aws_sdk_go_request_attempt_total', { ...of, code: '503' })).toBe(2);
    expect(metrics.value('aws_sdk_go_request_attempt_total', { ...of, code: '200' })).toBe(1);
  });

  test('that AWS keeps throttling fails after three attempts with the name AWS gave', async () => {
    answers = () => ec2Error('RequestLimitExceeded', 503);
    await expect(ask(await open())).rejects.toMatchObject({ name: 'RequestLimitExceeded' });
    expect(server.asked).toHaveLength(3);
  });

  test('without an answer is counted with code 0', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_EC2', 'http://127.0.0.1:9');
    await expect(ask(await open())).rejects.toThrow();
    expect(metrics.value('aws_sdk_go_request_total', { service: 'EC2', code: '0' })).toBeGreaterThan(0);
  });
});

describe('the other end of a connection', () => {
  const authority = new CertificateAuthority('private');
  const openSecure = async (): Promise<Awaited<ReturnType<typeof startAwsServer>>> => {
    const { certPem: cert, keyPem: key } = authority.issue({ commonName: 'aws', names: ['127.0.0.1'] });
    const secure = await startAwsServer(() => noSubnets, { cert, key });
    vi.stubEnv('AWS_ENDPOINT_URL_EC2', secure.url);
    return secure;
  };

  test('must prove who it is, also where the environment turns that off', async () => {
    const secure = await openSecure();
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    await expect(ask(await open())).rejects.toMatchObject({ code: expect.stringMatching(/CERT|SIGNATURE/) });
    expect(secure.asked).toEqual([]);
    secure.close();
  });

  test('may prove it by the authority of AWS_CA_BUNDLE', async () => {
    const secure = await openSecure();
    const bundle = join(folder, 'ca.pem');
    writeFileSync(bundle, authority.certPem);
    vi.stubEnv('AWS_CA_BUNDLE', bundle);
    await ask(await open());
    expect(secure.asked).toHaveLength(1);
    secure.close();
  });

  test('is not looked for while the authority cannot be read', async () => {
    vi.stubEnv('AWS_CA_BUNDLE', join(folder, 'none.pem'));
    await expect(open()).rejects.toThrow(/cannot read AWS_CA_BUNDLE .*none\.pem/);
  });
});

describe('credentials', () => {
  test('that AWS refuses are looked up again, and the call succeeds with the new ones', async () => {
    answers = (asked) => (keyOf(asked) === 'AKIAONE' ? ec2Error('RequestExpired', 400) : noSubnets);
    let lookUps = 0;
    const of = await open(() => Promise.resolve({ ...keys, accessKeyId: lookUps++ === 0 ? 'AKIAONE' : 'AKIATWO' }));
    await ask(of);
    expect(server.asked.map(keyOf)).toEqual(['AKIAONE', 'AKIATWO']);
    await ask(of);
    expect(server.asked.map(keyOf).at(-1)).toBe('AKIATWO');
    expect(lookUps).toBe(2);
  });

  test('that stay expired make an error that says what to do, and a renewed file is taken up without a restart', async () => {
    const file = join(folder, 'credentials');
    const write = (key: string): void =>
      writeFileSync(file, `[default]\naws_access_key_id = ${key}\naws_secret_access_key = s\naws_session_token = t\n`);
    write('AKIAOLD');
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE'])
      vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', file);
    vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'none'));
    answers = (asked) => (keyOf(asked) === 'AKIAOLD' ? ec2Error('ExpiredToken', 400, 'token is expired') : noSubnets);
    clients = await createAwsClients({
      clock: new RealClock(),
      metrics,
      env: { ...process.env },
      version: '1',
      region: 'eu-west-1',
    });
    const refused = await ask(clients).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: 'ExpiredToken' });
    expect(String(refused)).toMatch(/token is expired.*did not accept the credentials.*renew.*no restart is needed/);
    write('AKIANEW');
    await ask(clients);
    expect(server.asked.map(keyOf).at(-1)).toBe('AKIANEW');
  });

  test('are not blamed for an image that is not shared', async () => {
    answers = () => ec2Error('AuthFailure', 403, 'Not authorized for images: [ami-1]');
    const refused = await ask(await open()).catch((error: unknown) => error);
    expect(String(refused)).not.toMatch(/credentials/);
    expect(server.asked).toHaveLength(1);
  });

  test('that cannot be assumed name the subject, audience and issuer a trust policy has to accept', async () => {
    const token = join(folder, 'token');
    const payload = {
      sub: 'system:serviceaccount:kube-system:karpenter',
      aud: ['sts.amazonaws.com'],
      iss: 'https://o',
    };
    writeFileSync(token, `h.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.s`);
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', token);
    const denied = new Error('Not authorized to perform sts:AssumeRoleWithWebIdentity');
    denied.name = 'CredentialsProviderError';
    await expect(ask(await open(() => Promise.reject(denied)))).rejects.toThrow(
      /trust policy must accept subject system:serviceaccount:kube-system:karpenter, audience sts.amazonaws.com, issuer https:\/\/o/,
    );
  });
});

describe('the region', () => {
  test('is what the environment says', async () => {
    expect(await discoverRegion({ AWS_REGION: 'ap-southeast-2' })).toBe('ap-southeast-2');
  });

  test('comes from the instance metadata service when nothing is configured', async () => {
    for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE']) vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'none'));
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'none'));
    answers = ({ path, headers }) =>
      path === '/latest/api/token'
        ? { status: 200, body: 'secret-token' }
        : { status: headers['x-aws-ec2-metadata-token'] === 'secret-token' ? 200 : 401, body: 'us-west-2' };
    expect(await discoverRegion({ AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url })).toBe('us-west-2');
    await expect(discoverRegion({ AWS_EC2_METADATA_DISABLED: 'true' })).rejects.toThrow(/set AWS_REGION/);
  });

  test.each([
    ['us-west-2', 'us-east-1'],
    ['eu-north-1', 'eu-central-1'],
    ['ap-east-1', 'ap-south-1'],
    ['cn-north-1', 'cn-northwest-1'],
  ])('%s has its price list in %s', (region, where) => expect(pricingRegionOf(region)).toBe(where));
});

describe('zonal shifts', () => {
  const arn = 'arn:aws:eks:eu-west-1:123456789012:cluster/one';

  test('that are applied and not expired are read with one signed request', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_ARC_ZONAL_SHIFT', server.url);
    const soon = Date.now() / 1000 + 600;
    answers = () => ({
      status: 200,
      body: JSON.stringify({
        zonalShifts: [
          { appliedStatus: 'APPLIED', awayFrom: 'euw1-az1', expiryTime: soon },
          { appliedStatus: 'APPLIED', awayFrom: 'euw1-az2', expiryTime: 1_000 },
          { appliedStatus: 'NOT_APPLIED', awayFrom: 'euw1-az3', expiryTime: soon },
        ],
      }),
    });
    const shifts = await (await open()).zonalShift.appliedShifts(arn);
    expect(shifts.map(({ zoneId }) => zoneId)).toEqual(['euw1-az1']);
    expect(server.asked[0]?.path).toBe(`/managedresources/${encodeURIComponent(arn)}`);
    expect(server.asked[0]?.headers.authorization).toMatch(/AKIAONE\/\d+\/eu-west-1\/arc-zonal-shift\/aws4_request/);
  });

  test('that may not be read say which permission is missing', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_ARC_ZONAL_SHIFT', server.url);
    answers = () => ({ status: 403, body: '{}', headers: { 'x-amzn-errortype': 'AccessDeniedException:x' } });
    await expect((await open()).zonalShift.appliedShifts(arn)).rejects.toThrow(
      /AccessDeniedException.*arc-zonal-shift:GetManagedResource/,
    );
  });
});
