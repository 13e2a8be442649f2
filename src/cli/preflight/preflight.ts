// `kerf preflight`: whether a cluster can be taken over from Karpenter, before the switch; and afterwards, what happened.
// Reads only. The exit code says go (0) or no go (1).
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { formatTime, KerfError, messageOf } from '../../base/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { readFullYaml } from '../manifests/index.ts';
import { paintFor } from '../output/index.ts';
import { serialize } from '../plan/plan.ts';
import { version } from '../version.ts';
import { accountNotAsked, lookAtAccount } from './account.ts';
import { driftOf } from './drift.ts';
import { type PreflightInput, providerIn, readCluster, readFiles } from './input.ts';
import { comparedWith, marksOf } from './marks.ts';
import { countsOf, objectFindings } from './objects.ts';
import { renderReport } from './render.ts';
import type { Comparison, Finding, PreflightReport } from './report.ts';
import { missingRights } from './rights.ts';
import { controllersIn, runningIn } from './running.ts';
import { readSettings, settingsOfContainer, settingsOfValues } from './settings.ts';

interface Flags {
  filename?: string[];
  context?: string | true;
  kubeconfig?: string;
  values?: string;
  before?: string;
  clusterName?: string;
  region?: string;
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
      'Say whether a cluster can be switched from Karpenter to Kerf: version, objects, nodes that would drift, rights,\nsettings. AWS is asked too where there are credentials. After the switch, say what happened. Nothing is changed anywhere.',
    )
    .option('--context [name]', 'a context of the kubeconfig; the current one by default')
    .option('--kubeconfig <file>', 'cluster to ask')
    .option(
      '-f, --filename <path...>',
      'look at files (manifests, Lists, snapshots, - for standard input), not at a cluster',
    )
    .option('--values <file>', "values file of Karpenter's chart, to be used with Kerf's")
    .option('--cluster-name <name>', 'name of the cluster in AWS; the setting of the controller by default')
    .option('--region <region>', 'region of the cluster; AWS_REGION or that of the profile by default')
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
      : await judge(await readFiles(flags.filename, terminal.stdin), { flags, before });
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
    const kubernetesVersion = await kube.serverVersion();
    return await judge({ ...input, caBundles }, { flags, before, live: { env: terminal.env, kubernetesVersion } });
  } finally {
    await kube.close();
  }
}

interface Judging {
  flags: Flags;
  before: PreflightReport | undefined;
  /** Absent for files: what they say about AWS may be old. */
  live?: { env: Terminal['env']; kubernetesVersion: string };
}

async function judge(input: PreflightInput, { flags, before, live }: Judging): Promise<PreflightReport> {
  const { objects } = input;
  if (!objects.some(({ kind }) => ['NodePool', 'NodeClaim', 'Deployment'].includes(kind)))
    throw new KerfError(
      'NothingToJudge',
      'there are no NodePools, NodeClaims or Deployments here: nothing to take over',
    );
  const { running, findings } = runningIn(objects, live === undefined ? undefined : Date.now());
  const [controller] = controllersIn(objects);
  const provider = providerIn(objects, controller?.container);
  const isAws = provider === 'aws';
  const found =
    controller === undefined
      ? { settings: [], gates: [], findings: [], variables: {} }
      : settingsOfContainer(controller.container, isAws);
  const values = flags.values === undefined ? undefined : await settingsOfValues(await readValues(flags.values));
  const variables: Record<string, string> = values?.variables ?? found.variables;
  const settings = readSettings(variables);
  const caBundle = variables['CLUSTER_CA_BUNDLE'] || undefined;
  const { drift, findings: unsure } = driftOf(
    { objects, caBundles: [...input.caBundles, ...(caBundle === undefined ? [] : [caBundle])] },
    await factsOf(isAws),
  );
  const known = new Set(drift.map(({ nodeClaim }) => nodeClaim));
  const clusterName = flags.clusterName ?? (variables['CLUSTER_NAME'] || undefined);
  const account =
    isAws && live !== undefined
      ? await lookAtAccount({ ...live, ...regionOf(flags), clusterName, objects, known, settings })
      : accountNotAsked(isAws ? ['files say nothing about the account'] : []);
  drift.push(...account.drift);
  const rights = await missingRights(input, { running, settings, provider });
  const claims = marksOf(objects);
  const since = before === undefined ? undefined : comparedWith(before, claims);
  const phase = running.program === 'kerf' ? 'after' : 'before';
  const all: Finding[] = [
    ...findings,
    ...objectFindings(objects),
    ...unsure,
    ...account.findings,
    ...found.findings,
    ...(values?.findings ?? []),
  ];
  const isStopped =
    all.some(({ level }) => level === 'stop') ||
    drift.some(({ isKnown }) => !isKnown) ||
    // Before, the chart brings what is missing.
    (phase === 'after' && rights.missing.length > 0);
  return {
    apiVersion: 'kerf/v1',
    kind: 'Preflight',
    verdict: isStopped || isDisturbed(since) ? 'no go' : 'go',
    phase,
    time: formatTime(Date.now()),
    running,
    counts: countsOf(objects),
    findings: all,
    drift,
    settings: [...found.settings, ...(values?.settings ?? [])],
    gates: values?.gates ?? found.gates,
    missingRights: rights.missing,
    notChecked: [...input.notChecked, ...rights.notChecked, ...account.notChecked],
    ...(since === undefined ? {} : { since }),
    claims,
  };
}

const regionOf = ({ region }: Flags): { region?: string } => (region === undefined ? {} : { region });

/** Nodes come and go by themselves; what a switch must never do is to rewrite claims or to make them drift. */
function isDisturbed(since: Comparison | undefined): boolean {
  return since !== undefined && (since.rewritten.length > 0 || since.newlyDrifted.length > 0);
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
