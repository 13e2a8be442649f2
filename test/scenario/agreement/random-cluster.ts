// A random cluster for the comparison of plan and controller: NodePools with limits, taints and requirements, and
// Deployments whose pods spread, keep apart, select and tolerate. Plain enough that every difference can be understood.
import { seeded } from '../../../bench/workloads/random.ts';
import { label } from '../../../src/api/index.ts';
import { nodeClassRef, type Scenario } from '../harness/scenario.ts';

export interface RandomCluster {
  pools: { name: string; spec: object; template: object }[];
  workloads: { name: string; replicas: number; requests: Record<string, string>; podSpec: object }[];
}

export function randomCluster(seed: number): RandomCluster {
  const { chance, pick: oneOf, between } = seeded(seed);
  const upTo = (most: number): number => between(1, most);
  const some = <T>(items: readonly T[]): T[] => {
    const kept = items.filter(() => chance(0.6));
    return kept.length > 0 ? kept : [oneOf(items)];
  };
  const zones = ['test-zone-a', 'test-zone-b', 'test-zone-c'];
  const taint = { key: 'team', value: 'data', effect: 'NoSchedule' };

  const pools = Array.from({ length: upTo(3) }, (_, index) => {
    const requirement = (key: string, values: readonly string[]): object => ({ key, operator: 'In', values });
    return {
      name: `pool-${index}`,
      spec: {
        ...(chance(0.3) ? { weight: upTo(20) } : {}),
        ...(chance(0.4) ? { limits: chance(0.3) ? { nodes: String(upTo(6)) } : { cpu: String(4 * upTo(16)) } } : {}),
      },
      template: {
        nodeClassRef,
        requirements: [
          ...(chance(0.5) ? [requirement(label.capacityType, some(['spot', 'on-demand']))] : []),
          ...(chance(0.4) ? [requirement(label.zone, some(zones))] : []),
          ...(chance(0.4) ? [requirement(label.arch, some(['amd64', 'arm64']))] : []),
        ],
        ...(index > 0 && chance(0.4) ? { taints: [taint] } : {}),
      },
    };
  });

  const workloads = Array.from({ length: upTo(4) }, (_, index) => {
    const name = `work-${index}`;
    const labelSelector = { matchLabels: { app: name } };
    const hasSpread = chance(0.4);
    return {
      name,
      replicas: upTo(9),
      requests: {
        cpu: oneOf(['100m', '500m', '1', '2', '3500m', '7']),
        memory: oneOf(['128Mi', '1Gi', '4Gi', '12Gi']),
      },
      podSpec: {
        ...(chance(0.3)
          ? {
              nodeSelector: oneOf([
                { [label.zone]: oneOf(zones) },
                { [label.arch]: 'arm64' },
                { [label.capacityType]: 'spot' },
              ]),
            }
          : {}),
        ...(chance(0.3) ? { tolerations: [{ key: taint.key, operator: 'Exists' }] } : {}),
        ...(hasSpread
          ? {
              topologySpreadConstraints: [
                {
                  maxSkew: upTo(2),
                  topologyKey: oneOf([label.zone, label.hostname]),
                  whenUnsatisfiable: 'DoNotSchedule',
                  labelSelector,
                },
              ],
            }
          : chance(0.2)
            ? {
                affinity: {
                  podAntiAffinity: {
                    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: label.hostname, labelSelector }],
                  },
                },
              }
            : {}),
      },
    };
  });
  return { pools, workloads };
}

export async function create(scenario: Scenario, { pools, workloads }: RandomCluster): Promise<void> {
  for (const { name, spec, template } of pools) await scenario.pool(name, spec, template);
  for (const { name, replicas, requests, podSpec } of workloads)
    await scenario.deployment(name, replicas, podSpec, requests);
}
