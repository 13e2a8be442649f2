// `kerf doctor`: names the failure modes that a cluster, a bundle or a piece of text shows, with the evidence and the fix.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { KerfError, messageOf, parseGoDuration } from '../../base/index.ts';
import {
  areas,
  catalogue,
  diagnose,
  type Failure,
  isAtLeast,
  type Severity,
  severities,
} from '../../failures/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { expectKubernetes } from '../kubernetes-answers.ts';
import { progressLine } from '../output/index.ts';
import { readBundle } from './bundle/read-bundle.ts';
import { finished, gatherLive } from './examine.ts';
import { type Gathered, Gathering } from './gather.ts';
import { jsonReport, tableReport } from './report.ts';

interface Flags {
  context?: string | true;
  kubeconfig?: string;
  clusterName?: string;
  region?: string;
  collect?: string;
  redact?: boolean;
  bundle?: string;
  filename?: string;
  output: 'table' | 'json' | 'yaml';
  only?: string[];
  failOn: Severity;
  since?: string;
}

export function configure(command: Command, run: CommandRunner): void {
  command
    .description(
      'Say what is wrong with a cluster, with the evidence and the fix; works for Karpenter as well as Kerf.',
    )
    .option('--context [name]', 'context of the kubeconfig; the current one by default')
    .option('--kubeconfig <file>', 'kubeconfig to use')
    .option('--cluster-name <name>', 'name of the cluster in AWS; found by itself where the controller says it')
    .option('--region <region>', 'region of the cluster; AWS_REGION by default')
    .option('--collect <file>', 'also write what was looked at, as a bundle: file.tgz')
    .option('--redact', 'with --collect: replace account ids, addresses and endpoints, and leave out environment')
    .option('--bundle <path>', 'collected files: a folder, .tar, .tar.gz, .zip, or a tarball of the EKS log collector')
    .option('-f, --filename <file>', 'a text to explain: a log, console output, an error message; - for standard input')
    .addOption(new Option('-o, --output <format>', 'format').choices(['table', 'json', 'yaml']).default('table'))
    .option('--only <area|id...>', 'only these areas or ids, such as iam or iam/pass-role-denied')
    .addOption(new Option('--fail-on <severity>', 'exit 1 from this severity on').choices(severities).default('high'))
    .option('--since <duration>', 'only lines of the last while before the evidence was collected, such as 2h')
    .addHelpText('after', help)
    .action(run(doctor));
}

const help = `
Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 could not look.
Every failure mode is explained in docs/reference/failures.md.

Examples:
  kerf doctor
  kerf doctor --context prod --cluster-name prod --region eu-west-1 --collect prod.tgz --redact
  kerf doctor --bundle ./incident-42
  kerf doctor --bundle eks_i-0abc123_2026-03-01.tar.gz -o json
  kubectl -n kube-system logs deploy/karpenter | kerf doctor -f -
  aws ec2 get-console-output --instance-id i-0abc123 --latest --output text | kerf doctor -f -`;

async function doctor(terminal: Terminal, flags: Flags): Promise<number> {
  const wanted = wantedEntries(flags.only);
  const sinceMs = sinceOf(flags.since);
  const isAsked = flags.filename !== undefined;
  const gathered = await gather(terminal, flags);
  const diagnosis = diagnose(catalogue, gathered.evidence, sinceMs === undefined ? {} : { sinceMs });
  const report = {
    ...gathered,
    findings: diagnosis.findings.filter(({ id }) => wanted.has(id)),
    checks: diagnosis.checks.filter(({ id }) => wanted.has(id)),
  };
  if (flags.output === 'json') terminal.out(`${JSON.stringify(jsonReport(report), undefined, 2)}\n`);
  else if (flags.output === 'yaml') terminal.out((await import('../output/yaml.ts')).yamlText(jsonReport(report)));
  else terminal.out(tableReport(report, terminal, { isAsked }));
  const isBad = report.findings.some(({ severity, harmless }) => !harmless && isAtLeast(severity, flags.failOn));
  return isBad ? exitCode.findings : exitCode.ok;
}

async function gather(terminal: Terminal, flags: Flags): Promise<Gathered> {
  const { bundle, filename } = flags;
  if (flags.collect !== undefined && (bundle !== undefined || filename !== undefined))
    throw new KerfError('WrongFlag', '--collect writes down a live cluster; it does not go with --bundle or -f');
  if (flags.redact === true && flags.collect === undefined)
    throw new KerfError('WrongFlag', '--redact is about the file that --collect writes; give --collect too');
  if (bundle !== undefined && filename !== undefined)
    throw new KerfError(
      'WrongFlag',
      'give either --bundle or -f: a bundle may hold the text under logs/, nodes/ or cli/',
    );
  const gathering = new Gathering({ isLive: bundle === undefined && filename === undefined });
  if (bundle !== undefined) {
    for await (const item of readBundle(bundle)) await gathering.add(item, basename(bundle));
    return finished(gathering);
  }
  if (filename === undefined) return look(flags, terminal, gathering);
  await gathering.addText(
    { source: filename === '-' ? 'stdin' : filename, kind: 'asked' },
    filename === '-' ? bytesOf(terminal.stdin) : await openText(filename),
  );
  const gathered = gathering.finish({ isAsked: true });
  const [unread] = gathered.notUnderstood;
  if (unread !== undefined)
    throw new KerfError(
      'InputUnreadable',
      `cannot read ${unread.path} as text: it is ${unread.reason}; an archive goes with --bundle, a packed log through zcat: zcat ${filename === '-' ? 'file.gz' : filename} | kerf doctor -f -`,
    );
  return gathered;
}

/** A live cluster: the same files, read in place, and written down if asked. */
async function look(flags: Flags, terminal: Terminal, gathering: Gathering): Promise<Gathered> {
  const { openCluster } = await import('./live/look.ts');
  const { kubeconfig, clusterName, region } = flags;
  const options = {
    env: terminal.env,
    ...(typeof flags.context === 'string' ? { context: flags.context } : {}),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(clusterName === undefined ? {} : { clusterName }),
    ...(region === undefined ? {} : { region }),
  };
  const cluster = await openCluster(options);
  const files: { path: string; text: string }[] = [];
  const progress = progressLine(terminal);
  try {
    await expectKubernetes(cluster.kube);
    await gatherLive(cluster, options, gathering, (file) => {
      progress.show(() => `reading ${file.path}`);
      if (flags.collect !== undefined) files.push(file);
    });
  } finally {
    progress.clear();
    await cluster.close();
  }
  if (flags.collect !== undefined) {
    const [{ Redactor }, { writeBundle }] = await Promise.all([
      import('./live/redact.ts'),
      import('./live/write-bundle.ts'),
    ]);
    const redactor = new Redactor();
    await writeBundle(flags.collect, flags.redact === true ? files.map((file) => redactor.file(file)) : files);
  }
  return finished(gathering);
}

async function openText(name: string): Promise<AsyncIterable<Uint8Array>> {
  try {
    const facts = await stat(name);
    if (facts.isDirectory()) throw new KerfError('WrongFlag', `${name} is a folder; write --bundle ${name}`);
    return createReadStream(name, { highWaterMark: 1 << 20 });
  } catch (thrown) {
    if (thrown instanceof KerfError) throw thrown;
    const isAbsent = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    throw new KerfError(
      'InputUnreadable',
      isAbsent ? `there is no file ${name}` : `cannot read ${name}: ${messageOf(thrown)}`,
    );
  }
}

async function* bytesOf(stream: NodeJS.ReadableStream): AsyncGenerator<Uint8Array> {
  for await (const part of stream) yield typeof part === 'string' ? Buffer.from(part) : part;
}

/** Ids of the areas and ids asked for; all by default. */
function wantedEntries(only: readonly string[] | undefined): ReadonlySet<Failure['id']> {
  const asked = (only ?? [])
    .flatMap((one) => one.split(','))
    .map((one) => one.replace(/\/$/, ''))
    .filter((one) => one !== '');
  if (asked.length === 0) return new Set(catalogue.map(({ id }) => id));
  const unknown = asked.find((one) => !Object.hasOwn(areas, one) && !catalogue.some(({ id }) => id === one));
  if (unknown !== undefined)
    throw new KerfError(
      'WrongFlag',
      `--only ${unknown}: there is no such area or id; areas are ${Object.keys(areas).join(', ')}, ids are listed in docs/reference/failures.md`,
    );
  return new Set(
    catalogue.filter(({ id }) => asked.some((one) => id === one || id.startsWith(`${one}/`))).map(({ id }) => id),
  );
}

function sinceOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const days = /^(\d+)d$/.exec(text)?.[1];
  const parsed = days === undefined ? parseGoDuration(text) : Number(days) * 86_400_000;
  if (parsed === undefined || parsed <= 0)
    throw new KerfError('WrongFlag', `--since ${text} is not a duration; write for instance 30m, 2h or 3d`);
  return parsed;
}
