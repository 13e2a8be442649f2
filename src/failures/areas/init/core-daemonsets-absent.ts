// Every Linux node needs the pods of kube-proxy and the network plugin; one without them stays NotReady.
import { isOldNode } from '../../claims.ts';
import type { Evidence } from '../../evidence.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { labelsOf, type Stored } from '../../objects.ts';
import { poolLabel } from '../../relations.ts';

const core = ['aws-node', 'kube-proxy'];

export const coreDaemonsetsAbsent: Failure = {
  id: 'init/core-daemonsets-absent',
  severity: 'high',
  symptom: 'No `kube-proxy` or `aws-node` pod on the new node.',
  cause: 'The DaemonSets do not select or tolerate the node, or its kubelet does not run',
  fix: 'Give the DaemonSets `tolerations: [{operator: Exists}]` and selectors that every node meets; otherwise fix the kubelet.',
  needs: [kinds('Node', 'Pod', 'DaemonSet')],
  signs: [
    {
      words: ['aws-node', 'kube-proxy'],
      pattern:
        /No (?:`)?(?:kube-proxy|aws-node)(?:`)?.{0,40}(?:pods?|daemonset).{0,60}(?:on|scheduled|created|running)|(?:aws-node|kube-proxy)\b.{0,80}(?:is |was |are )?(?:not (?:scheduled|running|created)|missing) on (?:the )?(?:new |karpenter )?nodes?|daemonset.{0,60}(?:aws-node|kube-proxy).{0,120}(?:misscheduled|0 desired|did not tolerate)/i,
      where: ['asked', 'cli'],
      confidence: 'likely',
    },
    {
      words: ['spec.nodename='],
      pattern: /field-selector[= ]["']?spec\.nodeName=\S+.{0,80}No resources found/i,
      where: ['asked', 'cli'],
      confidence: 'likely',
    },
  ],
  fromText: (sightings) => [
    foundIn(sightings, {
      summary: 'The node has no pod of kube-proxy or of the network plugin.',
      fix: fixFor('aws-node'),
    }),
  ],
  check(evidence): Found[] {
    const daemons = evidence.objects
      .of('DaemonSet')
      .filter(({ name, namespace }) => namespace === 'kube-system' && core.includes(name));
    if (daemons.length === 0 || !evidence.objects.isCollected('Pod')) return [];
    const placed = podsByNode(evidence);
    // Pods of other namespaces alone were collected: those of the system were not looked for.
    if (placed.size === 0 && evidence.objects.of('Pod').length > 0) return [];
    const bare = evidence.objects
      .of('Node')
      .filter((node) => isManagedLinux(node) && isOldNode(evidence, node, 3 * 60_000))
      .flatMap((node) => {
        const missing = daemons.filter(
          ({ name }) => !(placed.get(node.name) ?? []).some((pod) => pod.startsWith(`${name}-`)),
        );
        return missing.length === 0 ? [] : [{ node, missing }];
      });
    if (bare.length === 0) return [];
    const names = [...new Set(bare.flatMap(({ missing }) => missing.map(({ name }) => name)))];
    return [
      {
        confidence: 'certain',
        summary: `${bare
          .map(({ node }) => node.name)
          .slice(0, 3)
          .join(', ')}${bare.length > 3 ? ` and ${bare.length - 3} more nodes` : ''}: no pod of ${names.join(', ')}.`,
        objects: refsOf(bare.map(({ node }) => node)),
        evidence: [
          ...bare.slice(0, 3).map(({ node, missing }) => ({
            source: node.source,
            text: `Node ${node.name}: no pod of ${missing.map(({ name }) => name).join(', ')}; taints: ${taintsOf(node)}`,
          })),
          ...daemons
            .filter(({ name }) => names.includes(name))
            .map((daemon) =>
              fieldItem(
                daemon,
                'spec.template.spec.tolerations',
                JSON.stringify(listAt(daemon.object, 'spec', 'template', 'spec', 'tolerations')),
              ),
            ),
        ],
        fix: names.flatMap(fixFor),
      },
    ];
  },
  explains: ['init/cni-not-initialised', 'init/never-initialised-never-removed'],
};

function podsByNode({ objects }: Evidence): Map<string, string[]> {
  const byNode = new Map<string, string[]>();
  for (const { object, name, namespace } of objects.of('Pod')) {
    if (namespace !== 'kube-system') continue;
    const node = textAt(object, 'spec', 'nodeName');
    const known = byNode.get(node);
    if (known === undefined) byNode.set(node, [name]);
    else known.push(name);
  }
  return byNode;
}

function isManagedLinux({ object }: Stored): boolean {
  return textAt(labelsOf(object), poolLabel) !== '' && textAt(labelsOf(object), 'kubernetes.io/os') !== 'windows';
}

const taintsOf = ({ object }: Stored): string =>
  listAt(object, 'spec', 'taints')
    .map((taint) => `${textAt(taint, 'key')}:${textAt(taint, 'effect')}`)
    .join(', ') || 'none';

const fixFor = (name: string): string[] => [
  `kubectl -n kube-system patch daemonset ${name} --type=merge -p '{"spec":{"template":{"spec":{"tolerations":[{"operator":"Exists"}]}}}}'`,
];
