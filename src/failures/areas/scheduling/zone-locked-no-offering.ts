// A volume holds its pod in a zone in which no pool can launch.

import type { Evidence } from '../../evidence.ts';
import { waitingPods } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, textAt, textsAt } from '../../fields.ts';
import { allCaught, fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import type { Stored } from '../../objects.ts';
import { couldServe, zoneKey, zonesOf } from '../../pools.ts';

export const zoneLockedNoOffering: Failure = {
  id: 'scheduling/zone-locked-no-offering',
  severity: 'high',
  symptom: 'A pod of a StatefulSet waits: its volume is in a zone that no pool serves (`had a required offering`).',
  cause: 'The volume pins the pod to a zone in which the pool has no subnet or no available offering',
  fix: 'Put a subnet of that zone back into the node class, or move the data by snapshot and restore.',
  needs: [kinds('Pod', 'PersistentVolumeClaim', 'PersistentVolume', 'NodePool', 'EC2NodeClass')],
  signs: [
    {
      words: ['had a required offering', 'has the required offering', 'has a required offering'],
      pattern:
        /(?:topology\.kubernetes\.io\/zone|topology\.ebs\.csi\.aws\.com\/zone) In \[(?<zone>[\w-]+)\].{0,200}(?:had enough resources had a required offering|no instance type has (?:the|a) required offering)/i,
      confidence: 'likely',
      until: ['launched'],
    },
    {
      words: ['volume node affinity conflict'],
      pattern: /0\/\d+ nodes are available: (?:\d+ [^,.]{0,80}, ){0,4}\d+ node\(s\) had volume node affinity conflict/i,
      confidence: 'likely',
      where: ['asked', 'cli'],
    },
    {
      words: ['volume node affinity conflict'],
      pattern:
        /volume node affinity conflict.{0,400}key topology\.kubernetes\.io\/zone, topology\.kubernetes\.io\/zone In \[(?<zone>[\w-]+)\] not in|key topology\.kubernetes\.io\/zone, topology\.kubernetes\.io\/zone In \[(?<zone2>[\w-]+)\] not in.{0,400}volume node affinity conflict/i,
      confidence: 'likely',
      where: ['asked', 'cli'],
    },
    // What is left of two zones that exclude each other: volumes of one pod in different zones, or a selector beside a volume.
    {
      words: ['zone doesnotexist not in'],
      pattern: /topology\.kubernetes\.io\/zone DoesNotExist not in topology\.kubernetes\.io\/zone/i,
      confidence: 'likely',
      until: ['launched'],
    },
    {
      words: ['required offering'],
      pattern: /(?:volume|pv|persistentvolume|PVC)\b.{0,120}(?:zone|us-|eu-|ap-).{0,200}required offering/i,
      confidence: 'likely',
      where: ['asked'],
    },
  ],
  fromText(sightings) {
    const zones = [...new Set([...allCaught(sightings, 'zone'), ...allCaught(sightings, 'zone2')])];
    return [
      foundIn(sightings, {
        summary: `A pod is held in zone ${zones.join(', ') || 'of its volume'}, in which no pool has an offering.`,
        fix: [
          `Add a subnet of ${zones.join(', ') || 'that zone'} to what spec.subnetSelectorTerms of the EC2NodeClass selects, and allow the zone in the NodePool; or restore the volume from a snapshot in a zone that is served.`,
        ],
      }),
    ];
  },
  check(evidence): Found[] {
    const stuck = waitingPods(evidence).flatMap((pod) => {
      const bound = volumeZones(pod, evidence);
      if (bound === undefined) return [];
      const serving = evidence.objects.of('NodePool').filter((pool) => couldServe(pool, pod));
      const zones = serving.map((pool) => zonesOf(pool, evidence));
      const isServed =
        serving.length === 0 ||
        zones.some((list) => list === undefined || list.some((zone) => bound.zones.includes(zone)));
      return isServed ? [] : [{ pod, bound, zones: [...new Set(zones.flatMap((list) => list ?? []))] }];
    });
    if (stuck.length === 0) return [];
    const [first] = stuck;
    return [
      {
        confidence: 'certain',
        summary: `${first?.pod.name} waits in zone ${first?.bound.zones.join(', ')}, where its volume ${first?.bound.volume.name} is; the pools serve ${first?.zones.join(', ')}.`,
        objects: refsOf(stuck.map(({ pod }) => pod)),
        evidence: stuck
          .slice(0, 3)
          .flatMap(({ bound, zones }) => [
            fieldItem(bound.volume, 'spec.nodeAffinity zone', bound.zones.join(', ')),
            { source: bound.volume.source, text: `zones of the pools: ${zones.join(', ')}` },
          ]),
        fix: [
          `Tag a subnet of ${first?.bound.zones.join(', ')} so that spec.subnetSelectorTerms of the node class selects it, and allow the zone in the NodePool.`,
          `Or move the data: snapshot ${first?.bound.volume.name} and restore it in ${first?.zones[0] ?? 'a zone that is served'}.`,
        ],
      },
    ];
  },
  explains: ['scheduling/no-instance-type-fits'],
};

function volumeZones(pod: Stored, { objects }: Evidence): { zones: string[]; volume: Stored } | undefined {
  for (const volume of listAt(pod.object, 'spec', 'volumes')) {
    const claim = objects.find(
      'PersistentVolumeClaim',
      textAt(volume, 'persistentVolumeClaim', 'claimName'),
      pod.namespace,
    );
    const bound =
      claim === undefined ? undefined : objects.find('PersistentVolume', textAt(claim.object, 'spec', 'volumeName'));
    if (bound === undefined) continue;
    const terms = listAt(bound.object, 'spec', 'nodeAffinity', 'required', 'nodeSelectorTerms');
    const zones = terms.flatMap((term) =>
      listAt(term, 'matchExpressions')
        .filter((one) =>
          [zoneKey, 'topology.ebs.csi.aws.com/zone', 'topology.kubernetes.io/zone'].includes(textAt(one, 'key')),
        )
        .flatMap((one) => textsAt(one, 'values')),
    );
    if (zones.length > 0) return { zones, volume: bound };
  }
  return undefined;
}
