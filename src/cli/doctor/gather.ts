// Puts the files of a bundle where they belong: objects, answers of AWS, texts. A file that is broken is named and the rest
// is read. Texts are scanned as they come, so a log of any size passes in bounded memory.
import type { MachineSize } from '../../aws/catalogue.ts';
import { parseTime } from '../../base/index.ts';
import {
  AwsAnswers,
  type Codec,
  callOf,
  catalogue,
  type Evidence,
  evidenceOf,
  Objects,
  objectTexts,
  type ScannedText,
  type Sighting,
  stillOpen,
  type TextKind,
  TextScanner,
  type TextSource,
} from '../../failures/index.ts';
import { chunksOf } from '../manifests/chunks.ts';
import { asMap, asText, isMap, type SyntaxProblem } from '../manifests/index.ts';
import { manifestsIn } from '../manifests/parse.ts';
import { ByteSource } from './bundle/byte-source.ts';
import type { Entry, EntryItem, Skipped } from './bundle/entry.ts';
import { LimitReached } from './bundle/entry.ts';
import { encodingOf, utf8Of } from './bundle/text-encoding.ts';
import { indentedItems, indentOf } from './indented-items.ts';
import { jsonItems } from './json-items.ts';
import { kindsNamed, type Place, placeOf } from './layout.ts';
import { slim } from './slim.ts';
import { answersIn, objectsIn, saysEnough } from './transcript.ts';
import { yamlPieces } from './yaml-pieces.ts';

const decoder = new TextDecoder();
const encoder = new TextEncoder();
export const codec: Codec = { encode: (text) => encoder.encode(text), decode: (bytes) => decoder.decode(bytes) };

/** How kubectl and client libraries begin a List. */
const listHead = /^\s*\{\s*(?:"(?:apiVersion|kind|metadata)"\s*:\s*(?:"[^"]*"|\{[^{}]*\})\s*,\s*){0,3}"items"\s*:\s*\[/;

const binary = 'a binary file';

/** Longer texts are logs: no one pastes that much. */
const longestTranscript = 8 * 1024 ** 2;

/** Largest file of objects or answers that is held in memory. */
const longestDocument = 400 * 1024 ** 2;

/** From here on a file of objects in YAML is read piece by piece. */
const longFile = 8 * 1024 ** 2;

export interface Gathered {
  evidence: Evidence;
  skipped: readonly Skipped[];
  notUnderstood: readonly Skipped[];
  files: number;
  isLive: boolean;
}

export class Gathering {
  readonly objects = new Objects();
  readonly aws = new AwsAnswers();
  private readonly scanner = new TextScanner(catalogue, codec);
  private readonly scans: { source: TextSource; group: string; scanned: ScannedText }[] = [];
  private readonly skipped: Skipped[] = [];
  private readonly notUnderstood: Skipped[] = [];
  private facts: Record<string, unknown> = {};
  private files = 0;
  private newestMs: number | undefined;
  /** What a live cluster answered is named by what was asked: there are no files to look into. */
  private readonly isLive: boolean;

  constructor({ isLive = false }: { isLive?: boolean } = {}) {
    this.isLive = isLive;
  }

  async add(item: EntryItem, bundleName: string): Promise<void> {
    if (item.kind === 'skipped') {
      this.skipped.push(item.skipped);
      return;
    }
    this.files += 1;
    const { path } = item.entry;
    const place = placeOf(path, bundleName);
    try {
      await this.put(place, item.entry);
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      if (thrown instanceof LimitReached) this.skipped.push({ path, reason: `the rest was not read: ${reason}` });
      else this.notUnderstood.push({ path, reason });
    }
  }

  /** A text from somewhere. */
  async addText(source: TextSource, chunks: AsyncIterable<Uint8Array>, group = source.source): Promise<void> {
    const text = await utf8Of(chunks);
    if (text === undefined) {
      this.notUnderstood.push({ path: source.source, reason: binary });
      return;
    }
    const stream = this.scanner.open(source);
    const isPasted = source.kind === 'asked' || source.kind === 'cli';
    const pasted: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of text) {
      stream.push(chunk);
      size += chunk.length;
      if (isPasted && size <= longestTranscript) pasted.push(Uint8Array.from(chunk));
    }
    this.keep(source, group, stream.end());
    if (isPasted && size <= longestTranscript) this.addTranscript(source.source, decoder.decode(Buffer.concat(pasted)));
  }

  /** Objects and answers that stand in a text between other lines; what is not whole there is left to the signs. */
  private addTranscript(path: string, text: string): void {
    for (const piece of objectsIn(text))
      for (const chunk of chunksOf('', piece.text))
        for (const { value, problems, line } of manifestsIn(path, chunk)) {
          const map = asMap(value);
          const name = asText(asMap(map['metadata'])['name']) ?? '';
          if (problems.length === 0 && saysEnough(asText(map['kind']) ?? '', name))
            this.objects.add(slim(value), `${path}:${piece.line + line - 1}`);
        }
    for (const { name, line, text: body } of answersIn(text)) {
      try {
        this.aws.add(name, JSON.parse(body), `${path}:${line}`);
      } catch {
        // Cut off or abridged by hand.
      }
    }
  }

  /** What the objects gathered so far say, before texts are put together. */
  soFar(): Evidence {
    return evidenceOf({
      objects: this.objects,
      aws: this.aws,
      nowMs: parseTime(asText(this.facts['collectedAt']) ?? ''),
    });
  }

  finish({ isAsked = false, sizes }: { isAsked?: boolean; sizes?: ReadonlyMap<string, MachineSize> } = {}): Gathered {
    for (const { text, ...source } of objectTexts(this.objects)) {
      this.noteTime(source.timeMs);
      const scanned = this.scanner.scan(source, text);
      if (scanned.sightings.length > 0) this.scans.push({ source, group: '', scanned });
    }
    const sightings: Sighting[] = stillOpen(this.scans);
    const kinds = new Set<TextKind>(this.scans.map(({ source }) => source.kind));
    if (this.objects.isCollected('Event')) kinds.add('object');
    const collectedAt = parseTime(asText(this.facts['collectedAt']) ?? '');
    const text = (name: string): Record<string, string> => {
      const value = asText(this.facts[name]);
      return value === undefined || value === '' ? {} : { [name]: value };
    };
    const name = asText(this.facts['clusterName']);
    const evidence = evidenceOf({
      objects: this.objects,
      aws: this.aws,
      nowMs: collectedAt ?? this.newestTime(),
      sightings,
      texts: kinds,
      isAsked,
      machineType: (name) => sizes?.get(name),
      cluster: { ...(name ? { name } : {}), ...text('region'), ...text('accountId'), ...text('kubernetesVersion') },
    });
    const { skipped, notUnderstood, files, isLive } = this;
    return { evidence, skipped, notUnderstood, files, isLive };
  }

  private async put(place: Place, { chunks, isCutOff }: Entry): Promise<void> {
    const { path } = place;
    if (place.part === 'unknown') {
      this.notUnderstood.push({ path, reason: 'not a part of a bundle' });
      return;
    }
    if (place.part === 'logs')
      await this.addText({ source: this.isLive ? liveLog(path) : path, kind: 'log' }, chunks, 'logs');
    else if (place.part === 'cli') await this.addText({ source: path, kind: 'cli' }, chunks);
    else if (place.part === 'nodes') await this.addText({ source: path, kind: 'node' }, chunks, `node ${place.node}`);
    else if (place.part === 'objects') await this.putObjects(path, chunks, isCutOff);
    else {
      const text = await textOf(chunks);
      if (place.part === 'facts') this.facts = { ...asMap(JSON.parse(text)), ...this.facts };
      else this.putAnswer(place, text);
    }
  }

  /** A List in JSON and a long file in YAML, item by item; anything else as a whole. */
  private async putObjects(path: string, chunks: AsyncIterable<Uint8Array>, isCutOff = () => false): Promise<void> {
    const source = new ByteSource(chunks);
    const bytes = await source.peek(longFile);
    const head = decoder.decode(bytes.subarray(0, 4096));
    const isJson = /^\s*[{[]/.test(head) && !/^\s*\{\{/.test(head);
    if (isJson && listHead.test(head)) await this.putJsonList(path, head, source);
    else if (isJson || (bytes.length < longFile && !isCutOff()) || encodingOf(bytes) !== 'utf-8')
      this.addObjects(path, await textOf(source.all()));
    else await this.putYamlPieces(path, source, isCutOff);
  }

  private async putYamlPieces(path: string, source: ByteSource, isCutOff: () => boolean): Promise<void> {
    let isBroken = false;
    for await (const chunk of yamlPieces(source.all(), isCutOff))
      for (const { value, problems } of manifestsIn(path, chunk)) {
        const line = chunk.lineOffset + (chunk.text.startsWith('---') ? 2 : 1);
        // A copy: what is cut out of a text keeps all of it in memory.
        const object: unknown = JSON.parse(JSON.stringify(slim(value) ?? null));
        this.objects.add(object, this.isLive ? liveObject(object) : `${path}:${line}`);
        if (problems.length > 0 && !isBroken) {
          isBroken = true;
          this.noteBroken(path, problems, line);
        }
      }
  }

  private async putJsonList(path: string, head: string, source: ByteSource): Promise<void> {
    let rest = '';
    let count = 0;
    const indent = indentOf(head);
    const keepRest = (text: string): void => void (rest = text);
    const items =
      indent === undefined ? jsonItems(source.all(), keepRest) : indentedItems(source.all(), indent, keepRest);
    for await (const { value, line } of items) {
      count += 1;
      this.objects.add(slim(value), this.isLive ? liveObject(value) : `${path}:${line}`);
    }
    const kind = /"kind"\s*:\s*"(\w*List)"/.exec(rest)?.[1];
    if (count === 0) this.emptyList(path, { kind });
    if (!/\}\s*$/.test(rest)) this.notUnderstood.push({ path, reason: 'cut off; what came before was read' });
  }

  addObjects(path: string, text: string): void {
    let isBroken = false;
    for (const chunk of chunksOf(path, text)) {
      for (const manifest of manifestsIn(path, chunk)) {
        const { value, problems } = manifest;
        const stored = this.objects.add(slim(value), () =>
          this.isLive ? liveObject(value) : `${path}:${manifest.line}`,
        );
        if (stored === undefined) this.emptyList(path, value);
        if (problems.length > 0 && !isBroken) {
          isBroken = true;
          this.noteBroken(path, problems, manifest.line);
        }
      }
    }
    if (text.trim() === '') for (const kind of kindsNamed(path)) this.objects.markCollected(kind);
  }

  private noteBroken(path: string, [first]: readonly SyntaxProblem[], line: number): void {
    const reason = `broken here, the rest was read: ${first?.message ?? ''}`;
    this.notUnderstood.push({ path: `${path}:${first?.line ?? line}`, reason });
  }

  /** A List without items proves absence, of what its kind or else its file's name says. */
  private emptyList(path: string, value: unknown): void {
    const kind = isMap(value) ? (asText(value['kind']) ?? '') : '';
    if (isMap(value) && kind !== '' && !kind.endsWith('List')) return;
    const own = kind.replace(/List$/, '');
    for (const one of own === '' ? kindsNamed(path) : [own]) this.objects.markCollected(one);
  }

  private putAnswer({ path, name, isRefusal }: Place & { part: 'aws' }, text: string): void {
    const from = this.isLive ? (callOf(name) ?? path) : path;
    if (isRefusal) {
      if (!this.aws.addRefusal(name, text, from))
        this.notUnderstood.push({ path, reason: 'an operation that no check reads' });
      return;
    }
    const body: unknown = text.trim() === '' ? {} : JSON.parse(text);
    if (!this.aws.add(name, body, from)) this.notUnderstood.push({ path, reason: 'an operation that no check reads' });
    const output = isMap(body) ? asText(body['Output']) : undefined;
    const instance = isMap(body) ? asText(body['InstanceId']) : undefined;
    if (output === undefined || instance === undefined) return;
    const source: TextSource = { source: from, kind: 'node' };
    this.keep(source, `node ${instance}`, this.scanner.scan(source, decodedConsole(output)));
  }

  private keep(source: TextSource, group: string, scanned: ScannedText): void {
    this.noteTime(scanned.lastTimeMs);
    this.scans.push({ source, group, scanned });
  }

  private noteTime(timeMs: number | undefined): void {
    if (timeMs !== undefined && (this.newestMs === undefined || timeMs > this.newestMs)) this.newestMs = timeMs;
  }

  /** The newest instant that any object or text names. */
  private newestTime(): number | undefined {
    for (const kind of this.objects.kinds())
      for (const { object } of this.objects.of(kind)) {
        const { creationTimestamp, deletionTimestamp } = asMap(object['metadata']);
        for (const time of [creationTimestamp, deletionTimestamp]) this.noteTime(parseTime(asText(time) ?? ''));
        const conditions = asMap(object['status'])['conditions'];
        if (!Array.isArray(conditions)) continue;
        for (const one of conditions) {
          this.noteTime(parseTime(asText(asMap(one)['lastTransitionTime']) ?? ''));
          this.noteTime(parseTime(asText(asMap(one)['lastHeartbeatTime']) ?? ''));
        }
      }
    return this.newestMs;
  }
}

/** `Event shop/web.17d2`, `NodeClaim default-kb85v`. */
function liveObject(value: unknown): string {
  const { kind, metadata } = asMap(value);
  const { name, namespace } = asMap(metadata);
  return `${asText(kind) ?? ''} ${namespace === undefined ? '' : `${asText(namespace)}/`}${asText(name) ?? ''}`;
}

/** `log of kube-system/karpenter-7d9f (controller)`. */
function liveLog(path: string): string {
  const [, namespace, pod, file = ''] = path.split('/');
  const [, container, previous] = /^(.*?)(-previous)?\.log$/.exec(file) ?? [];
  return `log of ${namespace}/${pod} (${container}${previous === undefined ? '' : ', before its restart'})`;
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of chunks) {
    size += part.length;
    if (size > longestDocument) throw new Error(`larger than ${longestDocument / 1024 ** 2} MiB`);
    parts.push(part);
  }
  const bytes = Buffer.concat(parts);
  const encoding = encodingOf(bytes);
  if (encoding === undefined) throw new Error(binary);
  return encoding === 'utf-8' ? decoder.decode(bytes) : new TextDecoder(encoding).decode(bytes);
}

/** The aws command decodes console output; other tools leave it as it came. */
function decodedConsole(output: string): string {
  if (output.length < 40 || !/^[A-Za-z0-9+/\r\n]+={0,2}\s*$/.test(output)) return output;
  return Buffer.from(output, 'base64').toString('utf8');
}
