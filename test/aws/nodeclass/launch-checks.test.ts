// Accounts made wrong: the class is paused with the failure's id and fix; the fix, carried out as it is printed, lets
// launches go on.
import { AuthorizeSecurityGroupIngressCommand, CreateSecurityGroupCommand } from '@aws-sdk/client-ec2';
import { CreateAccessEntryCommand, DeleteAccessEntryCommand } from '@aws-sdk/client-eks';
import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  UpdateAssumeRolePolicyCommand,
} from '@aws-sdk/client-iam';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { useAwsEmulator } from '../../setup/use-aws-emulator.ts';
import { clusterName, type NodeClassRig, openRig } from './node-class-rig.ts';

const emulator = useAwsEmulator();
const roleArn = 'arn:aws:iam::123456789012:role/node-role';
const trusting = (service: string): string =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: { Service: service }, Action: 'sts:AssumeRole' }],
  });
let rig: NodeClassRig;

/** An account in which everything is as it should be. */
beforeEach(async () => {
  await emulator().control.reset();
  rig = await openRig(emulator());
  const { GroupId = '' } = await rig.ec2.send(
    new CreateSecurityGroupCommand({ GroupName: 'cluster', Description: 'cluster' }),
  );
  rig.control.setCluster({
    name: clusterName,
    accessConfig: { authenticationMode: 'API' },
    resourcesVpcConfig: { endpointPrivateAccess: true, clusterSecurityGroupId: GroupId },
  });
  await trust('ec2.amazonaws.com');
  await admit(GroupId);
  await rig.eks.send(new CreateAccessEntryCommand({ clusterName, principalArn: roleArn, type: 'EC2_LINUX' }));
  await rig.apply();
  await rig.reconcile();
});
afterEach(() => rig.stop());

const trust = (service: string) =>
  rig.iam.send(new UpdateAssumeRolePolicyCommand({ RoleName: 'node-role', PolicyDocument: trusting(service) }));
const unmap = () => rig.eks.send(new DeleteAccessEntryCommand({ clusterName, principalArn: roleArn }));
const admit = (GroupId: string) =>
  rig.ec2.send(
    new AuthorizeSecurityGroupIngressCommand({
      GroupId,
      IpPermissions: [{ IpProtocol: 'tcp', FromPort: 443, ToPort: 443, UserIdGroupPairs: [{ GroupId: rig.groupId }] }],
    }),
  );

/** A look at the account, and what the class says after it. */
const look = async () => {
  await rig.reconcile('all', 'nodeclass.launchchecks');
  await rig.reconcile();
  return rig.condition('LaunchesPaused');
};

const reported = (wanted: string) => rig.events.filter(({ reason }) => reason === wanted);

/** The first fix of the condition, as a shell would take it apart. */
function fixIn(message: string): string[] {
  const command = /Fix: (.*?) \([a-z]+\//.exec(message)?.[1] ?? '';
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

/** What the aws command would do. */
async function run([program, service, operation, ...flags]: string[]): Promise<unknown> {
  expect(program).toBe('aws');
  const flag = (name: string): string => flags[flags.indexOf(`--${name}`) + 1] ?? '';
  switch (`${service} ${operation}`) {
    case 'eks create-access-entry':
      return rig.eks.send(
        new CreateAccessEntryCommand({
          clusterName: flag('cluster-name'),
          principalArn: flag('principal-arn'),
          type: flag('type'),
        }),
      );
    case 'iam update-assume-role-policy':
      return rig.iam.send(
        new UpdateAssumeRolePolicyCommand({
          RoleName: flag('role-name'),
          PolicyDocument: flag('policy-document'),
        }),
      );
    case 'ec2 authorize-security-group-ingress':
      return rig.ec2.send(
        new AuthorizeSecurityGroupIngressCommand({
          GroupId: flag('group-id'),
          IpPermissions: [
            {
              IpProtocol: flag('protocol'),
              FromPort: Number(flag('port')),
              ToPort: Number(flag('port')),
              UserIdGroupPairs: [{ GroupId: flag('source-group') }],
            },
          ],
        }),
      );
    case 'kms put-key-policy':
      return rig.json.ask('kms', 'PutKeyPolicy', {
        KeyId: flag('key-id'),
        PolicyName: flag('policy-name'),
        Policy: flag('policy'),
      });
    case 'kms enable-key':
      return rig.json.ask('kms', 'EnableKey', { KeyId: flag('key-id') });
    case 'iam add-role-to-instance-profile':
      return rig.iam.send(
        new AddRoleToInstanceProfileCommand({
          InstanceProfileName: flag('instance-profile-name'),
          // A variable of the shell.
          RoleName: flag('role-name').replace('"$NODE_ROLE"', 'node-role'),
        }),
      );
    default:
      throw new Error(`not a fix that is known here: ${service} ${operation}`);
  }
}

test('a sound account pauses nothing', async () => {
  await look();
  expect(await look()).toBeUndefined();
  expect(await rig.condition('Ready')).toMatchObject({ status: 'True' });
});

/** A key of the account that is for administrators alone, and a class whose volumes it encrypts. */
async function encrypt(policy: object): Promise<string> {
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [policy] });
  const { KeyMetadata } = (await rig.json.ask('kms', 'CreateKey', { Policy })) as { KeyMetadata: { KeyId: string } };
  const ebs = { volumeSize: '20Gi', volumeType: 'gp3', encrypted: true, kmsKeyID: KeyMetadata.KeyId } as const;
  await rig.apply({ blockDeviceMappings: [{ deviceName: '/dev/xvda', ebs }] });
  return KeyMetadata.KeyId;
}

const keyFor = (AWS: string): object => ({
  Sid: 'use',
  Effect: 'Allow',
  Principal: { AWS },
  Action: 'kms:*',
  Resource: '*',
});

test.each(['arn:aws:iam::123456789012:root', 'arn:aws:iam::123456789012:role/KarpenterController'])(
  'a key whose policy is for %s pauses nothing',
  async (principal) => {
    await encrypt(keyFor(principal));
    await look();
    expect(await look()).toBeUndefined();
  },
);

test.each([
  ['iam/ebs-kms-key-denied', () => encrypt(keyFor('arn:aws:iam::123456789012:role/Admin'))],
  [
    'iam/ebs-kms-key-denied',
    async () => {
      const KeyId = await encrypt(keyFor('arn:aws:iam::123456789012:root'));
      await rig.json.ask('kms', 'DisableKey', { KeyId });
    },
  ],
  ['registration/node-role-not-mapped', () => unmap()],
  ['iam/node-role-trust-wrong', () => trust('eks.amazonaws.com')],
  [
    'registration/api-server-unreachable',
    async () => {
      const made = await rig.ec2.send(new CreateSecurityGroupCommand({ GroupName: 'closed', Description: 'closed' }));
      rig.control.setCluster({
        name: clusterName,
        accessConfig: { authenticationMode: 'API' },
        resourcesVpcConfig: { endpointPrivateAccess: true, clusterSecurityGroupId: made.GroupId },
      });
    },
  ],
])('%s pauses the class, and its fix as printed lets launches go on', async (id, spoil) => {
  await spoil();
  expect(await look()).toBeUndefined();
  const paused = await look();
  expect(paused?.message).toContain(`(${id}: kerf doctor --only ${id}`);
  expect(await rig.condition('Ready')).toMatchObject({ status: 'False', message: 'LaunchesPaused=True' });
  expect(reported('LaunchesPaused')).toMatchObject([{ type: 'Warning' }]);
  await run(fixIn(paused?.message ?? ''));
  expect(await look()).toBeUndefined();
  expect(await rig.condition('Ready')).toMatchObject({ status: 'True' });
  expect(reported('LaunchesResumed')).toMatchObject([{ type: 'Normal' }]);
});

test('an instance profile without a role pauses its class, and its fix as printed lets launches go on', async () => {
  await rig.iam.send(new CreateInstanceProfileCommand({ InstanceProfileName: 'bare' }));
  // Instead of the role that classes have here.
  const profiled: object = { role: undefined, instanceProfile: 'bare' };
  await rig.apply(profiled, 'profiled');
  const condition = async () => {
    await rig.reconcile('all', 'nodeclass.launchchecks');
    await rig.reconcile('profiled');
    return rig.condition('LaunchesPaused', 'profiled');
  };
  await condition();
  const paused = await condition();
  expect(paused?.message).toContain('(iam/node-role-trust-wrong: ');
  await run(fixIn(paused?.message ?? ''));
  expect(await condition()).toBeUndefined();
});

test('without the right to list access entries nothing is paused, and it is said which right is missing', async () => {
  await unmap();
  rig.control.addFault({
    service: 'eks',
    action: `GET /clusters/${clusterName}/access-entries`,
    count: 10,
    code: 'AccessDeniedException',
    status: 403,
  });
  await look();
  expect(await look()).toBeUndefined();
  expect(reported('LaunchChecksNotMade')).toHaveLength(1);
  expect(reported('LaunchChecksNotMade')[0]?.message).toContain(
    'registration/node-role-not-mapped (needs eks:ListAccessEntries)',
  );
});
