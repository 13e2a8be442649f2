// What can be known before a launch, and which of it stops launches. Everything here is reported; launches of a node class
// stop only where no node of it could be launched or join, and the proof is complete:
//
// 1. The finding is certain, and the answers it rests on are whole: a cluster that says how it knows its nodes, a trust
//    policy that says something, a subnet without a single address.
// 2. No node of the class joined a short while ago: whatever the answers say, it works.
// Policies that a role lacks, a queue that nothing feeds, a missing role for spot make nodes worse or some launches fail;
// they are reported and stop nothing.
import { poolsWithoutImage } from './areas/ami/none-for-cluster-version.ts';
import { notAskedOfKeys, refusedKeys, unusableKeys } from './areas/iam/volume-keys.ts';
import { authenticationMode } from './areas/registration/role-mapping.ts';
import { type Operation, permissionOf } from './aws-answers.ts';
import { catalogue } from './catalogue.ts';
import { ageMs, type Evidence } from './evidence.ts';
import type { Failure, FailureId, Finding } from './failure.ts';
import { listAt, numberAt, textAt } from './fields.ts';
import { apiServerGroups } from './network-rules.ts';
import { conditionOf } from './objects.ts';

/** What is asked, and the answers without which nothing is known. */
const asked: Readonly<Record<FailureId, readonly Operation[]>> = {
  'registration/node-role-not-mapped': ['eks-describe-cluster', 'eks-list-access-entries'],
  'registration/api-server-unreachable': ['eks-describe-cluster', 'ec2-describe-security-groups'],
  'iam/node-role-trust-wrong': ['iam-get-role'],
  'iam/node-role-policies-missing': ['iam-list-attached-role-policies'],
  'iam/ebs-kms-key-denied': ['ec2-get-ebs-encryption-by-default'],
  'iam/spot-service-linked-role-missing': ['iam-get-role'],
  'ami/none-for-cluster-version': [],
  'net/discovery-tag-missing': [],
  'net/subnet-addresses-exhausted': ['ec2-describe-subnets'],
  'net/cluster-dns-unreachable-from-node': ['eks-describe-cluster'],
  'interruption/events-not-delivered': ['sqs-get-queue-attributes', 'events-list-rules'],
  'windows/support-not-enabled': [],
};

/** The entries that are asked before launches. */
export const knownBeforeLaunch: readonly Failure[] = catalogue.filter(({ id }) => Object.hasOwn(asked, id));

/** The checks that could not be made, each with the rights it needs. */
export function notMadeBeforeLaunch(evidence: Evidence): Map<FailureId, string> {
  const { aws, objects } = evidence;
  const mode = authenticationMode(evidence);
  const isOpen = aws.isAnswered('eks-describe-cluster') && apiServerGroups(evidence).length === 0;
  const found = new Map<FailureId, string>();
  for (const { id } of knownBeforeLaunch) {
    const missing = (asked[id] ?? []).filter((operation) => !aws.isAnswered(operation)).map(permissionOf);
    if (id === 'registration/node-role-not-mapped' && mode !== 'API' && !objects.isCollected('ConfigMap'))
      missing.push('get of ConfigMap kube-system/aws-auth');
    if (id === 'iam/ebs-kms-key-denied') missing.push(...notAskedOfKeys(evidence).map(permissionOf));
    const needed = missing.filter(
      (one) =>
        !(one === 'eks:ListAccessEntries' && mode === 'CONFIG_MAP') &&
        !(one === 'ec2:DescribeSecurityGroups' && isOpen),
    );
    if (needed.length > 0) found.set(id, needed.join(', '));
  }
  return found;
}

/** A node that joined so recently proves that nodes of its class can. */
const freshProofMs = 15 * 60_000;

/** The evidence must be of one node class. */
export function stopsLaunches(finding: Finding, evidence: Evidence): boolean {
  if (finding.confidence !== 'certain') return false;
  switch (finding.id) {
    case 'registration/node-role-not-mapped':
      return authenticationMode(evidence) !== undefined && !hasJoined(evidence);
    case 'registration/api-server-unreachable':
    case 'iam/node-role-trust-wrong':
      return !hasJoined(evidence);
    case 'net/subnet-addresses-exhausted':
      return isEverySubnetFull(evidence);
    case 'iam/ebs-kms-key-denied':
      return isKeyUnusable(evidence);
    case 'ami/none-for-cluster-version':
      return isEveryPoolWithoutImage(evidence);
    default:
      return false;
  }
}

function hasJoined(evidence: Evidence): boolean {
  return evidence.objects.of('NodeClaim').some(({ object }) => {
    const registered = conditionOf(object, 'Registered');
    if (registered?.status !== 'True') return false;
    const age = ageMs(evidence, registered.since);
    return age === undefined || age < freshProofMs;
  });
}

function isEverySubnetFull({ objects, aws }: Evidence): boolean {
  const free = new Map(
    aws
      .items('ec2-describe-subnets')
      .map(({ item }) => [textAt(item, 'SubnetId'), numberAt(item, 'AvailableIpAddressCount')]),
  );
  const own = objects
    .of('EC2NodeClass')
    .flatMap(({ object }) => listAt(object, 'status', 'subnets').map((one) => textAt(one, 'id')));
  return own.length > 0 && own.every((id) => (free.get(id) ?? 1) <= 0);
}

/** A class from which some pool can launch goes on. */
function isEveryPoolWithoutImage(evidence: Evidence): boolean {
  const pools = evidence.objects.of('NodePool');
  return pools.length > 0 && poolsWithoutImage(evidence).length === pools.length;
}

/**
 * An ended instance is a suspicion about the key; only what KMS says of the key itself is proof: its state, or a policy and
 * grants that leave out who launches. A node that joined just now shows that someone may use it after all.
 */
const isKeyUnusable = (evidence: Evidence): boolean =>
  unusableKeys(evidence).length > 0 ||
  (refusedKeys(evidence).some(({ confidence }) => confidence === 'certain') && !hasJoined(evidence));
