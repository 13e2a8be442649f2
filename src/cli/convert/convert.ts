// `kerf convert`: prints manifests of any age as v1, with their comments, and says what changed and what is left to
// decide.
import { Readable } from 'node:stream';
import { type Command, Option } from 'commander';
import { KerfError } from '../../base/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { isMap, readManifests, readUnits, type Unit } from '../manifests/index.ts';
import { counted, paintFor, progressLine, wrapText, writeWhole } from '../output/index.ts';
import { noteText } from './notes.ts';
import { type ObjectNotes, type Rewritten, rewrite } from './rewrite.ts';

interface Options {
  filename?: string[];
  notes: string;
  write?: boolean;
  output: 'text' | 'json';
}

export function configure(command: Command, run: CommandRunner): void {
  command
    .argument('[files...]', 'files or folders, as with -f')
    .option(
      '-f, --filename <file...>',
      'file, folder, or - for standard input: YAML, JSON, Lists, Markdown with samples',
    )
    .option('--notes <where>', 'where notes go: stderr, inline (comments above each object) or none', 'stderr')
    .option('-w, --write', 'change the files instead of printing')
    .addOption(
      new Option('-o, --output <format>', 'text as it is written, comments included, or a List of all objects')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addHelpText('after', help)
    .action(run(convert));
}

const help = `
Manifests that need no change are printed as they are. Give pools and node classes together: kubelet settings move from
the one to the other, and short nodeClassRefs are completed.

Exit codes: 0 converted, 1 some manifest could not be read as YAML and was left as it is, 2 input unreadable.

Examples:
  kerf convert -f old.yaml > new.yaml
  kerf convert -f manifests/ --write
  kubectl get nodepools,ec2nodeclasses -o yaml | kerf convert -f - --notes inline
  kerf convert -f manifests/ -o json | kubectl diff -f -`;

async function convert(terminal: Terminal, files: string[], options: Options): Promise<number> {
  const names = [...(options.filename ?? []), ...files];
  if (names.length === 0)
    throw new KerfError('NoInput', 'nothing to convert: give files or folders with -f, or - for standard input');
  if (!['stderr', 'inline', 'none'].includes(options.notes))
    throw new KerfError(
      'WrongFlag',
      `unknown place for notes "${options.notes}": write --notes stderr, inline or none`,
    );
  if (options.output === 'json' && (options.write === true || options.notes === 'inline'))
    throw new KerfError('WrongFlag', '-o json prints objects without comments: leave out --write and --notes inline');
  const paint = paintFor({ ...terminal, isTerminal: terminal.errIsTerminal });
  const progress = progressLine(terminal);
  const units: Unit[] = [];
  const prose = new Set<string>();
  let unreadable = 0;
  for await (const item of readUnits(names, { stdin: terminal.stdin })) {
    if (item.kind === 'unreadable') {
      unreadable += 1;
      terminal.err(`${paint.red('error')}: ${item.message}\n`);
      continue;
    }
    const { unit } = item;
    if (options.write === true && unit.file === 'stdin')
      throw new KerfError('WrongFlag', '--write changes files, not standard input; omit --write to print');
    if (options.write === true && unit.isProse) {
      prose.add(unit.file);
      continue;
    }
    if (!unit.isProse || isWholeObject(unit.text)) units.push(unit);
  }
  for (const file of prose)
    terminal.err(`skipped ${file}: --write changes YAML and JSON files only; omit --write to print its samples\n`);
  if (units.length === 0 && prose.size > 0 && unreadable === 0)
    throw new KerfError('WrongFlag', 'nothing to write: there is no YAML or JSON file; omit --write to print');
  const output =
    options.write === true ? new Files() : options.output === 'json' ? new ObjectList() : new Stream(terminal.out);
  const objects: ObjectNotes[] = [];
  const broken: Rewritten[] = [];
  let done = 0;
  for (const result of rewrite(units)) {
    progress.show(() => `converting ${result.unit.file} ${Math.round((100 * done) / units.length)} %`);
    done += 1;
    output.add(result, options.notes === 'inline' ? withNotes(result) : result.text);
    objects.push(...result.objects);
    if (result.broken !== undefined) broken.push(result);
  }
  progress.clear();
  await output.close(terminal);
  if (options.notes === 'stderr' && units.length > 0) printNotes(terminal, objects);
  for (const { unit, broken: why } of broken)
    terminal.err(`${paint.red('error')}: ${unit.file}:${unit.line}: left as it is: ${why}; kerf validate tells more\n`);
  if (unreadable > 0) return exitCode.failure;
  if (units.length === 0) {
    const where = names.map((name) => (name === '-' ? 'stdin' : name)).join(', ');
    terminal.err(`error: nothing to convert: ${where} ${names.length === 1 ? 'holds' : 'hold'} no manifest\n`);
    return exitCode.failure;
  }
  return broken.length > 0 ? exitCode.findings : exitCode.ok;
}

/** Documents also show pieces of manifests and all sorts of other objects; only whole ones of ours are converted. */
function isWholeObject(text: string): boolean {
  return /^["']?kind["']?:/m.test(text) && /^["']?ap[ip]Version["']?: *["']?karpenter\./m.test(text);
}

/** What goes before a document that does not bring its own marker. */
function separator({ unit }: Rewritten, text: string, isFirst: boolean): string {
  const continues = unit.part === 'item' || unit.part === 'tail';
  return isFirst || continues || /^(?:[ \t]*(?:#.*|%.*)?\r?\n)*---/.test(text) ? '' : '---\n';
}

const lineEnded = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

/** Standard output: everything as one stream, in pieces large enough to be quick. */
class Stream {
  private readonly write: (text: string) => void;
  private pending = '';
  private isFirst = true;

  constructor(write: (text: string) => void) {
    this.write = write;
  }

  add(result: Rewritten, text: string): void {
    this.pending += separator(result, text, this.isFirst) + lineEnded(text);
    this.isFirst = false;
    if (this.pending.length > 65_536) this.flush();
  }

  close(_terminal: Terminal): Promise<void> {
    this.flush();
    return Promise.resolve();
  }

  private flush(): void {
    this.write(this.pending);
    this.pending = '';
  }
}

/** The same stream read again: every object in it as one List, which kubectl takes. */
class ObjectList {
  private readonly parts: string[] = [];
  private readonly stream = new Stream((text) => void this.parts.push(text));

  add(result: Rewritten, text: string): void {
    // A document that cannot be read has no object to print; it is reported.
    if (result.broken === undefined) this.stream.add(result, text);
  }

  async close(terminal: Terminal): Promise<void> {
    await this.stream.close(terminal);
    const items: unknown[] = [];
    for await (const item of readManifests(['-'], { stdin: Readable.from(this.parts) }))
      if (item.kind === 'manifest' && isMap(item.manifest.value)) items.push(item.manifest.value);
    terminal.out(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, undefined, 2)}\n`);
  }
}

/** The files themselves; only those with a change are written. */
class Files {
  private readonly files = new Map<string, { text: string; isChanged: boolean }>();

  add(result: Rewritten, text: string): void {
    const file = this.files.get(result.unit.file) ?? { text: '', isChanged: false };
    file.text += separator(result, text, file.text === '') + lineEnded(text);
    file.isChanged ||= result.objects.length > 0;
    this.files.set(result.unit.file, file);
  }

  async close(terminal: Terminal): Promise<void> {
    for (const [name, { text, isChanged }] of this.files) {
      if (!isChanged) continue;
      await writeWhole(name, text);
      terminal.out(`changed ${name}\n`);
    }
  }
}

function withNotes({ unit, text, objects }: Rewritten): string {
  const lines = objects.flatMap(({ object, notes }) => notes.list.map((note) => `# ${object}: ${noteText(note)}`));
  if (lines.length === 0 || unit.format === 'json') return text;
  const comment = `${lines.flatMap((line) => wrapText(line, 118).map((part, index) => (index === 0 ? part : `#   ${part}`))).join('\n')}\n`;
  const marker = /^---[^\n]*\n/.exec(text)?.[0] ?? '';
  return `${marker}${comment}${text.slice(marker.length)}`;
}

function printNotes(terminal: Terminal, objects: readonly ObjectNotes[]): void {
  const paint = paintFor({ ...terminal, isTerminal: terminal.errIsTerminal });
  let changes = 0;
  let decisions = 0;
  for (const { file, line, object, notes } of objects) {
    terminal.err(`${paint.bold(`${file}:${line}`)} ${paint.cyan(object)}\n`);
    for (const note of notes.list) {
      const isDecision = note.kind === 'decide';
      if (isDecision) decisions += 1;
      else changes += 1;
      const [first = '', ...rest] = wrapText(noteText(note), Math.min(terminal.columns, 110) - 4);
      const head = isDecision ? paint.yellow(first) : first;
      terminal.err(
        `  ${isDecision ? paint.yellow('?') : paint.green('✓')} ${head}\n${rest.map((part) => `    ${part}\n`).join('')}`,
      );
    }
  }
  const summary =
    changes + decisions === 0
      ? 'nothing to change'
      : `${counted(changes, 'change')}, ${counted(decisions, 'thing')} to decide`;
  terminal.err(`${paint.bold(summary)}\n`);
}
