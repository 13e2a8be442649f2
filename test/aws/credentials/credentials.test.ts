// Where the provider takes its credentials from: every source of the SDK's default chain, served on loopback, in the
// chain's order; renewed before they end; and what is read where there are none. Which key a call was signed with is what
// the emulated EC2 saw.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate as settle } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DescribeSubnetsCommand } from '@aws-sdk/client-ec2';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AwsClients, callerOf, createAwsClients } from '../../../src/aws/index.ts';
import { VirtualClock } from '../../../src/base/index.ts';
import { recordedMetrics } from '../../../src/controllers/testing/records.testing.ts';
import { useAwsEmulator } from '../../setup/use-aws-emulator.ts';
import { type CredentialSources, podToken, ssoToken, startCredentialSources } from './credential-sources.ts';

const run = promisify(execFile);
const emulator = useAwsEmulator();
const minuteMs = 60_000;
let folder: string;
let sources: CredentialSources;
let clock: VirtualClock;
let clients: AwsClients | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-credentials-'));
  sources = await startCredentialSources();
  clock = new VirtualClock({ settle: () => settle(), startMs: Date.now() });
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
  vi.stubEnv('HOME', folder);
  vi.stubEnv('AWS_ENDPOINT_URL', emulator().url);
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  emulator().control.forgetCalls();
});
afterEach(() => {
  clients?.destroy();
  clients = undefined;
  sources.stop();
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
});

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};
const open = async (where: { region?: string } = { region: 'us-east-1' }): Promise<AwsClients> => {
  clients?.destroy();
  clients = await createAwsClients({
    clock,
    metrics: recordedMetrics(),
    env: process.env,
    version: 'test',
    ...where,
  });
  return clients;
};
/** The key with which EC2 was asked. */
const keyUsed = async (of: AwsClients): Promise<string> => {
  await of.ec2.send(new DescribeSubnetsCommand({ MaxResults: 5 }));
  return emulator().control.calls().at(-1)?.accessKeyId ?? '';
};
const stsCalls = () =>
  emulator()
    .control.calls()
    .map(({ action }) => action)
    .filter((action) => action.startsWith('AssumeRole'));

const given = {
  environment() {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAENV');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 's');
  },
  sharedFile(key = 'AKIAFILE') {
    file('.aws/credentials', `[default]\naws_access_key_id = ${key}\naws_secret_access_key = s\n`);
  },
  webIdentity() {
    const claims = {
      sub: 'system:serviceaccount:kube-system:karpenter',
      aud: ['sts.amazonaws.com'],
      iss: 'https://oidc',
    };
    const token = `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`;
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', file('irsa-token', token));
    vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::123456789012:role/controller');
  },
  podIdentity() {
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${sources.url}/pod-identity`);
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', file('pod-token', podToken));
  },
  instanceMetadata() {
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', undefined);
    vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', sources.url);
  },
};

describe('credentials are taken from', () => {
  test('the environment', async () => {
    given.environment();
    expect(await keyUsed(await open())).toBe('AKIAENV');
  });

  test('the shared files, of the profile that AWS_PROFILE names', async () => {
    given.sharedFile();
    expect(await keyUsed(await open())).toBe('AKIAFILE');
    file('.aws/config', '[profile other]\naws_access_key_id = AKIAOTHER\naws_secret_access_key = s\n');
    vi.stubEnv('AWS_PROFILE', 'other');
    expect(await keyUsed(await open())).toBe('AKIAOTHER');
  });

  test('a role that a profile assumes with the keys of another', async () => {
    given.sharedFile();
    const role = 'role_arn = arn:aws:iam::123456789012:role/operator\nsource_profile = default\n';
    file('.aws/config', `[profile admin]\n${role}`);
    vi.stubEnv('AWS_PROFILE', 'admin');
    expect(await keyUsed(await open())).toMatch(/^ASIA/);
    expect(stsCalls()).toEqual(['AssumeRole']);
  });

  test('SSO, with the token that a sign-in left in the cache', async () => {
    file(
      '.aws/config',
      [
        '[profile sso]',
        'sso_session = company',
        'sso_account_id = 123456789012',
        'sso_role_name = operator',
        '[sso-session company]',
        'sso_start_url = https://company.awsapps.com/start',
        'sso_region = eu-west-1',
      ].join('\n'),
    );
    const cached = createHash('sha1').update('company').digest('hex');
    const session = { accessToken: ssoToken, expiresAt: new Date(Date.now() + 60 * minuteMs).toISOString() };
    file(`.aws/sso/cache/${cached}.json`, JSON.stringify(session));
    vi.stubEnv('AWS_PROFILE', 'sso');
    vi.stubEnv('AWS_ENDPOINT_URL_SSO', sources.url);
    expect(await keyUsed(await open())).toBe('AKIASSO1');
    file(`.aws/sso/cache/${cached}.json`, JSON.stringify({ ...session, expiresAt: '2020-01-01T00:00:00Z' }));
    const refused = (await open()).ec2.send(new DescribeSubnetsCommand({}));
    await expect(refused).rejects.toThrow(/aws sso login/);
  });

  test('IAM roles for service accounts: the projected token buys a role at STS', async () => {
    given.webIdentity();
    expect(await keyUsed(await open())).toMatch(/^ASIA/);
    const [bought] = emulator().control.calls();
    expect(bought?.action).toBe('AssumeRoleWithWebIdentity');
    expect(decodeURIComponent(bought?.body ?? '')).toContain('role/controller');
  });

  test('EKS Pod Identity, showing the token that the file holds now', async () => {
    given.podIdentity();
    expect(await keyUsed(await open())).toBe('AKIAPOD1');
    sources.podToken = 'renewed';
    file('pod-token', 'renewed');
    expect(await keyUsed(await open())).toBe('AKIAPOD2');
  });

  test('the instance metadata service, and the region with them', async () => {
    given.instanceMetadata();
    const found = await open({});
    expect(found.region).toBe('us-west-2');
    expect(await keyUsed(found)).toBe('AKIAIMDS1');
  });
});

test('of several sources the first counts: environment, shared files, web identity, Pod Identity, instance metadata', async () => {
  for (const set of Object.values(given)) set();
  const order = [await keyUsed(await open())];
  vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
  order.push(await keyUsed(await open()));
  rmSync(join(folder, '.aws/credentials'));
  order.push(await keyUsed(await open()));
  vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', undefined);
  order.push(await keyUsed(await open()));
  vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', undefined);
  order.push(await keyUsed(await open()));
  expect(order).toEqual(['AKIAENV', 'AKIAFILE', expect.stringMatching(/^ASIA/) as string, 'AKIAPOD1', 'AKIAIMDS1']);
});

describe('credentials that end', () => {
  test('are kept until five minutes before, then renewed', async () => {
    given.podIdentity();
    sources.expiresAtMs = clock.now() + 60 * minuteMs;
    const found = await open();
    expect(await keyUsed(found)).toBe('AKIAPOD1');
    await clock.runFor(54 * minuteMs);
    expect(await keyUsed(found)).toBe('AKIAPOD1');
    sources.expiresAtMs = clock.now() + 120 * minuteMs;
    await clock.runFor(2 * minuteMs);
    expect([await keyUsed(found), await keyUsed(found)]).toEqual(['AKIAPOD2', 'AKIAPOD2']);
  });

  test('serve to their end while their source is out of order, and are renewed when it is back', async () => {
    given.podIdentity();
    sources.expiresAtMs = clock.now() + 60 * minuteMs;
    const found = await open();
    expect(await keyUsed(found)).toBe('AKIAPOD1');
    sources.works.pod = false;
    await clock.runFor(57 * minuteMs);
    expect(await keyUsed(found)).toBe('AKIAPOD1');
    await clock.runFor(4 * minuteMs);
    await expect(keyUsed(found)).rejects.toThrow(/no AWS credentials were found/);
    sources.works.pod = true;
    sources.expiresAtMs = clock.now() + 60 * minuteMs;
    await clock.runFor(minuteMs);
    expect(await keyUsed(found)).toMatch(/^AKIAPOD\d+$/);
  });

  test('many calls at once look them up once', async () => {
    given.podIdentity();
    const found = await open();
    await Promise.all(Array.from({ length: 10 }, () => keyUsed(found)));
    expect(sources.asked.pod).toBe(1);
  });
});

describe('without credentials', () => {
  test('the error says where they were looked for and what to do; they are taken up as soon as there are some', async () => {
    const found = await open();
    await expect(keyUsed(found)).rejects.toThrow(
      /no AWS credentials were found .*environment.*profile.*Web identity.*Pod Identity association.*no restart is needed/,
    );
    given.sharedFile('AKIALATE');
    await clock.runFor(2_000);
    expect(await keyUsed(found)).toBe('AKIALATE');
  });

  test('the controller ends at once and prints it', async () => {
    const kubeconfig = file(
      'kubeconfig',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'nowhere',
        contexts: [{ name: 'nowhere', context: { cluster: 'nowhere', user: 'nobody' } }],
        clusters: [{ name: 'nowhere', cluster: { server: 'http://127.0.0.1:9' } }],
        users: [{ name: 'nobody', user: {} }],
      }),
    );
    const args = ['bin/kerf', 'controller', '--kubeconfig', kubeconfig, '--cluster-name', 'demo'];
    const env = { PATH: process.env['PATH'], HOME: folder, AWS_REGION: 'us-east-1', AWS_EC2_METADATA_DISABLED: 'true' };
    const ended = await run(process.execPath, args, { env }).catch((error: unknown) => error);
    expect(ended).toMatchObject({ code: 1 });
    const { stderr } = ended as { stderr: string };
    expect(stderr).toMatch(/cannot work with EC2: .*no AWS credentials were found/);
    expect(stderr).not.toContain('no restart is needed');
  });

  test('a Pod Identity agent that knows no association is named', async () => {
    given.podIdentity();
    sources.works.pod = false;
    await expect(keyUsed(await open())).rejects.toThrow(/no AWS credentials were found .*\/pod-identity .*gave none/);
  });

  test('a trust policy that does not fit is reported with the subject, audience and issuer it must accept', async () => {
    given.webIdentity();
    emulator().control.addFault({
      action: 'AssumeRoleWithWebIdentity',
      code: 'AccessDenied',
      status: 403,
      message: 'Not authorized to perform sts:AssumeRoleWithWebIdentity',
    });
    const found = await open();
    await expect(keyUsed(found)).rejects.toThrow(
      /must accept subject system:serviceaccount:kube-system:karpenter, audience sts.amazonaws.com, issuer https:\/\/oidc/,
    );
    await clock.runFor(2_000);
    expect(await keyUsed(found)).toMatch(/^ASIA/);
  });
});

test('STS tells who we are; when it does not, nothing stops', async () => {
  given.environment();
  const found = await open();
  expect(await callerOf(found.sts)).toMatch(/^arn:aws:sts::\d+:/);
  emulator().control.addFault({ action: 'GetCallerIdentity', code: 'AccessDenied', status: 403 });
  expect(await callerOf(found.sts)).toBeUndefined();
});
