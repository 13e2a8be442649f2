// What `kerf preflight` finds by asking the account: nodes of an emulated EC2 that Karpenter left, and classes whose
// selectors find the same as before, or something else.
import { CreateSecurityGroupCommand, CreateTagsCommand, TerminateInstancesCommand } from '@aws-sdk/client-ec2';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { awsAnnotation, label, type NodeClaim } from '../../../src/api/index.ts';
import { instanceIdOf } from '../../../src/aws/instances/provider-id.ts';
import { type AccountQuestion, lookAtAccount } from '../../../src/cli/preflight/account.ts';
import type { PreflightObject } from '../../../src/cli/preflight/input.ts';
import { parseSettings } from '../../../src/server/index.ts';
import { useAwsEmulator } from '../../setup/use-aws-emulator.ts';
import { among, cheap, claimFor, type LaunchAccount, launchAccount } from '../launch/launch-account.ts';

const emulator = useAwsEmulator();
let account: LaunchAccount;
let claims: NodeClaim[] = [];
const intel = [among(label.instanceType, 'm5.large'), ...cheap.slice(1)];

beforeEach(async () => {
  await emulator().control.reset();
  account = await launchAccount(emulator(), {
    securityGroupSelectorTerms: [{ tags: { team: 'a' } }],
    subnetSelectorTerms: [{ tags: { team: 'a' } }],
  });
  await tag(account.groupId, ...account.subnets.map(({ SubnetId = '' }) => SubnetId));
  await account.setClass({});
  claims = [];
  for (const name of ['one', 'two']) {
    const claim = claimFor(name, intel);
    const { providerID, labels, imageID } = await account.cloud.create(claim);
    const annotations = account.nodeClass().metadata.annotations ?? {};
    claims.push({
      ...claim,
      metadata: { ...claim.metadata, labels: { ...claim.metadata.labels, ...labels }, annotations },
      status: { providerID, ...(imageID === undefined ? {} : { imageID }) },
    });
  }
  account.control.forgetCalls();
});
afterEach(() => account.stop());

const tag = (...ids: string[]) =>
  account.ec2.send(new CreateTagsCommand({ Resources: ids, Tags: [{ Key: 'team', Value: 'a' }] }));

function look(change: Partial<AccountQuestion> = {}) {
  const nodeClass = { apiVersion: 'karpenter.k8s.aws/v1', kind: 'EC2NodeClass', ...account.nodeClass() };
  const nodeClaims = claims.map((claim) => ({ apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', ...claim }));
  const { accessKeyId, secretAccessKey } = emulator().clientOptions.credentials;
  process.env['AWS_ACCESS_KEY_ID'] = accessKeyId;
  process.env['AWS_SECRET_ACCESS_KEY'] = secretAccessKey;
  return lookAtAccount({
    env: process.env,
    region: 'us-east-1',
    clusterName: 'demo',
    objects: [nodeClass, ...nodeClaims],
    known: new Set(),
    kubernetesVersion: 'v1.34.2',
    settings: parseSettings({}, {}).settings,
    ...change,
  });
}

test('an account that is as the classes say makes nothing drift, and only reads are sent', async () => {
  expect(await look()).toEqual({ drift: [], findings: [], notChecked: [] });
  const actions = [...new Set(account.control.calls().map(({ action }) => action))];
  expect(actions).toContain('DescribeSubnets');
  expect(actions.filter((action) => !/^(Describe|Get)/.test(action))).toEqual([]);
});

test('a security group that Kerf finds and the status does not say counts against the switch', async () => {
  const { GroupId = '' } = await account.ec2.send(
    new CreateSecurityGroupCommand({ GroupName: 'more', Description: 'x', VpcId: account.subnets[0]?.VpcId }),
  );
  await tag(GroupId);
  const more = await look();
  expect(more.drift).toEqual(
    ['one', 'two'].map((nodeClaim) => ({
      nodeClaim,
      nodePool: 'default',
      reason: 'SecurityGroupDrift',
      fields: [],
      isKnown: false,
    })),
  );
  expect(more.findings).toEqual([
    expect.objectContaining({
      about: 'EC2NodeClass default',
      text: expect.stringMatching(
        `security groups: its status says ${account.groupId}, Kerf finds .*${GroupId}`,
      ) as string,
    }),
  ]);
});

test('an image that was published since is drift by the image', async () => {
  const path = '/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id';
  const old = account.control.images().find(({ name }) => name.includes('al2023-x86_64-standard-1.34-v20260110'));
  account.control.setParameter({ name: path, value: old?.imageId ?? '' });
  const { drift, findings } = await look();
  expect(drift.map(({ reason, isKnown }) => [reason, isKnown])).toEqual([
    ['AMIDrift', false],
    ['AMIDrift', false],
  ]);
  expect(findings[0]?.text).toMatch(/^images: its status says .*, Kerf finds /);
});

test('what the status of the class says already is not the doing of the switch', async () => {
  const [first, second] = claims;
  if (first === undefined || second === undefined) throw new Error('no claims');
  claims = [{ ...first, status: { ...first.status, imageID: 'ami-older' } }, second];
  expect((await look()).drift).toMatchObject([{ nodeClaim: 'one', reason: 'AMIDrift', isKnown: true }]);
});

test('a machine that is gone, or a class whose hash says so already, is not taken for drift of the account', async () => {
  const [first, second] = claims;
  if (first === undefined || second === undefined) throw new Error('no claims');
  const id = instanceIdOf(first.status?.providerID ?? '') ?? '';
  await account.ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
  const annotations = { ...second.metadata.annotations, [awsAnnotation.nodeClassHash]: '1' };
  claims = [first, { ...second, metadata: { ...second.metadata, annotations } }];
  const found = await look({ known: new Set(['two']) });
  expect(found.drift).toEqual([]);
  expect(found.notChecked).toEqual([expect.stringContaining(`NodeClaim one: `)]);
});

test('a selector that finds nothing is said with its condition', async () => {
  const missing = { subnetSelectorTerms: [{ tags: { team: 'nobody' } }] };
  const nodeClass = account.nodeClass();
  const changed = {
    ...nodeClass,
    metadata: { ...nodeClass.metadata, generation: 9 },
    spec: { ...nodeClass.spec, ...missing },
  };
  const object = { apiVersion: 'karpenter.k8s.aws/v1', kind: 'EC2NodeClass', ...changed };
  const { findings, drift } = await look({ objects: [object] as unknown as PreflightObject[] });
  expect(drift).toEqual([]);
  expect(findings.map(({ text }) => text)).toEqual(
    expect.arrayContaining([expect.stringContaining('SubnetSelector did not match any Subnets')]),
  );
});

test('without a name of the cluster, credentials or an answer it says what was not looked at', async () => {
  expect((await look({ clusterName: undefined })).notChecked).toEqual([
    expect.stringContaining('give it with --cluster-name'),
  ]);
  expect((await look({ env: { HOME: '/nowhere' } })).notChecked).toEqual([
    expect.stringContaining('for want of credentials'),
  ]);
  account.control.addFault({ action: 'DescribeInstances', code: 'UnauthorizedOperation', status: 403, count: 100 });
  expect(await look()).toEqual({
    drift: [],
    findings: [],
    notChecked: [expect.stringContaining('AWS was asked and said')],
  });
});
