// What the AWS account says about the switch: for every EC2NodeClass the images, subnets, security groups, reservations and
// placement group that Kerf would find now, and every node that would drift by them. Found by the controller's own steps;
// clients here refuse whatever would change something.
//
// A node that drifts by what the status of its class says already is not the switch's doing: whoever is in charge sees the
// same. What only shows after looking anew may be, and counts against the switch.
import { awsGroup, type EC2NodeClass, type NodeClaim } from '../../api/index.ts';
import type { AwsClients, AwsProvider } from '../../aws/index.ts';
import { messageOf } from '../../base/index.ts';
import type { Settings } from '../../server/index.ts';
import { accountClients } from '../account-clients.ts';
import type { PreflightObject } from './input.ts';
import type { DriftLine, Finding } from './report.ts';

export interface AccountQuestion {
  env: Record<string, string | undefined>;
  region?: string;
  clusterName: string | undefined;
  objects: readonly PreflightObject[];
  /** NodeClaims that drift for another reason. */
  known: ReadonlySet<string>;
  /** `v1.34.1` */
  kubernetesVersion: string;
  settings: Settings | undefined;
}

export interface AccountFound {
  drift: DriftLine[];
  findings: Finding[];
  notChecked: string[];
}

const refreshMs = 60_000;
/** Lines about one kind of problem before the rest is summed up. */
const mostLines = 10;

export const accountNotAsked = (whys: readonly string[]): AccountFound => ({
  drift: [],
  findings: [],
  notChecked: whys.map((why) => `images, subnets and security groups: ${why}; a shadow looks at them`),
});

export async function lookAtAccount(question: AccountQuestion): Promise<AccountFound> {
  const { clusterName, settings } = question;
  if (clusterName === undefined)
    return accountNotAsked(['the name of the cluster is not known; give it with --cluster-name']);
  if (settings === undefined) return accountNotAsked(['the settings could not be read']);
  const clients = await accountClients(question);
  if (clients === undefined)
    return accountNotAsked(['AWS was not asked, for want of credentials or of a region (AWS_PROFILE, AWS_REGION)']);
  try {
    return await ask({ ...question, clients, clusterName, settings });
  } catch (error) {
    return accountNotAsked([`AWS was asked and said: ${messageOf(error)}`]);
  } finally {
    clients.destroy();
  }
}

type Asked = AccountQuestion & { clients: AwsClients; clusterName: string; settings: Settings };

async function ask(question: Asked): Promise<AccountFound> {
  const stored = new Map(ofKind<EC2NodeClass>(question.objects, 'EC2NodeClass').map((each) => [nameOf(each), each]));
  const inUse = { classes: stored };
  const found: AccountFound = { drift: [], findings: [], notChecked: [] };
  const tools = await toolsOf(question, (name) => inUse.classes.get(name));
  const { provider } = tools;
  await provider.types.refresh();
  await provider.instances.list();
  const claims = ofKind<NodeClaim>(question.objects, 'NodeClaim').filter((claim) => isSettled(claim, question.known));
  const before = await reasonsOf(claims, provider);
  inUse.classes = new Map();
  for (const nodeClass of stored.values()) {
    const selected = await tools.select(nodeClass);
    inUse.classes.set(nameOf(nodeClass), selected.nodeClass);
    found.findings.push(...classFindings(nodeClass, selected));
  }
  const after = await reasonsOf(claims, provider);
  for (const claim of claims) {
    const [was, now] = [before.get(nameOf(claim)), after.get(nameOf(claim))];
    if (now?.kind === 'drifted')
      found.drift.push({
        nodeClaim: nameOf(claim),
        nodePool: claim.metadata.labels?.['karpenter.sh/nodepool'] ?? '',
        reason: now.text,
        fields: [],
        isKnown: was?.kind === 'drifted',
      });
  }
  found.notChecked.push(
    ...shortened([...after.values()].flatMap(({ kind, text }) => (kind === 'unknown' ? [text] : []))),
  );
  return found;
}

const nameOf = ({ metadata }: { metadata: { name?: string } }): string => metadata.name ?? '';
const ofKind = <T>(objects: readonly PreflightObject[], kind: string): T[] =>
  objects.filter((each) => each.kind === kind) as unknown as T[];

/** Launched, not on its way out, of an EC2NodeClass, and not drifted for another reason. */
function isSettled({ metadata, spec, status }: NodeClaim, known: ReadonlySet<string>): boolean {
  return (
    spec.nodeClassRef.group === awsGroup &&
    metadata.deletionTimestamp === undefined &&
    (status?.providerID ?? '') !== '' &&
    !known.has(metadata.name ?? '')
  );
}

type Answer = { kind: 'drifted' | 'unknown'; text: string };

async function reasonsOf(claims: readonly NodeClaim[], { cloud }: AwsProvider): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>();
  for (const claim of claims) {
    try {
      const reason = await cloud.driftReason(claim);
      if (reason !== undefined) answers.set(nameOf(claim), { kind: 'drifted', text: reason });
    } catch (error) {
      answers.set(nameOf(claim), { kind: 'unknown', text: `NodeClaim ${nameOf(claim)}: ${messageOf(error)}` });
    }
  }
  return answers;
}

async function toolsOf(question: Asked, nodeClassOf: (name: string) => EC2NodeClass | undefined) {
  const { clients, clusterName, settings, kubernetesVersion } = question;
  const [
    { createAwsProvider, KubernetesVersion, noZonalShifts },
    { withSelection },
    { RealClock },
    { prometheusMetrics, silentLog },
  ] = await Promise.all([
    import('../../aws/index.ts'),
    import('../../aws-controllers/index.ts'),
    import('../../runtime/index.ts'),
    import('../../telemetry/index.ts'),
  ]);
  const clock = new RealClock();
  const recorder = { publish: () => {} };
  const version = new KubernetesVersion(async () => kubernetesVersion, silentLog);
  await version.refresh();
  const provider = await createAwsProvider({
    clients,
    clock,
    log: silentLog,
    metrics: prometheusMetrics(),
    recorder,
    settings: {
      clusterName,
      // Prices do not matter here.
      isolatedVpc: true,
      vmMemoryOverheadPercent: 0.075,
      reservedEnis: 0,
      amiRefreshIntervalMs: refreshMs,
      subnetRefreshIntervalMs: refreshMs,
      securityGroupRefreshIntervalMs: refreshMs,
      minValuesPolicy: settings.minValuesPolicy,
      reservedCapacity: settings.featureGates['ReservedCapacity'] === true,
    },
    cluster: { name: clusterName, endpoint: '', ipFamily: 'ipv4', resolveServiceCidr: async () => {} },
    shifts: noZonalShifts,
    kubernetesVersion: () => version.current,
    nodeClassOf,
    pricedByOverlay: () => new Set(),
  });
  return {
    provider,
    select: (nodeClass: EC2NodeClass) => withSelection(nodeClass, { clock, recorder, settings }, provider),
  };
}

type Status = NonNullable<EC2NodeClass['status']>;
const parts: readonly { name: string; idsOf: (status: Status) => readonly { id: string }[] | undefined }[] = [
  { name: 'images', idsOf: ({ amis }) => amis },
  { name: 'subnets', idsOf: ({ subnets }) => subnets },
  { name: 'security groups', idsOf: ({ securityGroups }) => securityGroups },
  { name: 'capacity reservations', idsOf: ({ capacityReservations }) => capacityReservations },
];

/** Where Kerf finds something else than the status says; a class with which nothing could be launched. */
function classFindings(
  stored: EC2NodeClass,
  { nodeClass, problems }: { nodeClass: EC2NodeClass; problems: readonly string[] },
): Finding[] {
  const about = `EC2NodeClass ${nameOf(stored)}`;
  const changed = parts.flatMap(({ name, idsOf }): Finding[] => {
    const [was, now] = [stored.status, nodeClass.status].map((status) =>
      (idsOf(status ?? {}) ?? []).map(({ id }) => id).sort(),
    ) as [string[], string[]];
    if (stored.status === undefined || was.join() === now.join()) return [];
    return [
      {
        level: 'look',
        about,
        text: `${name}: its status says ${listed(was)}, Kerf finds ${listed(now)}`,
        fix: 'ask again in ten minutes: when the status says the same by then, the account has changed, not who reads it',
      },
    ];
  });
  const failed = (nodeClass.status?.conditions ?? []).filter(({ status }) => status === 'False');
  return [
    ...changed,
    ...failed.map(({ type, message }): Finding => ({ level: 'look', about, text: `${type}: ${message}` })),
    ...problems.map((text): Finding => ({ level: 'look', about, text })),
  ];
}

const listed = (ids: readonly string[]): string => (ids.length === 0 ? 'none' : shortened(ids).join(', '));

function shortened(lines: readonly string[]): string[] {
  return lines.length <= mostLines
    ? [...lines]
    : [...lines.slice(0, mostLines), `and ${lines.length - mostLines} more`];
}
