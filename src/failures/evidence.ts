// Everything a diagnosis may look at, wherever it came from: a live cluster, a bundle, a piece of text. Gathered first,
// then read only; what was not gathered is known to be unknown.
import { type Answer, AwsAnswers } from './aws-answers.ts';
import type { FailureId, Sighting } from './failure.ts';
import { Objects } from './objects.ts';

/** What is known about a machine type, where the caller has data on them. */
export interface MachineType {
  vcpus: number;
  memoryMiB: number;
  /** Addresses for pods without prefix delegation, plus the two pods of the host's network. */
  maxPods: number;
  architecture: string;
}

export interface ClusterFacts {
  name?: string;
  region?: string;
  accountId?: string;
  kubernetesVersion?: string;
}

export interface Evidence {
  readonly objects: Objects;
  readonly aws: AwsAnswers;
  readonly cluster: ClusterFacts;
  /** The instant the evidence is about: when it was collected, or the newest time in it; never the wall clock. */
  readonly nowMs: number | undefined;
  /** Lines in which signs were seen, by id. */
  readonly sightings: ReadonlyMap<FailureId, readonly Sighting[]>;
  /** Kinds of text that were there to be read. */
  readonly texts: ReadonlySet<string>;
  /** Someone gave a text and asks what it means. */
  readonly isAsked: boolean;
  machineType(name: string): MachineType | undefined;
}

export interface EvidenceInput {
  objects?: Objects;
  aws?: AwsAnswers;
  cluster?: ClusterFacts;
  nowMs?: number | undefined;
  sightings?: readonly Sighting[];
  texts?: Iterable<string>;
  isAsked?: boolean;
  machineType?: (name: string) => MachineType | undefined;
}

export function evidenceOf(input: EvidenceInput): Evidence {
  const sightings = new Map<FailureId, Sighting[]>();
  for (const sighting of input.sightings ?? []) {
    const known = sightings.get(sighting.id);
    if (known === undefined) sightings.set(sighting.id, [sighting]);
    else known.push(sighting);
  }
  return {
    objects: input.objects ?? new Objects(),
    aws: input.aws ?? new AwsAnswers(),
    cluster: input.cluster ?? {},
    nowMs: input.nowMs,
    sightings,
    texts: new Set(input.texts ?? []),
    isAsked: input.isAsked ?? false,
    machineType: input.machineType ?? (() => undefined),
  };
}

/** How long ago a time of an object was, in milliseconds; undefined when either is unknown. */
export function ageMs({ nowMs }: Evidence, time: string): number | undefined {
  const parsed = Date.parse(time);
  return nowMs === undefined || Number.isNaN(parsed) ? undefined : nowMs - parsed;
}

export type { Answer };
