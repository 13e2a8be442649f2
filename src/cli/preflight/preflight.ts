// `kerf preflight`: whether a cluster can be taken over from Karpenter, before the switch; and afterwards, what happened.
// Reads only. The exit code says go (0) or no go (1).
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { awsGroup } from '../../api/names.ts';
import { formatTime, KerfError, messageOf } from '../../base/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { readFullYaml } from '../manifests/index.ts';
import { paintFor } from '../output/index.ts';
import { serialize } from '../plan/plan.ts';
import { version } from '../version.ts';
import { driftOf } from './drift.ts';
import { type PreflightInput, readCluster, readFiles } from './input.ts';
import { comparedWith, marksOf } from './marks.ts';
import { countsOf, objectFindings } from './objects.ts';
import { renderReport } from './render.ts';
import type { Comparison, Finding, PreflightReport } from './report.ts';
import { missingRights } from './rights.ts';
import { controllersIn, runningIn } from './running.ts';
import { settingsOfContainer, settingsOfValues } from './settings.ts';

interface Flags {
  filename?: string[];
  context?: string | true;
  kubeconfig?: string;
  values?: string;
  before?: string;
  output: 'text' | 'json' | 'yaml';
}

const helpText = `
Exit codes:
  0  go: nothing stands in the way, and no node drifts because of the switch
  1  no go: something has to be changed first; after the switch: something is not as it was
  2  could not look: no cluster, unreadable input

Examples:
  kerf preflight --values my-values.yaml             # the cluster of the current context
  kerf preflight -o json > before.json               # before the switch
  kerf preflight --before before.json                # after it
  kubectl get nodepools,nodeclaims,ec2nodeclasses,deploy -A -o yaml | kerf preflight -f -`;

export function configure(command: Command, run: CommandRunner): void {
  command
    .description(
      'Say whether a cluster can be switched from Karpenter to Kerf: version, objects, nodes that would drift, rights,\nsettings. After the switch, say what happened. Nothing is changed anywhere.',
    )
    .option('--context [name]', 'a context of the kubeconfig; the current one by default')
    .option('--kubeconfig <file>', 'cluster to ask')
    .option(
      '-f, --filename <path...>',
      'look at files (manifests, Lists, snapshots, - for standard input), not at a cluster',
    )
    .option('--values <file>', "values file of Karpenter's chart, to be used with Kerf's")
    .option('--before <file>', 'report of before the switch (-o json), to say what happened since')
    .addOption(new Option('-o, --output <format>', 'format').choices(['text', 'json', 'yaml']).default('text'))
    .addHelpText('after', helpText)
    .action(run(preflight));
}

async function preflight(terminal: Terminal, flags: Flags): Promise<number> {
  const before = flags.before === undefined ? undefined : await readBefore(flags.before);
  const report =
    flags.filename === undefined
      ? await overCluster(terminal, flags, before)
      : await judge(await readFiles(flags.filename, terminal.stdin), flags, before);
  const text =
    flags.output === 'text'
      ? renderReport(report, { paint: paintFor(terminal), columns: terminal.columns })
      : await serialize(report, flags.output);
  terminal.out(text);
  return report.verdict === 'go' ? exitCode.ok : exitCode.findings;
}

async function overCluster(
  terminal: Terminal,
  flags: Flags,
  before: PreflightReport | undefined,
): Promise<PreflightReport> {
  const [{ findAccess, KubeClient }, { RealClock }] = await Promise.all([
    import('../../kube/index.ts'),
    import('../../runtime/index.ts'),
  ]);
  const clock = new RealClock();
  const access = await findAccess({
    clock,
    env: terminal.env,
    ...(typeof flags.context === 'string' ? { context: flags.context } : {}),
    ...(flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig }),
  });
  const kube = new KubeClient({ access, clock, userAgent: `kerf/${version}`, rateLimit: { qps: 50, burst: 100 } });
  try {
    const input = await readCluster(kube);
    const { ca } = access.tls ?? {};
    const caBundles = ca === undefined ? [] : [Buffer.from(ca).toString('base64')];
    return await judge({ ...input, caBundles }, flags, before);
  } finally {
    await kube.close();
  }
}

async function judge(
  input: PreflightInput,
  flags: Flags,
  before: PreflightReport | undefined,
): Promise<PreflightReport> {
  const { objects } = input;
  if (!objects.some(({ kind }) => ['NodePool', 'NodeClaim', 'Deployment'].includes(kind)))
    throw new KerfError(
      'NothingToJudge',
      'there are no NodePools, NodeClaims or Deployments here: nothing to take over',
    );
  const isAws = objects.some(({ apiVersion }) => apiVersion.startsWith(`${awsGroup}/`));
  const { running, findings } = runningIn(objects);
  const [controller] = controllersIn(objects);
  const { caBundle, ...found } = settingsIn(controller?.container, isAws);
  const values = flags.values === undefined ? undefined : await settingsOfValues(await readValues(flags.values));
  const { drift, findings: unsure } = driftOf(
    { objects, caBundles: [...input.caBundles, ...(caBundle === undefined ? [] : [caBundle])] },
    await factsOf(isAws),
  );
  const gates = values?.gates ?? found.gates;
  const rights = await missingRights(input, running.serviceAccount, gates);
  const claims = marksOf(objects);
  const since = before === undefined ? undefined : comparedWith(before, claims);
  const all: Finding[] = [
    ...findings,
    ...objectFindings(objects),
    ...unsure,
    ...found.findings,
    ...(values?.findings ?? []),
  ];
  const isStopped = all.some(({ level }) => level === 'stop') || drift.some(({ isKnown }) => !isKnown);
  return {
    apiVersion: 'kerf/v1',
    kind: 'Preflight',
    verdict: isStopped || isDisturbed(since) ? 'no go' : 'go',
    phase: running.program === 'kerf' ? 'after' : 'before',
    time: formatTime(Date.now()),
    running,
    counts: countsOf(objects),
    findings: all,
    drift,
    settings: [...found.settings, ...(values?.settings ?? [])],
    gates,
    missingRights: rights.missing,
    notChecked: [
      ...input.notChecked,
      ...rights.notChecked,
      ...(isAws ? ['images, subnets and security groups: AWS is not asked; a shadow does that'] : []),
    ],
    ...(since === undefined ? {} : { since }),
    claims,
  };
}

/** Nodes come and go by themselves; what a switch must never do is to rewrite claims or to make them drift. */
function isDisturbed(since: Comparison | undefined): boolean {
  return since !== undefined && (since.rewritten.length > 0 || since.newlyDrifted.length > 0);
}

function settingsIn(container: Record<string, unknown> | undefined, isAws: boolean) {
  const found =
    container === undefined ? { settings: [], gates: [], findings: [] } : settingsOfContainer(container, isAws);
  const caBundle = found.settings.find(({ name }) => name === 'CLUSTER_CA_BUNDLE')?.value;
  return { ...found, ...(caBundle === undefined || caBundle === '' ? {} : { caBundle }) };
}

async function factsOf(isAws: boolean) {
  if (isAws) return (await import('../../aws/catalogue.ts')).awsProviderFacts;
  return (await import('../../sim/index.ts')).kwokProviderFacts();
}

async function readValues(file: string): Promise<unknown> {
  const unreadable = (why: string, cause?: unknown): KerfError =>
    new KerfError('ValuesUnreadable', `cannot read the values file ${file}: ${why}`, { cause });
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw unreadable(messageOf(error), error);
  }
  const { document, problems } = readFullYaml(text);
  if (problems[0] !== undefined) throw unreadable(problems[0].message);
  return (document.toJS() as unknown) ?? {};
}

async function readBefore(file: string): Promise<PreflightReport> {
  let report: PreflightReport;
  try {
    report = JSON.parse(await readFile(file, 'utf8')) as PreflightReport;
  } catch (error) {
    throw new KerfError('ReportUnreadable', `cannot read the report ${file}: ${messageOf(error)}`, { cause: error });
  }
  if (report?.kind !== 'Preflight' || !Array.isArray(report.claims))
    throw new KerfError('ReportUnreadable', `${file} is not a report of \`kerf preflight -o json\``);
  return report;
}
