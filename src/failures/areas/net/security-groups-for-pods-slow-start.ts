// The VPC resource controller attaches the trunk only when it notices the node by a label.
import type { Failure, Found } from '../../failure.ts';
import { listAt, mapAt, textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { labelsOf, type Stored } from '../../objects.ts';
import { templateLabels } from '../../pools.ts';
import { poolLabel } from '../../relations.ts';

const label = 'vpc.amazonaws.com/has-trunk-attached';
const resource = 'vpc.amazonaws.com/pod-eni';

export const securityGroupsForPodsSlowStart: Failure = {
  id: 'net/security-groups-for-pods-slow-start',
  severity: 'medium',
  symptom: 'Pods with `vpc.amazonaws.com/pod-eni` stay ContainerCreating for up to 30 minutes.',
  cause:
    'The VPC resource controller attaches the trunk interface only when it notices the node by its label, which nodes of the pool do not have',
  fix: '`spec.template.metadata.labels: {vpc.amazonaws.com/has-trunk-attached: "false"}` and only types that can have a trunk.',
  needs: [kinds('Pod', 'Node')],
  signs: [
    {
      words: ['pod-eni', 'branch eni', 'has-trunk-attached', 'trunk'],
      pattern:
        /(?:vpc\.amazonaws\.com\/pod-eni|branch ENI|security groups for pods).{0,300}(?:ContainerCreating|not attached|waiting for|no trunk|has-trunk-attached)|(?:ContainerCreating|Insufficient).{0,200}vpc\.amazonaws\.com\/pod-eni/i,
      unless: /didn't register on the node|was requested but not registered/i,
      confidence: 'likely',
      where: ['asked', 'cli', 'object'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary:
        'Pods with a security group of their own wait for a trunk interface: the node lacks the label by which it is noticed.',
      fix: [fixFor('default')],
    }),
  ],
  check({ objects }): Found[] {
    const waiting = objects.of('Pod').flatMap((pod) => {
      if (!wantsEni(pod) || !isCreating(pod)) return [];
      const node = objects.find('Node', textAt(pod.object, 'spec', 'nodeName'));
      if (node === undefined || label in labelsOf(node.object) || textAt(labelsOf(node.object), poolLabel) === '')
        return [];
      return [{ pod, node }];
    });
    if (waiting.length === 0) return [];
    const pools = objects.of('NodePool').filter((pool) => !(label in templateLabels(pool)));
    return [
      {
        confidence: 'certain',
        summary: `${waiting
          .map(({ pod }) => pod.name)
          .slice(0, 3)
          .join(', ')} wait for a trunk interface: ${waiting[0]?.node.name} has no label ${label}.`,
        objects: refsOf(waiting.map(({ pod }) => pod)),
        evidence: waiting
          .slice(0, 3)
          .flatMap(({ pod, node }) => [fieldItem(pod, 'requests', resource), fieldItem(node, label, 'absent')]),
        fix:
          pools.length === 0
            ? [fixFor(textAt(labelsOf(waiting[0]?.node.object ?? {}), poolLabel))]
            : pools.map(({ name }) => fixFor(name)),
      },
    ];
  },
};

const wantsEni = ({ object }: Stored): boolean =>
  listAt(object, 'spec', 'containers').some(
    (one) => resource in { ...mapAt(one, 'resources', 'limits'), ...mapAt(one, 'resources', 'requests') },
  );

const isCreating = ({ object }: Stored): boolean =>
  textAt(object, 'spec', 'nodeName') !== '' && textAt(object, 'status', 'phase') === 'Pending';

const fixFor = (pool: string): string =>
  `kubectl patch nodepool ${pool} --type=merge -p '{"spec":{"template":{"metadata":{"labels":{"${label}":"false"}}}}}'`;
