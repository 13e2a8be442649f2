// `kerf validate`: reads manifests and says everything that is wrong with them, where, and what to write instead.
import type { Command } from 'commander';
import { KerfError } from '../../base/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { type Manifest, readManifests } from '../manifests/index.ts';
import { paintFor, progressLine } from '../output/index.ts';
import { Check } from './check.ts';
import type { Finding } from './finding.ts';
import { countBySeverity, fileReport, summary, type Totals } from './report.ts';
import { rules } from './rules/index.ts';

interface Options {
  filename?: string[];
  output: string;
  strict?: boolean;
  ignore?: string[];
  kubernetesVersion?: string;
}

export function configure(command: Command, run: CommandRunner): void {
  command
    .argument('[files...]', 'files or folders, as with -f')
    .option(
      '-f, --filename <file...>',
      'file, folder, or - for standard input: YAML, JSON, Lists, Markdown with samples',
    )
    .option('-o, --output <format>', 'table or json', 'table')
    .option('--strict', 'fail on warnings too')
    .option('--ignore <rule...>', 'rules to leave out, such as M17')
    .option('--kubernetes-version <version>', 'version of the cluster, for rules that depend on it: 1.33')
    .addHelpText('after', help)
    .action(run(validate));
}

const help = `
Exit codes: 0 no errors, 1 errors found (warnings too with --strict), 2 input unreadable or nothing to check.
Rules are explained in docs/reference/validate.md.

Examples:
  kerf validate -f nodepool.yaml
  kerf validate -f manifests/ --strict
  kubectl get nodepools,ec2nodeclasses -o yaml | kerf validate -f -
  kerf validate -f guide.md -o json`;

async function validate(terminal: Terminal, files: string[], options: Options): Promise<number> {
  const names = [...(options.filename ?? []), ...files];
  if (names.length === 0)
    throw new KerfError('NoInput', 'nothing to validate: give files or folders with -f, or - for standard input');
  if (options.output !== 'table' && options.output !== 'json')
    throw new KerfError('WrongFlag', `unknown output format "${options.output}": write -o table or -o json`);
  const check = new Check({ ignore: ignored(options.ignore), kubernetesMinor: minor(options.kubernetesVersion) });
  const unreadable: { file: string; message: string }[] = [];
  const seen = await readAll(terminal, names, check, unreadable);
  if (check.asksForMachines) {
    const { builtInMachineSizes } = await import('../../aws/catalogue.ts');
    check.knowMachines((await builtInMachineSizes()).keys());
  }
  const { findings, checked, unchecked } = check.finish();
  const totals: Totals = { files: seen.files.length, checked, unchecked, unreadable: unreadable.length };
  const sorted = sortFindings(findings, seen.files);
  if (options.output === 'json')
    terminal.out(`${JSON.stringify(jsonReport(sorted, totals, unreadable), undefined, 2)}\n`);
  else if (!seen.isEmpty || unreadable.length > 0) printTable(terminal, sorted, totals, unreadable);
  if (unreadable.length > 0) return exitCode.failure;
  if (seen.isEmpty) {
    terminal.err(
      `error: nothing to validate: ${names.map((name) => (name === '-' ? 'stdin' : name)).join(', ')} ${names.length === 1 ? 'holds' : 'hold'} no manifest\n`,
    );
    return exitCode.failure;
  }
  const counts = countBySeverity(findings);
  return counts.error > 0 || (options.strict === true && counts.warning > 0) ? exitCode.findings : exitCode.ok;
}

async function readAll(
  terminal: Terminal,
  names: readonly string[],
  check: Check,
  unreadable: { file: string; message: string }[],
): Promise<{ files: string[]; isEmpty: boolean }> {
  const progress = progressLine(terminal);
  const files: string[] = [];
  let isEmpty = true;
  let document: { file: string; text: string; code: Set<number> } | undefined;
  const closeDocument = (): void => {
    if (document === undefined) return;
    const { code } = document;
    check.prose(document.file, document.text, (line) => code.has(line));
    document = undefined;
  };
  for await (const item of readManifests(names, { stdin: terminal.stdin, progress })) {
    if (item.kind === 'unreadable') unreadable.push({ file: item.file, message: item.message });
    else if (item.kind === 'file') {
      closeDocument();
      files.push(item.file);
      isEmpty &&= !item.isProse;
      if (item.isProse) document = { file: item.file, text: item.text, code: new Set() };
    } else {
      isEmpty = false;
      check.manifest(item.manifest);
      if (document !== undefined) for (const line of linesOf(item.manifest)) document.code.add(line);
    }
  }
  closeDocument();
  progress.clear();
  return { files, isEmpty };
}

/** Lines of the file that a manifest takes. */
function linesOf(manifest: Manifest): number[] {
  const lines = manifest.text.split('\n');
  const first = lines.findIndex((line) => line.trim() !== '' && !/^(#|---)/.test(line.trim()));
  return lines.map((_, index) => manifest.line - Math.max(0, first) + index);
}

function ignored(ids: readonly string[] = []): Set<string> {
  const wanted = new Set(ids.flatMap((id) => id.split(',')).filter((id) => id !== ''));
  const unknown = [...wanted].find((id) => !rules.some((rule) => rule.id === id));
  if (unknown !== undefined)
    throw new KerfError(
      'WrongFlag',
      `there is no rule "${unknown}" to ignore; rules are ${rules.map((rule) => rule.id).join(', ')}`,
    );
  return wanted;
}

function minor(version: string | undefined): number | undefined {
  if (version === undefined) return undefined;
  const match = /^v?1\.(\d{1,3})(\D.*)?$/.exec(version);
  if (match === null)
    throw new KerfError('WrongFlag', `"${version}" is not a Kubernetes version; write --kubernetes-version 1.33`);
  return Number(match[1]);
}

function sortFindings(findings: readonly Finding[], files: readonly string[]): Finding[] {
  const order = new Map(files.map((file, index) => [file, index]));
  const at = (finding: Finding): number => order.get(finding.file) ?? 0;
  return findings.toSorted((one, other) => at(one) - at(other) || one.line - other.line || one.column - other.column);
}

function printTable(
  terminal: Terminal,
  findings: readonly Finding[],
  totals: Totals,
  unreadable: readonly { message: string }[],
): void {
  const paint = paintFor(terminal);
  for (const [file, some] of Map.groupBy(findings, (finding) => finding.file))
    terminal.out(`${fileReport(file, some, paint, terminal.columns)}\n`);
  for (const { message } of unreadable) terminal.err(`${paint.red('error')}: ${message}\n`);
  if (totals.files > 0) terminal.out(summary(findings, totals, paint));
}

function jsonReport(
  findings: readonly Finding[],
  totals: Totals,
  unreadable: readonly { file: string; message: string }[],
): unknown {
  const { error, warning, info } = countBySeverity(findings);
  const { files, checked, unchecked } = totals;
  return {
    apiVersion: 'kerf/v1',
    kind: 'ValidationReport',
    summary: { files, objects: checked + unchecked, unchecked, errors: error, warnings: warning, notes: info },
    unreadable,
    findings,
  };
}
