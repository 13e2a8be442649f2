// A cluster on "EC2": a real control plane, the emulated AWS account behind its proxy, machines that join, and the real
// `kerf controller --provider aws` as a process of its own. Nothing of it is shared with other tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  CreateSecurityGroupCommand,
  CreateTagsCommand,
  DescribeInstancesCommand,
  DescribeLaunchTemplatesCommand,
  DescribeSubnetsCommand,
  EC2Client,
  type Instance,
} from '@aws-sdk/client-ec2';
import { CreateClusterCommand, EKSClient } from '@aws-sdk/client-eks';
import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  CreateRoleCommand,
  IAMClient,
  ListInstanceProfilesCommand,
} from '@aws-sdk/client-iam';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, vi } from 'vitest';
import { customResourceDefinition, kinds } from '../../src/api/index.ts';
import type { ControlPlane } from '../setup/control-plane.ts';
import { freePort } from '../setup/free-port.ts';
import { useAwsEmulator } from '../setup/use-aws-emulator.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';
import { type Machines, startMachines } from './machines.ts';

const name = 'one';
/** A profile that is the user’s: it is never ours to take. */
const ownProfile = 'own-profile';
/** What must never be seen outside of requests to AWS; user data holds the last. */
export const secrets = { key: 'KEPT-KEY', token: 'KEPT-TOKEN', userData: 'KEPT-PASSWORD' };
const root = resolve(import.meta.dirname, '../..');
const patience = { timeout: 120_000, interval: 500 };

export class AwsCluster {
  readonly name = name;
  private readonly cluster: ReturnType<typeof useControlPlane>;
  private readonly emulator: ReturnType<typeof useAwsEmulator>;
  private readonly folder = mkdtempSync(join(tmpdir(), 'kerf-end-to-end-'));
  private controller: ChildProcess | undefined;
  private machines: Machines | undefined;
  private metricsPort = 0;
  private readonly flags: Record<string, string>;
  private readonly isIdle: boolean;
  private issuedToken = '';
  private accessKeyId = '';
  /** What the controller printed. */
  output = '';

  /** `flags` of the controller, beside those every test needs. Idle: the test starts its own. */
  constructor(flags: Record<string, string> = {}, { isIdle = false } = {}) {
    this.flags = flags;
    this.isIdle = isIdle;
    this.cluster = useControlPlane({ controllerManager: true, scheduler: true });
    this.emulator = useAwsEmulator();
  }

  get aws() {
    return this.emulator().control;
  }

  get clientOptions() {
    return this.emulator().clientOptions;
  }

  get ec2(): EC2Client {
    return new EC2Client(this.clientOptions);
  }

  get controlPlane(): ControlPlane {
    return this.cluster();
  }

  /** The token of the controller's service account. */
  get token(): string {
    return this.issuedToken;
  }

  /** Surroundings of a controller process that signs its calls with this key; `folder` is its own. */
  environment(folder: string, accessKeyId: string): Record<string, string> {
    writeCredentialsFile(join(folder, 'credentials'), accessKeyId);
    return {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      AWS_ENDPOINT_URL: this.emulator().url,
      AWS_REGION: 'us-east-1',
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
      AWS_CONFIG_FILE: join(folder, 'config'),
      AWS_EC2_METADATA_DISABLED: 'true',
    };
  }

  async prepare(): Promise<void> {
    await this.apply(...kinds.map(customResourceDefinition));
    await this.kubectl('wait', 'crd', '--all', '--for=condition=Established', '--timeout=60s');
    await this.prepareAccount();
    await this.prepareServiceAccount();
    this.writeCredentials('AKIAFIRST');
    this.machines = await startMachines(this.ec2, this.cluster().kubeconfig);
    if (!this.isIdle) await this.startController();
  }

  private async prepareAccount(): Promise<void> {
    const options = this.emulator().clientOptions;
    const { ec2 } = this;
    const { Subnets = [] } = await ec2.send(new DescribeSubnetsCommand({}));
    const { GroupId = '' } = await ec2.send(
      new CreateSecurityGroupCommand({ GroupName: 'nodes', Description: 'nodes', VpcId: Subnets[0]?.VpcId }),
    );
    await ec2.send(
      new CreateTagsCommand({
        Resources: [GroupId, ...Subnets.map(({ SubnetId = '' }) => SubnetId)],
        Tags: [{ Key: 'karpenter.sh/discovery', Value: name }],
      }),
    );
    const iam = new IAMClient(options);
    await iam.send(new CreateRoleCommand({ RoleName: `KarpenterNodeRole-${name}`, AssumeRolePolicyDocument: '{}' }));
    await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName: ownProfile }));
    await iam.send(
      new AddRoleToInstanceProfileCommand({ InstanceProfileName: ownProfile, RoleName: `KarpenterNodeRole-${name}` }),
    );
    await new EKSClient(options).send(
      new CreateClusterCommand({
        name,
        version: '1.33',
        roleArn: 'arn:aws:iam::123456789012:role/cluster',
        resourcesVpcConfig: { subnetIds: Subnets.map(({ SubnetId = '' }) => SubnetId) },
      }),
    );
    this.aws.setCluster({ name, endpoint: this.cluster().url });
    await new SQSClient(options).send(new CreateQueueCommand({ QueueName: name }));
  }

  /** The controller may do what the published manifest allows, and no more. */
  private async prepareServiceAccount(): Promise<void> {
    await this.kubectl('apply', '-f', join(root, 'examples/aws/rbac.yaml'));
    const token = await this.kubectl('create', 'token', 'karpenter', '-n', 'kube-system', '--duration=4h');
    this.issuedToken = token.trim();
    const { url, caFile } = this.cluster();
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'controller',
      contexts: [{ name: 'controller', context: { cluster: 'rig', user: 'controller' } }],
      clusters: [{ name: 'rig', cluster: { server: url, 'certificate-authority': caFile } }],
      users: [{ name: 'controller', user: { token: this.issuedToken } }],
    };
    writeFileSync(join(this.folder, 'kubeconfig'), JSON.stringify(kubeconfig));
  }

  /** The shared credentials file, as a session that was renewed would leave it. */
  writeCredentials(accessKeyId: string): void {
    this.accessKeyId = accessKeyId;
    writeCredentialsFile(join(this.folder, 'credentials'), accessKeyId);
  }

  async startController(): Promise<void> {
    const [metricsPort, healthPort] = [await freePort(), await freePort()];
    this.metricsPort = metricsPort;
    const flags = {
      kubeconfig: join(this.folder, 'kubeconfig'),
      'cluster-name': name,
      'interruption-queue': name,
      'metrics-port': String(metricsPort),
      'health-probe-port': String(healthPort),
      // One replica: a lease would only be lost to a slow machine.
      'disable-leader-election': 'true',
      'batch-max-duration': '3s',
      ...this.flags,
    };
    const env: NodeJS.ProcessEnv = {
      ...this.environment(this.folder, this.accessKeyId),
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'record-hosts.mjs')}`,
      KERF_HOSTS_FILE: join(this.folder, 'hosts'),
    };
    const args = [
      join(root, 'bin/kerf'),
      'controller',
      ...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]),
    ];
    const controller = spawn(process.execPath, args, { env });
    this.controller = controller;
    controller.stdout?.on('data', (text: Buffer) => (this.output += text.toString()));
    controller.stderr?.on('data', (text: Buffer) => (this.output += text.toString()));
    await vi.waitFor(async () => {
      if (controller.exitCode !== null) throw new Error(`the controller ended:\n${this.output.slice(-5_000)}`);
      const { ok } = await fetch(`http://127.0.0.1:${healthPort}/readyz`);
      if (!ok) throw new Error(`not ready:\n${this.output.slice(-2_000)}`);
    }, patience);
  }

  async stopController(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const controller = this.controller;
    if (controller === undefined || controller.exitCode !== null) return;
    const ended = new Promise((resolve) => controller.once('exit', resolve));
    controller.kill(signal);
    await ended;
  }

  async close(): Promise<void> {
    const exitCode = this.controller?.exitCode;
    await this.stopController();
    await this.machines?.stop();
    rmSync(this.folder, { recursive: true });
    if (exitCode !== null && exitCode !== undefined)
      throw new Error(`the controller ended by itself:\n${this.output.slice(-5_000)}`);
  }

  async kubectl(...args: string[]): Promise<string> {
    return (await this.cluster().kubectl(args)).stdout;
  }

  apply(...objects: object[]): Promise<unknown> {
    return this.cluster().kubectl(['apply', '-f', '-'], {
      stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
    });
  }

  async items<T>(...what: string[]): Promise<T[]> {
    return (JSON.parse(await this.kubectl('get', ...what, '-o', 'json')) as { items: T[] }).items;
  }

  async readyReplicas(name: string): Promise<number> {
    return Number((await this.kubectl('get', 'deployment', name, '-o', 'jsonpath={.status.readyReplicas}')) || 0);
  }

  /** Reasons of the events about objects of a kind. */
  async events(kind: string): Promise<string[]> {
    const about = await this.items<{ reason?: string; message?: string }>(
      'events',
      '-A',
      `--field-selector=involvedObject.kind=${kind}`,
    );
    return about.map(({ reason, message }) => `${reason}: ${message}`);
  }

  /** Every host the controller opened a connection to. */
  hosts(): string[] {
    return [...new Set(readFileSync(join(this.folder, 'hosts'), 'utf8').trim().split('\n'))];
  }

  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.metricsPort}/metrics`)).text();
  }

  /** Instances of the cluster that are not terminated. */
  async instances(): Promise<Instance[]> {
    const { Reservations = [] } = await this.ec2.send(
      new DescribeInstancesCommand({
        Filters: [
          { Name: 'instance-state-name', Values: ['pending', 'running', 'stopping', 'stopped', 'shutting-down'] },
        ],
      }),
    );
    return Reservations.flatMap(({ Instances = [] }) => Instances).filter(({ Tags = [] }) =>
      Tags.some(({ Key, Value }) => Key === 'eks:eks-cluster-name' && Value === name),
    );
  }

  async launchTemplates(): Promise<string[]> {
    const { LaunchTemplates = [] } = await this.ec2.send(new DescribeLaunchTemplatesCommand({}));
    return LaunchTemplates.map(({ LaunchTemplateName = '' }) => LaunchTemplateName);
  }

  async instanceProfiles(): Promise<string[]> {
    const iam = new IAMClient(this.emulator().clientOptions);
    const { InstanceProfiles = [] } = await iam.send(new ListInstanceProfilesCommand({}));
    return InstanceProfiles.map(({ InstanceProfileName = '' }) => InstanceProfileName).filter(
      (each) => each !== ownProfile,
    );
  }
}

function writeCredentialsFile(file: string, accessKeyId: string): void {
  writeFileSync(
    file,
    `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secrets.key}\naws_session_token = ${secrets.token}\n`,
  );
}

/** One cluster for the tests of a file. */
export function useAwsCluster(flags: Record<string, string> = {}, options: { isIdle?: boolean } = {}): AwsCluster {
  const cluster = new AwsCluster(flags, options);
  beforeAll(() => cluster.prepare(), 300_000);
  afterAll(() => cluster.close(), 60_000);
  return cluster;
}
