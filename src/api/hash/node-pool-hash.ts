// Static drift: the hash of a NodePool's template without its requirements. A node whose claim carries another value was
// made from another template.
import { parseGoDurationNs, parseTime } from '../../base/index.ts';
import type { NodeClaimTemplate } from '../kinds/node-pool.ts';
import {
  type Hash,
  hashDuration,
  hashInt64,
  hashList,
  hashStruct,
  hashText,
  hashTime,
  ifSet,
  ifText,
  ifTextMap,
} from './structural-hash.ts';

/** Changes whenever the algorithm or the hashed fields do; values of different versions are never compared. */
export const nodePoolHashVersion = 'v3';

type TemplateSpec = NodeClaimTemplate['spec'];
type Taint = NonNullable<TemplateSpec['taints']>[number];

const hashTaint = (taint: Taint): Hash =>
  hashStruct('Taint', [
    ['Key', ifText(taint.key)],
    ['Value', ifText(taint.value)],
    ['Effect', ifText(taint.effect)],
    [
      'TimeAdded',
      ifSet(taint.timeAdded === undefined ? undefined : parseTime(taint.timeAdded), (time) =>
        hashStruct('Time', [['Time', hashTime(time)]]),
      ),
    ],
  ]);

const hashTaints = (taints: readonly Taint[] | undefined): Hash | undefined =>
  ifSet(taints, (present) => hashList(present.map(hashTaint)));

function hashNodeClassRef({ kind, name, group }: TemplateSpec['nodeClassRef']): Hash {
  return hashStruct('NodeClassReference', [
    ['Kind', ifText(kind)],
    ['Name', ifText(name)],
    ['Group', ifText(group)],
  ]);
}

/** Nothing for `Never` and for text that is not a duration. */
const ifDuration = (text: string | undefined, hash: (nanoseconds: bigint) => Hash): Hash | undefined =>
  ifSet(text === undefined ? undefined : parseGoDurationNs(text), hash);

/** Here zero is a value like any other: an age of zero means something else than none. */
const hashNillableDuration = (nanoseconds: bigint): Hash =>
  hashStruct('NillableDuration', [['Duration', hashInt64(nanoseconds)]]);

function hashSpec(spec: TemplateSpec): Hash {
  return hashStruct('NodeClaimTemplateSpec', [
    ['Taints', hashTaints(spec.taints)],
    ['StartupTaints', hashTaints(spec.startupTaints)],
    ['NodeClassRef', hashNodeClassRef(spec.nodeClassRef)],
    ['TerminationGracePeriod', ifDuration(spec.terminationGracePeriod, hashDuration)],
    ['ExpireAfter', ifDuration(spec.expireAfter, hashNillableDuration)],
  ]);
}

/** The annotation's value: an unsigned 64-bit number in decimal. */
export function nodePoolHash(template: NodeClaimTemplate): string {
  const { labels, annotations } = template.metadata ?? {};
  const hasMetadata = labels !== undefined || annotations !== undefined;
  return hashText(
    hashStruct('NodeClaimTemplate', [
      [
        'ObjectMeta',
        hasMetadata
          ? hashStruct('ObjectMeta', [
              ['Labels', ifTextMap(labels)],
              ['Annotations', ifTextMap(annotations)],
            ])
          : undefined,
      ],
      ['Spec', hashSpec(template.spec)],
    ]),
  );
}
