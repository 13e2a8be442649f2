// Random snapshots with mixed constraints. Everything is an arbitrary of fast-check, so that a failing snapshot shrinks to
// a small one; a named mix says which features take part.
import * as fc from 'fast-check';
import { label } from '../../../src/api/index.ts';
import type { Snapshot, SnapshotObject } from '../../../src/core/index.ts';
import { catalogue } from './catalogue.ts';
import { type MachineParts, machineObjects, machineParts, waitingPod } from './nodes.ts';
import { type PodOptions, type PodParts, podParts } from './pods.ts';
import { type PoolOptions, pool } from './pools.ts';
import { defined, provider, sometimes, time } from './values.ts';
import { volumeObjects } from './volumes.ts';

export interface Mix extends PodOptions, PoolOptions {
  /** Pools may make several capacity types also where pods are spread over those: a node that is open counts for none. */
  openCapacityTypes: boolean;
  reserved: boolean;
  leaving: boolean;
  starting: boolean;
  daemons: boolean;
  machines: number;
  pods: number;
  pools: number;
  /** Copies per drawn pod: real workloads come in replicas. */
  replicas: number;
}

export const everything: Mix = {
  preferences: true,
  spreads: true,
  oddSpreads: true,
  affinities: true,
  oddAffinities: true,
  antiAffinities: true,
  alternatives: true,
  volumes: true,
  ports: true,
  invalid: true,
  namespaces: true,
  limits: true,
  minValues: true,
  softTaints: true,
  openCapacityTypes: true,
  reserved: true,
  leaving: true,
  starting: true,
  daemons: true,
  machines: 4,
  pods: 8,
  pools: 3,
  replicas: 4,
};

/** Only what planning as specified and kube-scheduler judge alike. */
export const agreeable: Mix = {
  ...everything,
  oddSpreads: false,
  oddAffinities: false,
  openCapacityTypes: false,
};

type Named = (name: string) => SnapshotObject;

const daemonSet = fc
  .record({
    cpu: fc.constantFrom('100m', '300m'),
    nodeSelector: fc.constantFrom<Record<string, string> | undefined>(
      undefined,
      undefined,
      { 'kubernetes.io/arch': 'arm64' },
      { team: 'a' },
    ),
    tolerations: fc.constantFrom<object[] | undefined>(undefined, [{ operator: 'Exists' }]),
    hostPort: sometimes(20, fc.constant(9090)),
  })
  .map(
    ({ cpu, nodeSelector, tolerations, hostPort }) =>
      (name: string): SnapshotObject => ({
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name, namespace: 'default', uid: `uid-ds-${name}` },
        spec: {
          selector: { matchLabels: { ds: name } },
          template: {
            metadata: { labels: { ds: name } },
            spec: defined({
              nodeSelector,
              tolerations,
              containers: [
                defined({
                  name: 'main',
                  resources: { requests: { cpu, memory: '64Mi' } },
                  ports: hostPort === undefined ? undefined : [{ containerPort: hostPort, hostPort }],
                }),
              ],
            }),
          },
        },
      }),
  );

const budget = fc
  .constantFrom<object>({ maxUnavailable: 0 }, { maxUnavailable: '0%' }, { minAvailable: '100%' }, { minAvailable: 1 })
  .map(
    (spec) =>
      (name: string): SnapshotObject => ({
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name, namespace: 'default', uid: `uid-pdb-${name}` },
        spec: { selector: { matchLabels: { app: 'red' } }, ...spec },
      }),
  );

function namespaceObjects(): SnapshotObject[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', uid: 'uid-ns-default' } },
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'other', uid: 'uid-ns-other', labels: { shared: 'yes' } },
    },
  ];
}

function spreadsOverCapacityTypes({ spec }: PodParts): boolean {
  return (spec.topologySpreadConstraints ?? []).some(({ topologyKey }) => topologyKey === label.capacityType);
}

export function snapshots(mix: Mix): fc.Arbitrary<Snapshot> {
  const replicated = fc.record({ parts: podParts(mix), count: fc.integer({ min: 1, max: mix.replicas }) });
  return fc
    .record({
      types: catalogue(mix),
      pools: fc.array(pool(mix), { minLength: 1, maxLength: mix.pools }),
      machines: fc.array(machineParts(mix), { maxLength: mix.machines }),
      pods: fc.array(replicated, { minLength: 1, maxLength: mix.pods }),
      daemons: mix.daemons ? fc.array(daemonSet, { maxLength: 2 }) : fc.constant<Named[]>([]),
      budgets: mix.leaving ? fc.array(budget, { maxLength: 2 }) : fc.constant<Named[]>([]),
      preferencePolicy: fc.constantFrom<'Respect' | 'Ignore'>('Respect', 'Respect', 'Respect', 'Ignore'),
      minValuesPolicy: fc.constantFrom<'Strict' | 'BestEffort'>('Strict', 'BestEffort'),
      maxInstanceTypes: fc.constantFrom(600, 600, 600, 2),
    })
    .map(({ types, pools, machines, pods, daemons, budgets, ...settings }) => {
      const isDecided = !mix.openCapacityTypes && pods.some(({ parts }) => spreadsOverCapacityTypes(parts));
      const poolObjects = pools.map((make, i) =>
        make(`pool-${i}`, isDecided ? (['on-demand', 'spot'][i % 2] as string) : undefined),
      );
      const poolName = (i: number): string | undefined => poolObjects[i % poolObjects.length]?.metadata.name;
      const built = machines.map((parts: MachineParts, i) => machineObjects(parts, i, poolName(i)));
      const waiting: PodParts[] = pods.flatMap(({ parts, count }) => Array.from({ length: count }, () => parts));
      return {
        apiVersion: 'kerf/v1',
        kind: 'Snapshot',
        name: 'random',
        time,
        settings,
        provider: { ...provider },
        objects: {
          apiVersion: 'v1',
          kind: 'List',
          items: [
            ...namespaceObjects(),
            ...poolObjects,
            ...(mix.volumes ? volumeObjects() : []),
            ...built.flatMap((machine) => machine.objects),
            ...daemons.map((make, i) => make(i === 0 ? 'agent' : `agent-${i}`)),
            ...budgets.map((make, i) => make(`budget-${i}`)),
            ...waiting.map(waitingPod),
          ],
        },
        nodeState: built.map((machine) => machine.state),
        instanceTypes: poolObjects.map((p) => ({ nodePool: p.metadata.name, items: types })),
      };
    });
}
