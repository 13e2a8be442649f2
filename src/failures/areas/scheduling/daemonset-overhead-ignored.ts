// A new node that cannot hold both its workload and its DaemonSets.
import { refusedPods } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { conditionItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conditionOf, type Stored } from '../../objects.ts';

export const daemonsetOverheadIgnored: Failure = {
  id: 'scheduling/daemonset-overhead-ignored',
  severity: 'high',
  symptom: 'A new node cannot hold both the DaemonSets and the workload it was launched for.',
  cause:
    'The room for DaemonSets was computed too low (defaults of a LimitRange, limits without requests, a new DaemonSet), or other pods took it first',
  fix: 'Larger types; a high priority class and explicit requests for the DaemonSets.',
  needs: [kinds('Pod')],
  signs: [
    {
      // Small types are left out in every pass; it matters where none remains.
      words: ['not enough resources for daemons'],
      pattern:
        /Excluding instance type \S+ because there are not enough resources for daemons.{0,600}(?:Failed to find instance type option|no instance type)/i,
      confidence: 'likely',
      until: ['launched'],
    },
    {
      words: ['not enough resources for daemons'],
      pattern: /Excluding instance type \S+ because there are not enough resources for daemons/i,
      confidence: 'possible',
      where: ['asked'],
      until: ['launched'],
    },
    // A pod of a DaemonSet may run on one node alone: that one is full, and all others do not match.
    {
      words: ["didn't match pod's node affinity"],
      pattern:
        /(?:daemon-?set|-agent-|-node-|-exporter-|fluent-?bit|kube-proxy|-csi-|-driver-)\S*.{0,200}\b0\/\d+ nodes are available: 1 (?:Insufficient (?:cpu|memory|pods)|Too many pods)\b.{0,60}\d+ node\(s\) didn't match Pod's node affinity/i,
      confidence: 'likely',
      where: ['asked', 'cli'],
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: sightings.some(({ text }) => /Excluding instance type/i.test(text))
        ? 'Instance types are left out because the DaemonSets alone do not fit on them.'
        : 'A pod of a DaemonSet does not fit on its node: other pods took the room first.',
      fix: [
        'Allow larger types in the requirements of the NodePool, or lower the requests of the DaemonSets.',
        'spec.template.spec.priorityClassName of the DaemonSet: system-node-critical  # its pods take their room before others',
      ],
    }),
  ],
  check(evidence): Found[] {
    const stuck = refusedPods(evidence, 5 * 60_000).filter(
      (pod) =>
        isDaemon(pod) &&
        /Insufficient (cpu|memory|pods)|Too many pods/i.test(conditionOf(pod.object, 'PodScheduled')?.message ?? ''),
    );
    if (stuck.length === 0) return [];
    const daemons = [...new Set(stuck.map(({ object }) => textAt(object, 'metadata', 'ownerReferences', 0, 'name')))];
    return [
      {
        confidence: 'certain',
        summary: `Pods of the DaemonSet ${daemons.join(', ')} find no room on their node: it was filled before them.`,
        objects: refsOf(stuck.slice(0, 10)),
        evidence: stuck.slice(0, 3).flatMap((pod) => {
          const scheduled = conditionOf(pod.object, 'PodScheduled');
          return scheduled === undefined ? [] : [conditionItem(pod, scheduled)];
        }),
        fix: daemons.map(
          (name) =>
            `kubectl -n ${stuck[0]?.namespace} patch daemonset ${name} --type=merge -p '{"spec":{"template":{"spec":{"priorityClassName":"system-node-critical"}}}}'  # and write its requests out`,
        ),
      },
    ];
  },
  explains: ['scheduling/no-instance-type-fits'],
};

const isDaemon = ({ object }: Stored): boolean =>
  listAt(object, 'metadata', 'ownerReferences').some((owner) => textAt(owner, 'kind') === 'DaemonSet');
