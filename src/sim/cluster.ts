// The embedded cluster's API machinery, assembled: store, kinds, the controllers that belong to the API itself. It is a
// simulator: state lives in memory (and in a file, if asked). Workloads, scheduler and kubelets are added from outside.
import type { Clock } from '../base/index.ts';
import { customResourceDefinitionKind } from './api/custom-resources.ts';
import type { ResourceDefinition } from './api/definition.ts';
import { bystanderKinds, computedKinds, coreKinds, policyKinds, workloadKinds } from './api/kinds/index.ts';
import { find, type Machinery, surroundings } from './api/machinery.ts';
import { Registry } from './api/registry.ts';
import { create } from './api/verbs/create.ts';
import { runCustomResources } from './controllers/custom-resources.ts';
import { runEventExpiry } from './controllers/event-expiry.ts';
import { runGarbageCollector } from './controllers/garbage-collector.ts';
import { runNamespaces } from './controllers/namespaces.ts';
import type { JsonObject } from './json.ts';
import { createIdentity } from './store/identity.ts';
import { type Journal, openJournal } from './store/journal.ts';
import { latestTimeIn } from './store/latest-time.ts';
import { Store, type StoreState } from './store/store.ts';

export interface ClusterOptions {
  /** Or how to make it, from the latest moment that the kept state speaks of. */
  clock: Clock | ((latestMs: number | undefined) => Clock);
  /** Same seed, same calls, same ids to the byte. */
  seed?: number;
  /** Begin as another cluster was at some moment (`machinery.store.state()`). */
  state?: StoreState;
  /** Keep the cluster in this file, and start from it if it exists. */
  stateFile?: string;
  /** Changes remembered per resource, for watches that resume and lists that page. */
  historySize?: number;
}

export interface EmbeddedCluster {
  machinery: Machinery;
  /** Stops the controllers and closes the state file. */
  stop(): Promise<void>;
}

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
/** What every cluster has: priorities of the system's own pods. */
const systemPriorities: [string, number, string][] = [
  ['system-cluster-critical', 2_000_000_000, 'Pods the cluster cannot work without; they may move to another node.'],
  ['system-node-critical', 2_000_001_000, 'Pods their node cannot work without.'],
];

export async function createCluster(options: ClusterOptions): Promise<EmbeddedCluster> {
  const store = new Store({
    identity: createIdentity(options.seed ?? 1),
    ...(options.historySize !== undefined && { historySize: options.historySize }),
  });
  if (options.state !== undefined) store.adopt(options.state);
  const registry = new Registry([
    ...coreKinds,
    ...workloadKinds,
    ...policyKinds,
    ...bystanderKinds,
    ...computedKinds,
    customResourceDefinitionKind,
  ]);
  const journal: Journal | undefined =
    options.stateFile === undefined ? undefined : await openJournal(options.stateFile, store);
  const clock = typeof options.clock === 'function' ? options.clock(latestTimeIn(store)) : options.clock;
  const machinery: Machinery = { store, registry, clock, around: surroundings(store, clock) };
  const stops = [
    runCustomResources(machinery),
    runNamespaces(machinery),
    runGarbageCollector(machinery),
    runEventExpiry(machinery),
  ];
  addDefaults(machinery);
  return {
    machinery,
    async stop() {
      for (const stop of stops) stop();
      await journal?.close();
    },
  };
}

function addDefaults(machinery: Machinery): void {
  const ensure = (
    plural: string,
    group: string,
    namespace: string | undefined,
    object: JsonObject & { metadata: JsonObject & { name: string } },
  ): void => {
    const definition = machinery.registry.find(group, 'v1', plural) as ResourceDefinition;
    if (find(machinery, definition, namespace, object.metadata.name) === undefined)
      create(machinery, definition, namespace, object, {});
  };
  for (const name of namespaces) ensure('namespaces', '', undefined, { metadata: { name } });
  for (const [name, value, description] of systemPriorities) {
    ensure('priorityclasses', 'scheduling.k8s.io', undefined, { metadata: { name }, value, description });
  }
  ensure('services', '', 'default', {
    metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, targetPort: 6443 }] },
  });
}
