// What the catalogue gets to see of one node class: the class, its NodePools and NodeClaims, who may join, and the answers
// of the account. One class at a time, so that what is found is about this class.
import type { EC2NodeClass } from '../../api/index.ts';
import { type AccountQuestions, bareRoleName } from '../../aws/index.ts';
import type { ControllerContext } from '../../controllers/index.ts';
import { type AwsAnswers, type Evidence, evidenceOf, Objects } from '../../failures/index.ts';
import { claimsOf, isOfClass } from '../nodeclass/claims-of.ts';

export interface Seen {
  aws: AwsAnswers;
  awsAuth: object | undefined | 'unread';
  nowMs: number;
  clusterName: string;
  interruptionQueue: string;
  /** ARN of who launches; undefined when STS does not say. */
  caller: string | undefined;
  kubernetesVersion(): string;
}

export function evidenceOfClass({ cluster }: ControllerContext, nodeClass: EC2NodeClass, seen: Seen): Evidence {
  const objects = new Objects();
  for (const kind of ['EC2NodeClass', 'NodePool', 'NodeClaim']) objects.markCollected(kind);
  const add = (kind: string, object: object): void => void objects.add({ ...object, kind }, kind);
  const name = nodeClass.metadata.name ?? '';
  add('EC2NodeClass', nodeClass);
  for (const pool of cluster.nodePools.list()) if (isOfClass(pool.spec.template, name)) add('NodePool', pool);
  for (const claim of claimsOf(cluster.claims.list(), name)) add('NodeClaim', claim);
  add('Deployment', ownSettings(seen));
  if (seen.caller !== undefined) add('ServiceAccount', ownAccount(seen.caller));
  if (seen.awsAuth === undefined) objects.markCollected('ConfigMap');
  else if (seen.awsAuth !== 'unread') add('ConfigMap', seen.awsAuth);
  return evidenceOf({
    objects,
    aws: seen.aws,
    cluster: { name: seen.clusterName, kubernetesVersion: seen.kubernetesVersion() },
    nowMs: seen.nowMs,
  });
}

/** This process, as its Deployment would show it: which cluster it serves and which queue it reads. */
const ownSettings = ({ clusterName, interruptionQueue }: Seen): object => ({
  metadata: { name: 'karpenter', namespace: 'kube-system', labels: { 'app.kubernetes.io/name': 'karpenter' } },
  spec: {
    template: {
      spec: {
        serviceAccountName: 'karpenter',
        containers: [
          {
            name: 'controller',
            env: [
              { name: 'CLUSTER_NAME', value: clusterName },
              { name: 'INTERRUPTION_QUEUE', value: interruptionQueue },
            ],
          },
        ],
      },
    },
  },
});

const ownAccount = (caller: string): object => ({
  metadata: { name: 'karpenter', namespace: 'kube-system', annotations: { 'eks.amazonaws.com/role-arn': caller } },
});

/** What to ask the account about, for all classes together. */
export function namesIn(
  classes: readonly EC2NodeClass[],
  { clusterName, interruptionQueue }: Pick<Seen, 'clusterName' | 'interruptionQueue'>,
): AccountQuestions {
  const all = (of: (nodeClass: EC2NodeClass) => readonly (string | undefined)[]): string[] =>
    [...new Set(classes.flatMap(of))].filter((one) => one !== undefined && one !== '') as string[];
  return {
    clusterName,
    nodeRoles: all(({ spec }) => (spec.role === undefined ? [] : [bareRoleName(spec.role)])),
    controllerRole: undefined,
    queue: interruptionQueue === '' ? undefined : interruptionQueue,
    subnets: all(({ status }) => status?.subnets?.map(({ id }) => id) ?? []),
    groups: all(({ status }) => status?.securityGroups?.map(({ id }) => id) ?? []),
    images: [],
    profiles: all(({ spec }) => [spec.instanceProfile]),
    keys: all(({ spec }) => spec.blockDeviceMappings?.map(({ ebs }) => ebs?.kmsKeyID) ?? []),
    silentInstances: [],
  };
}
