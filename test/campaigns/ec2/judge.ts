// Judges replicas by what reaches the emulated AWS account and the API server, against what etcd stores at that moment. The
// call waits until the judge has looked: between its verdict and the effect nothing can change.
//
// 1. No TerminateInstances for an instance that a stored NodeClaim names, unless that claim is being deleted.
// 2. No Node is deleted whose instance a stored claim names, unless that claim is being deleted; no claim is deleted but by
//    its owner, for the story gives no other reason; no instance profile goes while its EC2NodeClass is there.
// 3. No write to EC2 or IAM arrives from a replica whose term is over: ten seconds after the API server last took its lease.
import type { NodeClaim } from '../../../src/api/index.ts';
import type { Node } from '../../../src/ports/index.ts';
import type { AwsCluster } from '../../ec2/aws-cluster.ts';
import { type AwsCall, accessKeyOf } from '../../setup/aws/exchange.ts';
import { formTexts } from '../../setup/aws/form.ts';
import { Tally } from '../tally.ts';
import type { ReplicaProcess } from './replica-process.ts';

const renewDeadlineMs = 10_000;
/** From a call's last look at the clock until it arrives here, on a machine that has other things to do. */
const onTheWayMs = 1_500;
const writes = /^(Create|Delete|Terminate|Run|Tag|Untag|Add|Remove|Modify|Update|Put)/;

/** In the tally: how often replicas asked how instances are. */
export const healthQuestions = 'questions about health';

export class Ec2Judge {
  readonly violations: string[] = [];
  readonly tally = new Tally();
  /** Claims that their owner deleted, or whose machine is lost. */
  readonly givenUp = new Set<string>();
  private readonly cluster: AwsCluster;
  private readonly replicas = new Map<string, ReplicaProcess>();

  constructor(cluster: AwsCluster) {
    this.cluster = cluster;
    cluster.aws.listen({
      onArrival: (call) => this.arrives(call),
      beforeEffect: (call) => this.beforeEffect(call),
    });
  }

  watch(replica: ReplicaProcess): void {
    this.replicas.set(replica.accessKeyId, replica);
    replica.door.onDelete = (path) => this.beforeDelete(replica.name, path);
  }

  /** Every claim, as etcd has it. Waits while the API server is away: what is stored does not change then. */
  async claims(): Promise<NodeClaim[]> {
    return this.list<NodeClaim>('/apis/karpenter.sh/v1/nodeclaims');
  }

  async list<T>(path: string): Promise<T[]> {
    for (;;) {
      const answer = await this.cluster.controlPlane.request('GET', path).catch(() => undefined);
      if (answer?.status === 200) return (answer.body as { items: T[] }).items;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  private arrives(call: AwsCall): void {
    this.tally.add('AWS calls seen');
    const replica = this.replicas.get(accessKeyOf(call));
    if (replica !== undefined && call.action === 'DescribeInstanceStatus') this.tally.add(healthQuestions);
    const isWrite = (call.service === 'ec2' || call.service === 'iam') && writes.test(call.action);
    if (replica === undefined || !isWrite || call.body.includes('DryRun=true')) return;
    this.tally.add('AWS writes judged');
    const lateMs = Date.now() - (replica.door.renewedMs + renewDeadlineMs);
    if (lateMs > onTheWayMs)
      this.object(`${replica.name} sends ${call.action} ${(lateMs / 1000).toFixed(1)} s after its term ended`);
  }

  private async beforeEffect(call: AwsCall): Promise<void> {
    const replica = this.replicas.get(accessKeyOf(call));
    if (replica === undefined) return;
    if (call.action === 'TerminateInstances') {
      const ids = formTexts(call.form, 'InstanceId');
      this.tally.add('terminations judged', ids.length);
      const claims = await this.claims();
      for (const id of ids)
        for (const claim of claimsOf(claims, id))
          this.object(`${replica.name} terminates ${id}, which NodeClaim ${claim.metadata.name} names`);
    }
    if (call.action === 'DeleteInstanceProfile') {
      this.tally.add('profile deletions judged');
      const classes = await this.list<{ metadata: { deletionTimestamp?: string } }>(
        '/apis/karpenter.k8s.aws/v1/ec2nodeclasses',
      );
      if (classes.some(({ metadata }) => metadata.deletionTimestamp === undefined))
        this.object(`${replica.name} deletes an instance profile while its EC2NodeClass is there`);
    }
  }

  private async beforeDelete(replica: string, path: string): Promise<void> {
    const [, plural, name = ''] = /\/(nodes|nodeclaims)\/([^/?]+)$/.exec(path) ?? [];
    if (plural === undefined) return;
    this.tally.add(`${plural === 'nodes' ? 'Node' : 'NodeClaim'} deletions judged`);
    const claims = await this.claims();
    if (plural === 'nodeclaims') {
      const claim = claims.find(({ metadata }) => metadata.name === name);
      if (claim !== undefined && claim.metadata.deletionTimestamp === undefined && !this.givenUp.has(name))
        this.object(`${replica} deletes NodeClaim ${name} without a reason`);
      return;
    }
    const node = (await this.list<Node>('/api/v1/nodes')).find(({ metadata }) => metadata.name === name);
    if (node === undefined || node.metadata.deletionTimestamp !== undefined) return;
    for (const claim of claimsOf(claims, node.spec?.providerID?.split('/').at(-1) ?? ''))
      this.object(`${replica} deletes Node ${name}, whose instance NodeClaim ${claim.metadata.name} names`);
  }

  private object(what: string): void {
    this.violations.push(`${new Date().toISOString().slice(11, 23)} ${what}`);
  }
}

/** Claims that name the instance and are not being deleted. */
const claimsOf = (claims: NodeClaim[], instanceId: string): NodeClaim[] =>
  claims.filter(
    ({ metadata, status }) =>
      instanceId !== '' &&
      status?.providerID?.endsWith(`/${instanceId}`) === true &&
      metadata.deletionTimestamp === undefined,
  );
