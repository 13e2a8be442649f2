// Machines of the cluster that no node and no claim stands for: they run and are paid for, and nothing will stop them.
import { ageMs, type Evidence } from '../../evidence.ts';
import { clusterName, named } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, type Plain, textAt } from '../../fields.ts';
import { foundIn } from '../../found.ts';
import { answer, kinds } from '../../needs.ts';

/** A machine may be older than its claim's first status by some minutes. */
const youngMs = 15 * 60_000;

export const finalizerStripLeaksInstances: Failure = {
  id: 'termination/finalizer-strip-leaks-instances',
  severity: 'high',
  symptom: 'The node object is gone, and its instance still runs and is billed.',
  cause: 'All finalizers of a node were removed by hand: the object goes, the instance is never terminated',
  fix: 'Remove only `karpenter.sh/termination`, after terminating the instance. Find strays with `aws ec2 describe-instances --filters Name=tag-key,Values=karpenter.sh/nodepool`.',
  needs: [kinds('Node', 'NodeClaim'), answer('ec2-describe-instances')],
  signs: [
    {
      words: ['finalizers'],
      pattern:
        /kubectl patch (?:node|nodeclaim)s?\b.{0,260}["']?op["']?: ?["']remove["'], ?["']path["']: ?["']\/metadata\/finalizers["']|kubectl (?:patch|edit|get|-n) .{0,200}\bnodes?\b.{0,260}finalizers["']?:? ?(?:null|\[ ?(?:""|'')? ?\])|kubectl patch .{0,200}finalizers["']?: ?(?:null|\[\]).{0,160}\b(?:node|nodeclaim)s?\b/i,
      confidence: 'likely',
      where: ['cli', 'asked'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: 'All finalizers were removed from nodes: their instances are not terminated by that and go on running.',
      fix: [
        'aws ec2 describe-instances --filters Name=tag-key,Values=karpenter.sh/nodepool Name=instance-state-name,Values=running --query "Reservations[].Instances[].[InstanceId,PrivateDnsName]" --output text',
        'Terminate those without a Node: aws ec2 terminate-instances --instance-ids "$INSTANCE"',
      ],
    }),
  ],
  check(evidence): Found[] {
    const { objects, aws } = evidence;
    if (!objects.isCollected('Node') || !objects.isCollected('NodeClaim') || !aws.isAnswered('ec2-describe-instances'))
      return [];
    const known = new Set(
      [...objects.of('Node'), ...objects.of('NodeClaim')].flatMap(
        ({ object }) =>
          /i-[0-9a-f]{8,17}/.exec(
            textAt(object, 'spec', 'providerID') || textAt(object, 'status', 'providerID'),
          )?.[0] ?? [],
      ),
    );
    const strays = aws
      .items('ec2-describe-instances')
      .flatMap(({ item, source }) =>
        listAt(item, 'Instances').map((instance) => ({ instance: instance as Plain, source })),
      )
      .filter(({ instance }) => isStray(instance, evidence) && !known.has(textAt(instance, 'InstanceId')));
    if (strays.length === 0) return [];
    const ids = strays.map(({ instance }) => textAt(instance, 'InstanceId'));
    return [
      {
        confidence: 'certain',
        summary: `${strays.length === 1 ? 'An instance runs' : `${strays.length} instances run`} without a Node or NodeClaim: ${named(ids.map((name) => ({ name })))}.`,
        objects: [],
        evidence: strays.slice(0, 5).map(({ instance, source }) => ({
          source,
          text: `${textAt(instance, 'InstanceId')} ${textAt(instance, 'State', 'Name')} since ${textAt(instance, 'LaunchTime')}, tag karpenter.sh/nodepool: ${tagOf(instance, 'karpenter.sh/nodepool')}`,
        })),
        fix: [
          `aws ec2 terminate-instances --instance-ids ${ids.slice(0, 20).join(' ')} (look at each first: a machine of another cluster carries another cluster tag)`,
        ],
      },
    ];
  },
};

function isStray(instance: Plain, evidence: Evidence): boolean {
  if (textAt(instance, 'State', 'Name') !== 'running') return false;
  if (tagOf(instance, 'karpenter.sh/nodepool') === '' && tagOf(instance, 'karpenter.sh/provisioner-name') === '')
    return false;
  const cluster = clusterName(evidence);
  const owner = clusterOf(instance);
  if (!cluster.startsWith('"') && owner !== undefined && owner !== cluster) return false;
  const age = ageMs(evidence, textAt(instance, 'LaunchTime'));
  return age === undefined || age >= youngMs;
}

function tagOf(instance: Plain, key: string): string {
  return textAt(
    listAt(instance, 'Tags').find((tag) => textAt(tag, 'Key') === key),
    'Value',
  );
}

function clusterOf(instance: Plain): string | undefined {
  const named_ = tagOf(instance, 'eks:eks-cluster-name');
  if (named_ !== '') return named_;
  const key = listAt(instance, 'Tags')
    .map((tag) => textAt(tag, 'Key'))
    .find((one) => one.startsWith('kubernetes.io/cluster/'));
  return key?.slice('kubernetes.io/cluster/'.length);
}
