// Why an instance that was launched has no Node, found where a person would look: the instance's state, its console output,
// its profile and role, the groups in front of the API server and of endpoints in the VPC, and the mapping of the role. What was read is put before the
// catalogue of failures, so that the sentence, the id and the command are those of `kerf doctor`. What may not be asked is
// passed over.
import { DescribeInstancesCommand, type Instance } from '@aws-sdk/client-ec2';
import type { Cluster } from '@aws-sdk/client-eks';
import type { EC2NodeClass, NodeClaim } from '../../api/index.ts';
import { type Clock, ExpiringMap } from '../../base/index.ts';
import {
  AwsAnswers,
  apiServerGroups,
  catalogue,
  diagnose,
  type Evidence,
  endpointGroups,
  evidenceOf,
  type FailureId,
  Objects,
  pointerTo,
  saidOf,
} from '../../failures/index.ts';
import { groupsQuestion } from '../account/look.ts';
import { type AccountClients, type AccountQuestion, accountQuestions, answerOf } from '../account/questions.ts';
import { isAwsNotFound } from '../aws-errors.ts';
import type { EksCluster } from '../discovery/cluster.ts';
import { failureTexts } from '../failure-texts.ts';
import type { InstanceProfiles } from '../instance-profiles/instance-profiles.ts';
import { amiFamilies, amiFamilyOf } from '../instance-types/ami-family.ts';
import { instanceIdOf } from '../instances/provider-id.ts';

export interface JoiningOptions {
  clients: AccountClients;
  eks: EksCluster;
  profiles: Pick<InstanceProfiles, 'get'>;
  clock: Clock;
  clusterName: string;
  /** ConfigMap kube-system/aws-auth: undefined when there is none; throws when it may not be read. */
  awsAuth?: () => Promise<object | undefined>;
}

/** Claims are looked at often; what keeps a machine from joining changes slowly. */
const keepMs = 2 * 60_000;
/** Two causes at once are both named, certain ones first; more would not be read. */
const mostCauses = 2;

/** What the account is asked beyond what the controller reads anyway; each is passed over without its permission. */
const asked =
  /^(?:eks-(?:list-access-entries|describe-access-entry)|iam-(?:get-role|list-)|ec2-(?:get-console-output|describe-(?:vpc-endpoints|route-tables)))/;
/** Areas whose failures keep a machine from joining. */
const joins = /^(?:registration|ami|iam|net|windows)\//;
/** True of many clusters that work. */
const besides: readonly FailureId[] = ['iam/imds-open-to-pods', 'iam/controller-policy-too-broad'];

export class Joining {
  private readonly options: JoiningOptions;
  private readonly found: ExpiringMap<string, { why: string | undefined }>;

  constructor(options: JoiningOptions) {
    this.options = options;
    this.found = new ExpiringMap(options.clock, keepMs);
  }

  /** A clause that goes on after "the node has not joined: "; undefined when nothing is known. */
  async why(claim: NodeClaim, nodeClass: EC2NodeClass | undefined): Promise<string | undefined> {
    const id = instanceIdOf(claim.status?.providerID ?? '');
    if (id === undefined) return undefined;
    const known = this.found.get(id);
    if (known !== undefined) return known.why;
    const why = await this.look(claim, id, nodeClass);
    this.found.set(id, { why });
    return why;
  }

  private async look(claim: NodeClaim, id: string, nodeClass: EC2NodeClass | undefined): Promise<string | undefined> {
    const instance = await this.instance(id);
    if (instance === undefined) return `EC2 has no instance ${id} any more`;
    const state = instance.State?.Name ?? 'pending';
    if (state === 'pending') return 'the instance is still pending';
    if (state !== 'running') return ended(instance, state, nodeClass);
    const profile = instance.IamInstanceProfile?.Arn?.split('/').at(-1);
    const role = profile === undefined ? undefined : await quietly(this.options.profiles.get(profile));
    const noCredentials = pointerTo('iam/node-role-trust-wrong');
    if (profile === undefined)
      return `the instance has no instance profile, so its kubelet cannot prove who it is (${noCredentials})`;
    if (role !== undefined && role.role === undefined)
      return `its instance profile ${profile} has no role; add the role: aws iam add-role-to-instance-profile --instance-profile-name ${profile} --role-name ${nodeClass?.spec.role ?? '"$NODE_ROLE"'} (${noCredentials})`;
    const cluster = await quietly(this.options.eks.describe());
    if (cluster === undefined) return undefined;
    const evidence = await this.evidence({ claim, id, instance, role: role?.role, cluster, nodeClass });
    const causes = diagnose(catalogue, evidence).findings.filter(
      (finding) =>
        joins.test(finding.id) &&
        finding.confidence !== 'possible' &&
        finding.severity !== 'low' &&
        finding.id !== 'registration/undiagnosed-timeout' &&
        !besides.includes(finding.id),
    );
    const isSure = ({ confidence }: (typeof causes)[number]): number => (confidence === 'certain' ? 0 : 1);
    const named = causes.toSorted((left, right) => isSure(left) - isSure(right)).slice(0, mostCauses);
    if (named.length > 0) return named.map(saidOf).join(' ');
    return this.unknown(cluster, instance, role?.role, nodeClass);
  }

  private async instance(id: string): Promise<Instance | undefined> {
    const { ec2 } = this.options.clients;
    try {
      const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [id] }));
      return Reservations[0]?.Instances?.[0];
    } catch (error) {
      if (isAwsNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Everything readable about this one machine. */
  private async evidence(about: Machine): Promise<Evidence> {
    const { clients, clusterName, clock, awsAuth } = this.options;
    const { id, instance, role, cluster } = about;
    const aws = new AwsAnswers();
    const add = (name: string, body: unknown): boolean => aws.add(name, body, `aws/${name}`);
    add('eks-describe-cluster', { cluster });
    add('ec2-describe-instances', { Reservations: [{ Instances: [instance] }] });
    const questions = accountQuestions(clients, {
      clusterName,
      nodeRoles: role === undefined ? [] : [role],
      controllerRole: undefined,
      queue: undefined,
      subnets: [],
      groups: [],
      images: [],
      silentInstances: [id],
    }).filter(({ name }) => asked.test(name) && !name.endsWith('AWSServiceRoleForEC2Spot'));
    let console = '';
    const ask = async (question: AccountQuestion): Promise<void> => {
      const answer = await answerOf(question);
      if (answer.kind === 'refusal') aws.addRefusal(answer.name, answer.text, `aws/${answer.name}`);
      else if ('Output' in answer.body) console = String(answer.body.Output);
      else add(answer.name, answer.body);
    };
    for (const question of questions) await ask(question);
    // Those whose rules let the machine reach the API server and the endpoints of AWS services in its VPC.
    const evidence = evidenceOf({ aws });
    const groups = [...new Set([...apiServerGroups(evidence), ...endpointGroups(evidence)])];
    if (groups.length > 0) await ask(groupsQuestion(clients.ec2, groups));
    const map = awsAuth === undefined ? { unread: true } : await awsAuth().catch(() => ({ unread: true }));
    return evidenceOf({
      objects: objectsOf(about, map),
      aws,
      cluster: { name: clusterName },
      nowMs: clock.now(),
      sightings: failureTexts.sightingsIn(console, 'node', `nodes/${id}/console.txt`),
      texts: console === '' ? [] : ['node'],
    });
  }

  /** Nothing that may be read says why: what it most often is, and where to look on. */
  private unknown(
    cluster: Cluster,
    instance: Instance,
    role: string | undefined,
    nodeClass: EC2NodeClass | undefined,
  ): string {
    const { clusterName } = this.options;
    const [, partition = 'aws', , , account = ''] = instance.IamInstanceProfile?.Arn?.split(':') ?? [];
    const arn = role === undefined ? 'the ARN of the node role' : `arn:${partition}:iam::${account}:role/${role}`;
    const family = nodeClass === undefined ? 'AL2023' : amiFamilyOf(nodeClass.spec);
    const isWindows = amiFamilies[family].os === 'windows';
    const groups = ['system:bootstrappers', 'system:nodes', ...(isWindows ? ['eks:kube-proxy-windows'] : [])];
    const mapping =
      cluster.accessConfig?.authenticationMode === 'CONFIG_MAP'
        ? `map ${arn} in ConfigMap kube-system/aws-auth to username system:node:{{EC2PrivateDNSName}} and groups ${groups.join(', ')}`
        : `aws eks create-access-entry --cluster-name ${clusterName} --principal-arn ${arn} --type ${isWindows ? 'EC2_WINDOWS' : 'EC2_LINUX'}`;
    const own = family === 'Custom' ? ' With amiFamily Custom, spec.userData must make the machine join.' : '';
    const console = `aws ec2 get-console-output --instance-id ${instance.InstanceId ?? '"$INSTANCE"'} --latest --output text | kerf doctor -f -`;
    return `the instance runs and its network looks right; most often the cluster does not know the node role: ${mapping}.${own} Otherwise see the instance's console output: ${console} (${pointerTo('registration/undiagnosed-timeout')})`;
  }
}

interface Machine {
  claim: NodeClaim;
  id: string;
  instance: Instance;
  role: string | undefined;
  cluster: Cluster;
  nodeClass: EC2NodeClass | undefined;
}

/** The class as this machine has it: its groups, and the role of its profile. */
function objectsOf({ claim, instance, role, nodeClass }: Machine, map: object | undefined): Objects {
  const objects = new Objects();
  objects.add({ kind: 'NodeClaim', ...claim }, 'NodeClaim');
  objects.add(
    {
      kind: 'EC2NodeClass',
      metadata: { name: claim.spec.nodeClassRef?.name ?? 'unknown' },
      spec: { ...nodeClass?.spec, ...(role === undefined ? {} : { role }) },
      status: {
        securityGroups: (instance.SecurityGroups ?? []).map(({ GroupId }) => ({ id: GroupId })),
        ...(instance.SubnetId === undefined ? {} : { subnets: [{ id: instance.SubnetId }] }),
      },
    },
    'EC2NodeClass',
  );
  if (map === undefined) objects.markCollected('ConfigMap');
  else if (!('unread' in map)) objects.add({ kind: 'ConfigMap', ...map }, 'ConfigMap');
  return objects;
}

/** What EC2 says about the end of an instance, and what it usually means. */
function ended({ StateReason }: Instance, state: string, nodeClass: EC2NodeClass | undefined): string {
  const { Code = '', Message = '' } = StateReason ?? {};
  const said = Code === '' && Message === '' ? '' : ` (${Message === '' ? Code : Message})`;
  const advice = advices.find(({ code }) => code === Code)?.advice(nodeClass);
  const id = failureTexts.classify(`${Code} ${Message}`, 'object')?.id;
  const pointer = id === undefined ? '' : ` (${pointerTo(id)})`;
  return `the instance is ${state}${said}${advice === undefined ? '' : `; ${advice}`}${pointer}`;
}

const advices: readonly { code: string; advice(nodeClass: EC2NodeClass | undefined): string }[] = [
  {
    code: 'Client.InternalError',
    advice(nodeClass) {
      const keys = nodeClass?.spec.blockDeviceMappings?.flatMap(({ ebs }) => ebs?.kmsKeyID ?? []) ?? [];
      const key = keys.length === 0 ? "the account's default key for EBS" : keys.join(', ');
      return `usually the controller's role may not use the key of an encrypted volume (${key}): allow it kms:CreateGrant, kms:Decrypt, kms:DescribeKey and kms:GenerateDataKey* in the key policy`;
    },
  },
  { code: 'Client.UserInitiatedShutdown', advice: () => 'it was terminated from outside Kerf' },
  { code: 'Client.InstanceInitiatedShutdown', advice: () => 'it shut itself down: see its user data' },
  { code: 'Server.SpotInstanceTermination', advice: () => 'spot capacity was taken back' },
  { code: 'Client.VolumeLimitExceeded', advice: () => 'raise the quota of EBS volumes' },
];

/** What may not or cannot be asked tells nothing. */
function quietly<T>(question: Promise<T>): Promise<T | undefined> {
  return question.catch(() => undefined);
}
