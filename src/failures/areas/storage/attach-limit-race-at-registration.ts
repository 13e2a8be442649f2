// Pods bound to a node before its CSI driver said how many volumes it takes.
import type { Evidence } from '../../evidence.ts';
import type { Failure, Found, Sighting } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { aroundOf, foundIn } from '../../found.ts';
import { kinds } from '../../needs.ts';

const taint = 'ebs.csi.aws.com/agent-not-ready';

export const attachLimitRaceAtRegistration: Failure = {
  id: 'storage/attach-limit-race-at-registration',
  severity: 'high',
  symptom:
    'Volumes do not attach on a new node although CSI is used: `expected device to be attached but was attaching`, `exceeded the maximum`.',
  cause:
    'The scheduler bound pods before CSINode listed the limit of the driver: no limit known means no limit applied',
  fix: '`startupTaints: [{key: ebs.csi.aws.com/agent-not-ready, effect: NoExecute}]` (EFS has its own); spread pods with volumes.',
  needs: [kinds('Event')],
  signs: [
    {
      words: [
        'was attaching',
        'attachment of disk',
        'attachmentlimitexceeded',
        'maximum number of volumes',
        'attachvolume.attach failed',
      ],
      pattern:
        /(?:AttachVolume\.Attach failed|attachment of disk|Could not attach volume).{0,300}(?:expected device to be attached but was attaching|AttachmentLimitExceeded|maximum (?:number of )?(?:volumes|attachments)|limit)/i,
      unless: /in-tree/i,
      confidence: 'likely',
      until: ['podStarted'],
    },
  ],
  fromText(sightings, evidence) {
    // The other entry says it where a volume is of an in-tree driver.
    const inTree = evidence.sightings.get('storage/in-tree-driver-limits-unknown') ?? [];
    if (inTree.some(({ around }) => !around.includes('ebs.csi.aws.com') || /in-tree/.test(around))) return [];
    const pools = poolsWithoutTaint(evidence);
    // Pools that have the taint are not raced.
    if (evidence.objects.of('NodePool').length > 0 && pools.length === 0) return [];
    return [
      foundIn(sightings, {
        summary: `More volumes were put on ${nodeOf(sightings)} than it can attach: pods were bound before the driver said how many.`,
        fix: pools.length === 0 ? [fixFor('default')] : pools.map(fixFor),
      }),
    ];
  },
  check({ objects }): Found[] {
    // More volumes attached than the driver allows, by the objects alone.
    const counts = new Map<string, number>();
    for (const { object } of objects.of('VolumeAttachment')) {
      if (textAt(object, 'spec', 'attacher') !== 'ebs.csi.aws.com') continue;
      const node = textAt(object, 'spec', 'nodeName');
      counts.set(node, (counts.get(node) ?? 0) + 1);
    }
    const over = objects.of('CSINode').flatMap(({ name, object, source }) => {
      const driver = listAt(object, 'spec', 'drivers').find((one) => textAt(one, 'name') === 'ebs.csi.aws.com');
      const limit = Number(textAt(driver, 'allocatable', 'count') || Number.POSITIVE_INFINITY);
      return (counts.get(name) ?? 0) > limit ? [{ name, source, limit }] : [];
    });
    if (over.length === 0) return [];
    return [
      {
        confidence: 'certain',
        summary: `${over.map(({ name }) => name).join(', ')}: more volumes than the driver can attach (${over[0]?.limit}).`,
        objects: over.map(({ name }) => ({ kind: 'Node', name })),
        evidence: over.map(({ name, source, limit }) => ({
          source,
          text: `CSINode ${name}: allocatable ${limit}, attachments ${counts.get(name)}`,
        })),
        fix: objects
          .of('NodePool')
          .map(({ name }) => fixFor(name))
          .slice(0, 3),
      },
    ];
  },
};

const nodeOf = (sightings: readonly Sighting[]): string => aroundOf(sightings, /to node "?([\w.-]+)"?/) ?? 'a node';

function poolsWithoutTaint({ objects }: Evidence): string[] {
  return objects
    .of('NodePool')
    .filter(
      ({ object }) =>
        !listAt(object, 'spec', 'template', 'spec', 'startupTaints').some((one) => textAt(one, 'key') === taint),
    )
    .map(({ name }) => name);
}

const fixFor = (pool: string): string =>
  `kubectl patch nodepool ${pool} --type=merge -p '{"spec":{"template":{"spec":{"startupTaints":[{"key":"${taint}","effect":"NoExecute"}]}}}}'  # keeps other startup taints only if they are written out too`;
