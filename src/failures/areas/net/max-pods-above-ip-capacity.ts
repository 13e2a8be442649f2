// More pods than the interfaces of a type have addresses for.
import type { Failure, Found } from '../../failure.ts';
import { numberAt, textAt } from '../../fields.ts';
import { fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { labelsOf, refOf } from '../../objects.ts';
import { allowedValues } from '../../pools.ts';
import { nodeClassNameOf } from '../../relations.ts';
import { cniSettings, noAddress } from './cni-settings.ts';

export const maxPodsAboveIpCapacity: Failure = {
  id: 'net/max-pods-above-ip-capacity',
  severity: 'high',
  symptom:
    'Pods stay ContainerCreating: `plugin type="aws-cni" … failed (add): add cmd: failed to assign an IP address to container`.',
  cause: 'maxPods is set beyond what the interfaces of the type can address',
  fix: 'Prefix delegation, or a lower `maxPods`, or none.',
  needs: [kinds('EC2NodeClass', 'DaemonSet')],
  signs: [
    {
      words: ['failed to assign an ip address'],
      pattern: noAddress,
      // Whichever of the three it is, the line is the same; objects and subnets tell them apart.
      unless: /InsufficientFreeAddresses|branch ENI|vpc\.amazonaws\.com\/pod-eni|insufficient cidr/i,
      confidence: 'likely',
      until: ['podStarted'],
    },
  ],
  fromText(sightings, evidence) {
    const settings = cniSettings(evidence);
    // The trunk explains it better, and a full subnet best.
    if (settings?.hasPodEni === true && !hasMaxPods(evidence)) return [];
    if (evidence.objects.isCollected('EC2NodeClass') && !hasMaxPods(evidence)) return [];
    return [
      foundIn(sightings, {
        summary:
          'Pods get no address: the node takes more pods than its interfaces have addresses (or its subnet is full).',
        fix: fixFor('default'),
      }),
    ];
  },
  check(evidence): Found[] {
    const settings = cniSettings(evidence);
    if (settings === undefined || settings.hasPrefixes) return [];
    return evidence.objects.of('EC2NodeClass').flatMap((nodeClass): Found[] => {
      const wanted = numberAt(nodeClass.object, 'spec', 'kubelet', 'maxPods');
      if (wanted === undefined) return [];
      const pools = evidence.objects.of('NodePool').filter((pool) => nodeClassNameOf(pool) === nodeClass.name);
      const listed = pools.flatMap((pool) => allowedValues(pool, 'node.kubernetes.io/instance-type') ?? []);
      const seen = evidence.objects
        .of('Node')
        .map(({ object }) => textAt(labelsOf(object), 'node.kubernetes.io/instance-type'));
      const small = [...new Set([...listed, ...seen])].flatMap((name) => {
        const most = evidence.machineType(name)?.maxPods;
        return most !== undefined && wanted > most ? [`${name} (${most})`] : [];
      });
      if (small.length === 0) return [];
      return [
        {
          confidence: 'certain',
          summary: `maxPods ${wanted} of EC2NodeClass ${nodeClass.name} is more than ${small.slice(0, 3).join(', ')} can address, and prefix delegation is off.`,
          objects: [refOf(nodeClass), ...refsOf(pools)],
          evidence: [
            fieldItem(nodeClass, 'spec.kubelet.maxPods', String(wanted)),
            fieldItem(settings.daemon, 'ENABLE_PREFIX_DELEGATION', 'false'),
          ],
          fix: fixFor(nodeClass.name),
          key: nodeClass.name,
        },
      ];
    });
  },
};

const hasMaxPods = ({ objects }: Parameters<NonNullable<Failure['check']>>[0]): boolean =>
  objects.of('EC2NodeClass').some(({ object }) => numberAt(object, 'spec', 'kubelet', 'maxPods') !== undefined);

const fixFor = (name: string): string[] => [
  `kubectl patch ec2nodeclass ${name} --type=json -p '[{"op":"remove","path":"/spec/kubelet/maxPods"}]'  # the density of each type is used then`,
  'Or more addresses: kubectl -n kube-system set env daemonset/aws-node ENABLE_PREFIX_DELEGATION=true WARM_PREFIX_TARGET=1',
];
