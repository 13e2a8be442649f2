// Random NodePools: weights, taints, limits, requirements with minValues, template labels, and pools that cannot be used.
import * as fc from 'fast-check';
import { label } from '../../../src/api/index.ts';
import type { RequirementSpec, SnapshotObject } from '../../../src/core/index.ts';
import type { Taint } from '../rules/objects.ts';
import { dedicated, defined, softTaint, sometimes, zones } from './values.ts';

export interface PoolOptions {
  limits: boolean;
  minValues: boolean;
  softTaints: boolean;
}

const poolRequirement = (minValues: boolean): fc.Arbitrary<RequirementSpec> =>
  fc.oneof(
    fc
      .subarray(zones, { minLength: 1 })
      .map((values): RequirementSpec => ({ key: label.zone, operator: 'In', values })),
    fc.constantFrom<RequirementSpec>(
      { key: label.capacityType, operator: 'In', values: ['on-demand'] },
      { key: label.capacityType, operator: 'In', values: ['spot', 'on-demand'] },
      { key: label.capacityType, operator: 'Exists' },
      { key: label.arch, operator: 'In', values: ['amd64'] },
      { key: label.arch, operator: 'NotIn', values: ['arm64'] },
      { key: 'test.kerf/cpu', operator: 'Lt', values: ['9'] },
      { key: 'test.kerf/cpu', operator: 'Gt', values: ['1'] },
      { key: 'team', operator: 'Exists' },
      { key: 'team', operator: 'In', values: ['a', 'b'] },
      ...(minValues
        ? [
            { key: label.instanceType, operator: 'Exists' as const, minValues: 2 },
            { key: 'test.kerf/cpu', operator: 'Exists' as const, minValues: 2 },
          ]
        : []),
    ),
  );

/** Made under a name, and perhaps for one capacity type only. */
export function pool(options: PoolOptions): fc.Arbitrary<(name: string, capacityType?: string) => SnapshotObject> {
  const taints = fc.constantFrom<Taint[] | undefined>(
    undefined,
    undefined,
    undefined,
    [dedicated],
    ...(options.softTaints ? [[softTaint]] : []),
  );
  return fc
    .record({
      weight: sometimes(40, fc.integer({ min: 1, max: 3 })),
      requirements: fc.array(poolRequirement(options.minValues), { maxLength: 3 }),
      labels: sometimes(25, fc.constantFrom<Record<string, string>>({ tier: 'gold' }, { tier: 'tin' })),
      taints,
      startupTaints: sometimes(15, fc.constant<Taint[]>([{ key: 'starting', effect: 'NoSchedule' }])),
      limits: options.limits
        ? sometimes(
            30,
            fc.constantFrom<Record<string, string>>(
              { cpu: '8' },
              { cpu: '24', memory: '64Gi' },
              { cpu: '40' },
              { nodes: '2' },
            ),
          )
        : fc.constant(undefined),
      unusable: sometimes(6, fc.constantFrom('not ready', 'deleting', 'static', 'other class')),
    })
    .map((parts) => (name, capacityType) => {
      const only: RequirementSpec[] =
        capacityType === undefined ? [] : [{ key: label.capacityType, operator: 'In', values: [capacityType] }];
      return poolObject(name, { ...parts, requirements: [...parts.requirements, ...only] });
    });
}

interface PoolParts {
  weight: number | undefined;
  requirements: RequirementSpec[];
  labels: Record<string, string> | undefined;
  taints: Taint[] | undefined;
  startupTaints: Taint[] | undefined;
  limits: Record<string, string> | undefined;
  unusable: string | undefined;
}

function poolObject(name: string, parts: PoolParts): SnapshotObject {
  const { unusable } = parts;
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: defined({
      name,
      uid: `uid-pool-${name}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      deletionTimestamp: unusable === 'deleting' ? '2026-01-01T01:00:00Z' : undefined,
      generation: 1,
    }),
    spec: defined({
      weight: unusable === 'static' ? undefined : parts.weight,
      limits: unusable === 'static' ? undefined : parts.limits,
      replicas: unusable === 'static' ? 0 : undefined,
      template: {
        ...(parts.labels === undefined ? {} : { metadata: { labels: parts.labels } }),
        spec: defined({
          nodeClassRef: {
            group: 'karpenter.test.sh',
            kind: unusable === 'other class' ? 'OtherNodeClass' : 'TestNodeClass',
            name: 'default',
          },
          requirements: parts.requirements,
          taints: parts.taints,
          startupTaints: parts.startupTaints,
        }),
      },
    }),
    status: { conditions: [{ type: 'Ready', status: unusable === 'not ready' ? 'False' : 'True', reason: 'Ready' }] },
  };
}
