// A cluster seen from outside: its objects through a client that can only read, what its provider sells from the built-in
// catalogues, and no controllers. Works on clusters that run Kerf and on clusters that run Karpenter.
import { awsGroup, kwokGroup } from '../../api/names.ts';
import { type Clock, KerfError, messageOf } from '../../base/index.ts';
import { nodePools, type PublishedSettings, type PublishedState } from '../../controllers/index.ts';
import type { SnapshotSettings } from '../../core/index.ts';
import { findAccess, KubeClient } from '../../kube/index.ts';
import type { Cloud, Kube, KubeObject, Log, Resource } from '../../ports/index.ts';
import { isKubeError } from '../../ports/index.ts';
import { Manager, RealClock } from '../../runtime/index.ts';
import { assemble, growSlowly, LiveView, parseSettings, Usage } from '../../server/index.ts';
import { DecisionRing, prometheusMetrics } from '../../telemetry/index.ts';
import { expectKubernetes, expectNodes } from '../kubernetes-answers.ts';
import { guessProvider, loadProvider, nodeClassRefOf } from '../plan/provider.ts';
import { clusterTimeMs, readController } from '../snapshot/controller-facts.ts';
import { version } from '../version.ts';
import { OutsideDecisions } from './outside-decisions.ts';

export interface OutsideOptions {
  context?: string | true;
  kubeconfig?: string;
  env: Record<string, string | undefined>;
}

export type Outside = Awaited<ReturnType<typeof lookFromOutside>>;

const nodeClasses: Resource[] = [
  { group: awsGroup, version: 'v1', plural: 'ec2nodeclasses', kind: 'EC2NodeClass', namespaced: false },
  { group: kwokGroup, version: 'v1alpha1', plural: 'kwoknodeclasses', kind: 'KWOKNodeClass', namespaced: false },
];

export async function lookFromOutside({ context: name, kubeconfig, env }: OutsideOptions) {
  const clock = new RealClock();
  const access = await findAccess({
    clock,
    env,
    ...(typeof name === 'string' && { context: name }),
    ...(kubeconfig !== undefined && { kubeconfig }),
  });
  const client = new KubeClient({ access, clock, userAgent: `kerf/${version}`, rateLimit: { qps: 50, burst: 100 } });
  const kube = readOnly(client);
  await expectKubernetes(kube);
  await expectNodes(kube);
  const reading = await readController(kube);
  const facts = reading.kind === 'found' ? reading.facts : undefined;
  const clusterClock = new ClusterClock(facts?.state ?? {});
  const problems = new Map<string, string>();
  const { context, touches, caches, always } = assemble({
    kube,
    cloud: await cloudOf(kube, facts?.settings),
    clock: clusterClock,
    log: problemLog(problems),
    metrics: prometheusMetrics(),
    recorder: { publish: () => undefined },
    settings: settingsAs(facts?.settings.settings ?? {}),
    random: Math.random,
    controllers: () => ({ controllers: [], loops: [] }),
  });
  const live = new LiveView({ context, touches, real: clock });
  const decisions = new DecisionRing(clusterClock);
  const outsideDecisions = new OutsideDecisions({
    kube,
    clock,
    ring: decisions,
    claims: () => context.cluster.claims.list(),
    onProblem(problem) {
      if (problem === undefined) problems.delete('events');
      else problems.set('events', problem);
    },
  });
  return {
    clock,
    context,
    live,
    decisions,
    server: access.server,
    usage: new Usage(kube, clock),
    /** What cannot be seen, and why. */
    notVisible: () => [...problems].map(([resource, problem]) => `${resource}: ${problem}`),
    /** Resolves when `signal` is aborted. */
    run: (signal: AbortSignal): Promise<unknown> => {
      const memory = growSlowly({ clock });
      signal.addEventListener('abort', () => memory.dispose(), { once: true });
      void followTime(kube, clusterClock, signal);
      void whenSynced(context, clock, signal).then(() => outsideDecisions.run(signal));
      return new Manager({ clock, caches, always, leading: [] }).run(signal);
    },
  };
}

const syncedLookMs = 200;

async function whenSynced(
  { cluster }: { cluster: { synced: boolean } },
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!cluster.synced && !signal.aborted) await clock.sleep(syncedLookMs, signal).catch(() => undefined);
}

/** The machine's clock, but for what time it is: that is the cluster's, which may pass at a pace of its own. */
class ClusterClock extends RealClock {
  private state: PublishedState;

  constructor(state: PublishedState) {
    super();
    this.state = state;
  }

  setState(state: PublishedState): void {
    this.state = state;
  }

  override now(): number {
    return clusterTimeMs(super.now(), this.state);
  }
}

/** A simulated cluster may be paused, or change its pace. */
const lookAtTimeMs = 10_000;

async function followTime(kube: Kube, clock: ClusterClock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(lookAtTimeMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    const reading = await readController(kube).catch(() => undefined);
    if (reading?.kind === 'found') clock.setState(reading.facts.state);
  }
}

/** What the controller of this cluster was set to, as far as decisions look at it; defaults otherwise. */
export function settingsAs(published: SnapshotSettings): ReturnType<typeof parseSettings>['settings'] {
  const { settings } = parseSettings({}, {});
  const { preferencePolicy, minValuesPolicy, ignoreDRARequests, budgetTimeZone, nodeCostPerHour } = published;
  const { consolidationPaybackSeconds, defaultTopologySpreadConstraints } = published;
  return {
    ...settings,
    ...(preferencePolicy === undefined ? {} : { preferencePolicy }),
    ...(minValuesPolicy === undefined ? {} : { minValuesPolicy }),
    ...(ignoreDRARequests === undefined ? {} : { ignoreDraRequests: ignoreDRARequests }),
    ...(budgetTimeZone === undefined ? {} : { budgetTimeZone }),
    ...(nodeCostPerHour === undefined ? {} : { nodeCostPerHour }),
    ...(consolidationPaybackSeconds === undefined
      ? {}
      : { consolidationPaybackMs: consolidationPaybackSeconds * 1000 }),
    ...(defaultTopologySpreadConstraints === undefined ? {} : { defaultSpread: defaultTopologySpreadConstraints }),
    featureGates: { ...settings.featureGates, ...published.featureGates },
  };
}

/** Everything but reading fails, whatever asks for it. */
function readOnly(kube: Kube): Kube {
  const refuse = (): Promise<never> => Promise.reject(new KerfError('ReadOnly', 'this command only reads'));
  return {
    get: (resource, ref, options) => kube.get(resource, ref, options),
    list: (resource, options) => kube.list(resource, options),
    watch: (resource, options) => kube.watch(resource, options),
    create: refuse,
    replace: refuse,
    patch: refuse,
    delete: refuse,
    evict: refuse,
    bind: refuse,
  };
}

/** Sells what the provider of the cluster's pools sells, by the built-in catalogue; launches nothing. */
async function cloudOf(kube: Kube, published?: PublishedSettings): Promise<Cloud> {
  const listed = async (resource: Resource): Promise<KubeObject[]> => {
    try {
      const { items } = await kube.list(resource);
      return items.map((item) => ({ ...item, kind: resource.kind }));
    } catch (error) {
      if (isKubeError(error, 'NotFound') || isKubeError(error, 'Forbidden')) return [];
      throw error;
    }
  };
  const classes = (await Promise.all(nodeClasses.map(listed))).flat();
  const objects = [...(await listed(nodePools)), ...classes] as never[];
  const { reservedEnis, vmMemoryOverheadPercent } = published ?? {};
  const provider = await loadProvider(guessProvider(objects), objects, {
    ...(reservedEnis === undefined ? {} : { reservedEnis }),
    ...(vmMemoryOverheadPercent === undefined ? {} : { vmMemoryOverhead: vmMemoryOverheadPercent }),
  });
  const refuse = (): Promise<never> => Promise.reject(new KerfError('ReadOnly', 'this command launches nothing'));
  return {
    name: provider.name,
    facts: provider.facts,
    nodeClasses: nodeClasses.filter(({ group }) => (group === awsGroup) === (provider.name === 'aws')),
    create: refuse,
    delete: refuse,
    get: refuse,
    list: async () => [],
    instanceTypes: async (pool) => {
      const ref = nodeClassRefOf(pool as never);
      if (ref === undefined) return [];
      const own = classes.find(({ kind, metadata }) => kind === ref.kind && metadata.name === ref.name);
      return provider.offers(pool as never, ref, own as never).items;
    },
    driftReason: async () => undefined,
    repairPolicies: () => [],
  };
}

/** Resources that cannot be followed are what is not visible; everything else is of no interest here. */
function problemLog(problems: Map<string, string>): Log {
  const log: Log = {
    info: () => undefined,
    debug: () => undefined,
    with: () => log,
    error(message, error, fields) {
      if (message !== 'cannot follow resource') return;
      problems.set(String(fields?.['resource'] ?? ''), messageOf(error));
    },
  };
  return log;
}
