// Accounts made wrong: the class is paused with the failure's id and fix; the fix, carried out as it is printed, lets
// launches go on.
import { AuthorizeSecurityGroupIngressCommand, CreateSecurityGroupCommand } from '@aws-sdk/client-ec2';
import { CreateAccessEntryCommand, DeleteAccessEntryCommand } from '@aws-sdk/client-eks';
import { UpdateAssumeRolePolicyCommand } from '@aws-sdk/client-iam';
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
    default:
      throw new Error(`not a fix that is known here: ${service} ${operation}`);
  }
}

test('a sound account pauses nothing', async () => {
  await look();
  expect(await look()).toBeUndefined();
  expect(await rig.condition('Ready')).toMatchObject({ status: 'True' });
});

test.each([
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
