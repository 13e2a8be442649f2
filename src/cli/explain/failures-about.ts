// The catalogue's entries for what is explained: what `kerf doctor` would find about these objects in the same snapshot, and
// what the controller itself wrote into their conditions, which may rest on answers of AWS that a snapshot does not have.
import { parseTime } from '../../base/index.ts';
import type { Snapshot, SnapshotObject } from '../../core/index.ts';
import {
  catalogue,
  diagnose,
  evidenceOf,
  type FailureId,
  type Finding,
  Objects,
  objectTexts,
  pageOf,
  TextScanner,
} from '../../failures/index.ts';
import type { Paint } from '../output/index.ts';
import { wrapText } from '../output/index.ts';

export interface Ref {
  kind: string;
  name: string;
}

export interface NamedFailure {
  id: FailureId;
  severity: Finding['severity'];
  confidence: Finding['confidence'];
  summary: string;
  evidence: readonly { source: string; text: string }[];
  fix: readonly string[];
  page: string;
}

/** Of thousands of pods only the one that is asked about is looked at; the rest of a cluster is small. */
const looked: ReadonlySet<string> = new Set(['NodePool', 'NodeClaim', 'EC2NodeClass', 'Node', 'DaemonSet']);
/** Failures of launching and joining; advice on security and on tools belongs to the doctor. */
const areas = /^(?:startup|crd|iam|ami|registration|init|scheduling|storage|net|windows)\//;
const besides: readonly string[] = [
  'iam/imds-open-to-pods',
  'iam/controller-policy-too-broad',
  'net/discovery-tag-not-cluster-scoped',
  'ami/unintended-image-selected',
];

export function failuresAbout(snapshot: Snapshot, refs: readonly Ref[], pod?: string): NamedFailure[] {
  const isAsked = ({ kind, name }: Ref): boolean => refs.some((ref) => ref.kind === kind && ref.name === name);
  const objects = new Objects();
  for (const object of snapshot.objects.items) {
    const isPod = object.kind === 'Pod' && `${object.metadata.namespace ?? 'default'}/${object.metadata.name}` === pod;
    if (isPod || looked.has(object.kind)) objects.add(object, object.kind.toLowerCase());
  }
  const found = findingsIn(objects, parseTime(snapshot.time ?? ''))
    .filter(({ id, severity }) => areas.test(id) && !besides.includes(id) && severity !== 'low')
    .filter((finding) => finding.objects.some((ref) => isAsked(ref)));
  const written = snapshot.objects.items
    .filter(({ kind, metadata }) => isAsked({ kind, name: metadata.name }))
    .flatMap(writtenFailures)
    .filter(({ id }, index, all) => all.findIndex((other) => other.id === id) === index);
  const isKnown = (id: string): boolean => written.some((failure) => failure.id === id);
  // What the controller found out is more than "it did not register".
  const isExplained = (id: FailureId): boolean =>
    written.some((failure) => catalogue.find((entry) => entry.id === failure.id)?.explains?.includes(id) === true);
  return [
    ...written,
    ...found
      .filter(({ id }) => !isKnown(id) && !isExplained(id))
      .map(({ id, severity, confidence, summary, evidence, fix }) => ({
        id,
        severity,
        confidence,
        summary,
        evidence,
        fix,
        page: pageOf(id),
      })),
  ];
}

function findingsIn(objects: Objects, nowMs: number | undefined): readonly Finding[] {
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  const scanner = new TextScanner(catalogue, {
    encode: (text) => encoder.encode(text),
    decode: (bytes) => decoder.decode(bytes),
  });
  const sightings = [...objectTexts(objects)].flatMap(({ text, ...source }) => scanner.scan(source, text).sightings);
  return diagnose(catalogue, evidenceOf({ objects, nowMs, sightings, texts: ['object'] })).findings;
}

interface Condition {
  type: string;
  status?: string;
  message?: string;
}

const pointer = /\(([a-z]+\/[a-z0-9-]+): kerf doctor --only /;

/** What the condition's type says already. */
const opening = /^(?:Node not registered with cluster|Launches are paused): /;

/** Conditions that name a failure: its sentence, its fix and the condition as evidence. */
function writtenFailures({ kind, metadata, ...rest }: SnapshotObject): NamedFailure[] {
  const { conditions = [] } = (rest['status'] ?? {}) as { conditions?: Condition[] };
  return conditions.flatMap(({ type, status, message = '' }): NamedFailure[] => {
    const entry = catalogue.find(({ id }) => id === pointer.exec(message)?.[1]);
    if (entry === undefined || (status === 'True' && !bad.has(type))) return [];
    const reported = message.slice(0, message.search(pointer)).replace(opening, '').trim();
    const [summary = reported, ...fixes] = reported.split(' Fix: ');
    return [
      {
        id: entry.id,
        severity: entry.severity,
        confidence: 'certain',
        summary,
        evidence: [{ source: `${kind.toLowerCase()}/${metadata.name}`, text: `${type}=${status ?? 'Unknown'}` }],
        fix: fixes.length === 0 ? [entry.fix] : fixes,
        page: pageOf(entry.id),
      },
    ];
  });
}

/** Conditions whose True is the trouble. */
const bad: ReadonlySet<string> = new Set(['LaunchesPaused', 'DeletionReason']);

export function renderFailures(
  failures: readonly NamedFailure[],
  { paint, columns }: { paint: Paint; columns: number },
): string {
  const lines = failures.flatMap(({ id, severity, confidence, summary, evidence, fix, page }) => [
    `  ${paint.bold(id)}  ${severity}, ${confidence}`,
    ...indented(summary, 4, columns),
    ...evidence
      .slice(0, 3)
      .flatMap(({ source, text }) => indented(`seen in ${source}: ${text}`, 4, columns).map(paint.dim)),
    ...fix.map((line) => `    fix: ${line}`),
    `    see ${page}, or: kerf doctor --only ${id}`,
  ]);
  return lines.map((line) => `${line}\n`).join('');
}

const indented = (text: string, by: number, columns: number): string[] =>
  wrapText(text, Math.max(40, columns - by)).map((line) => ' '.repeat(by) + line);
