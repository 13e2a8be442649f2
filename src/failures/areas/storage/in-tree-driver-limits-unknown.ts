// Volumes of in-tree drivers have no entry in CSINode, so it is unknown how many a node can attach.
import type { Evidence } from '../../evidence.ts';
import type { Failure, Found } from '../../failure.ts';
import { at, textAt } from '../../fields.ts';
import { aroundOf, fieldItem, foundIn, refsOf, surest } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';
import { annotationsOf, type Stored } from '../../objects.ts';

export const inTreeDriverLimitsUnknown: Failure = {
  id: 'storage/in-tree-driver-limits-unknown',
  severity: 'high',
  symptom:
    'Many pods with volumes on one node; `FailedAttachVolume … expected device to be attached but was attaching`; no scale-up.',
  cause: 'Attach limits are read from CSINode, and volumes of an in-tree driver have no entry there',
  fix: 'Storage classes of CSI (`ebs.csi.aws.com`) and migrated volumes.',
  needs: [anyOf(kinds('PersistentVolume'), kinds('StorageClass'), texts('log'))],
  signs: [
    {
      words: ['in-tree storage plugin'],
      pattern:
        /(?:PersistentVolume source '(?<source>\w+)'|StorageClass \.spec\.provisioner|StorageClass).{0,60}uses an in-tree storage plugin/i,
    },
    // Every cluster of EKS was created with such a class; it is trouble where volumes are not attached.
    {
      words: ['kubernetes.io/aws-ebs'],
      pattern: /(?:StorageClass|provisioner)\W.{0,80}kubernetes\.io\/aws-ebs\b/i,
      where: ['asked', 'cli'],
      confidence: 'possible',
    },
  ],
  fromText(sightings, evidence) {
    const isAttachRefused = evidence.sightings.has('storage/attach-limit-race-at-registration');
    const isCertain = surest(sightings) === 'certain';
    // A class of CSI beside it: the volumes may be of that one.
    const hasOther = aroundOf(sightings, /(ebs\.csi\.aws\.com)/) !== undefined;
    if (!isCertain && (!isAttachRefused || hasOther)) return [];
    const name =
      aroundOf(sightings, /"storage-class": ?"([^"]+)"/) ?? aroundOf(sightings, /storageclass\/?:? ([\w-]+)/i);
    return [
      {
        ...foundIn(sightings, {
          summary: `Volumes of an in-tree driver are in use${name === undefined ? '' : ` (storage class ${name})`}: how many a node can attach is unknown.`,
          fix: fixFor(name ?? 'gp2'),
        }),
        ...(isCertain ? {} : { confidence: 'likely' }),
      },
    ];
  },
  check(evidence): Found[] {
    const volumes = evidence.objects
      .of('PersistentVolume')
      .filter(({ object }) => at(object, 'spec', 'awsElasticBlockStore') !== undefined && !isMigrated(object));
    const classes = inUse(evidence);
    if (volumes.length === 0 && classes.length === 0) return [];
    return [
      {
        // A storage class that no one uses hurts no one; the API server translates volumes of migrated drivers.
        confidence: hasAttachTrouble(evidence) ? 'certain' : 'possible',
        summary: `${volumes.length > 0 ? `${volumes.length} volumes` : `Storage class ${classes.map(({ name }) => name).join(', ')}`} of the in-tree driver kubernetes.io/aws-ebs: how many a node can attach is unknown to the autoscaler.`,
        objects: refsOf([...volumes.slice(0, 5), ...classes]),
        evidence: [
          ...volumes.slice(0, 3).map((one) => fieldItem(one, 'spec', 'awsElasticBlockStore')),
          ...classes.map((one) => fieldItem(one, 'provisioner', textAt(one.object, 'provisioner'))),
        ],
        fix: fixFor(classes[0]?.name ?? 'gp2'),
      },
    ];
  },
  explains: ['storage/attach-limit-race-at-registration'],
};

const isMigrated = (object: Stored['object']): boolean =>
  textAt(annotationsOf(object), 'pv.kubernetes.io/migrated-to') !== '';

function inUse({ objects }: Evidence): Stored[] {
  const used = new Set(
    objects.of('PersistentVolumeClaim').map(({ object }) => textAt(object, 'spec', 'storageClassName')),
  );
  return objects
    .of('StorageClass')
    .filter(({ object, name }) => textAt(object, 'provisioner') === 'kubernetes.io/aws-ebs' && used.has(name));
}

function hasAttachTrouble({ objects }: Evidence): boolean {
  return objects
    .of('Event')
    .some(({ object }) => ['FailedAttachVolume', 'FailedMount'].includes(textAt(object, 'reason')));
}

const fixFor = (name: string): string[] => [
  `kubectl apply -f - <<< '{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"${name}-csi"},"provisioner":"ebs.csi.aws.com","volumeBindingMode":"WaitForFirstConsumer","parameters":{"type":"gp3"}}'`,
  `Move claims of ${name} to it (snapshot and restore, or recreate), then delete ${name}.`,
];
