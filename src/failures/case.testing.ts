// A case of the catalogue: evidence in, ids out. Every id has at least two positive cases of different wording or shape and
// one near miss, all in `areas/<area>/<area>.cases.testing.ts`; `catalogue.test.ts` runs them and counts them.
import { AwsAnswers } from './aws-answers.ts';
import { catalogue } from './catalogue.ts';
import { diagnose } from './diagnose.ts';
import { evidenceOf, type MachineType } from './evidence.ts';
import type { Diagnosis, FailureId, Sighting, TextKind } from './failure.ts';
import { objectTexts } from './object-texts.ts';
import { Objects } from './objects.ts';
import type { Codec } from './text/lines.ts';
import { TextScanner } from './text/scan.ts';

export interface CaseEvidence {
  /** A text that someone asks about. */
  text?: string;
  /** Objects; kinds of which there are none are named in `none`. */
  objects?: readonly object[];
  /** Kinds that were collected and are absent. */
  none?: readonly string[];
  /** Answers by file name without ending. */
  aws?: Readonly<Record<string, object>>;
  /** Refusals by file name without ending. */
  refused?: Readonly<Record<string, string>>;
  /** Texts by path: `logs/…`, `nodes/…`, `cli/…`. */
  texts?: Readonly<Record<string, string>>;
  cluster?: { name?: string; region?: string; accountId?: string; kubernetesVersion?: string };
  now?: string;
}

export interface FailureCase extends CaseEvidence {
  id: FailureId;
  /** What is special about it, as the end of a test's name. */
  name: string;
  /** The id must not be found; `instead` is what it really is. */
  nearMiss?: true;
  instead?: FailureId;
  confidence?: 'certain' | 'likely' | 'possible';
  /** Every one of these stands somewhere in the fix. */
  fix?: readonly string[];
}

const codec: Codec = {
  encode: (text) => new TextEncoder().encode(text),
  decode: (bytes) => new TextDecoder().decode(bytes),
};

const scanner = new TextScanner(catalogue, codec);

const kindOfPath = (path: string): TextKind =>
  path.startsWith('nodes/') ? 'node' : path.startsWith('cli/') ? 'cli' : 'log';

const types: Readonly<Record<string, MachineType>> = {
  'm5.large': { vcpus: 2, memoryMiB: 8192, maxPods: 29, architecture: 'amd64' },
  'm5.xlarge': { vcpus: 4, memoryMiB: 16_384, maxPods: 58, architecture: 'amd64' },
  't3.medium': { vcpus: 2, memoryMiB: 4096, maxPods: 17, architecture: 'amd64' },
};

export function diagnoseCase(given: CaseEvidence): Diagnosis {
  const objects = new Objects();
  for (const kind of given.none ?? []) objects.markCollected(kind);
  for (const object of given.objects ?? []) objects.add(object, 'objects/all.yaml');
  const aws = new AwsAnswers();
  for (const [name, body] of Object.entries(given.aws ?? {})) aws.add(name, body, `aws/${name}.json`);
  for (const [name, text] of Object.entries(given.refused ?? {})) aws.addRefusal(name, text, `aws/${name}.err`);
  const sightings: Sighting[] = [];
  const kinds = new Set<string>();
  let nowMs = given.now === undefined ? undefined : Date.parse(given.now);
  const texts: [string, TextKind, string][] = Object.entries(given.texts ?? {}).map(([path, text]) => [
    path,
    kindOfPath(path),
    text,
  ]);
  if (given.text !== undefined) texts.push(['stdin', 'asked', given.text]);
  for (const [source, kind, text] of texts) {
    kinds.add(kind);
    const scanned = scanner.scan({ source, kind }, text);
    sightings.push(...scanned.sightings);
    if (given.now === undefined && scanned.lastTimeMs !== undefined)
      nowMs = Math.max(nowMs ?? scanned.lastTimeMs, scanned.lastTimeMs);
  }
  if (objects.isCollected('Event')) kinds.add('object');
  for (const { text, ...source } of objectTexts(objects)) sightings.push(...scanner.scan(source, text).sightings);
  const evidence = evidenceOf({
    objects,
    aws,
    nowMs,
    sightings,
    texts: kinds,
    isAsked: given.text !== undefined,
    machineType: (name) => types[name],
    ...(given.cluster === undefined ? {} : { cluster: given.cluster }),
  });
  return diagnose(catalogue, evidence);
}

export const now = '2026-03-01T12:00:00Z';
/** An instant this many minutes before `now`. */
export const minutesAgo = (minutes: number): string =>
  new Date(Date.parse(now) - minutes * 60_000).toISOString().replace('.000', '');

/** An object with the fields that every one has. */
export function object(kind: string, name: string, rest: object = {}, namespace?: string): object {
  const apiVersion = apiVersions[kind] ?? 'v1';
  const { metadata = {}, ...fields } = rest as { metadata?: object };
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      creationTimestamp: minutesAgo(60),
      ...metadata,
    },
    ...fields,
  };
}

const apiVersions: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  DaemonSet: 'apps/v1',
  NodePool: 'karpenter.sh/v1',
  NodeClaim: 'karpenter.sh/v1',
  EC2NodeClass: 'karpenter.k8s.aws/v1',
  CustomResourceDefinition: 'apiextensions.k8s.io/v1',
  PodDisruptionBudget: 'policy/v1',
};

export const condition = (type: string, status: string, reason = '', message = '', minutes = 30): object => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: minutesAgo(minutes),
});
