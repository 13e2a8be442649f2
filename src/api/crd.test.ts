import { describe, expect, test } from 'vitest';
import { compileSchema, customResourceDefinition, kinds, objectSchema, type Structural } from './index.ts';

const crds = kinds.map((kind) => [kind.kind, customResourceDefinition(kind)] as const);

/** Every schema inside a schema, with its path. */
function* parts(schema: Structural, path: string[] = []): Generator<[string, Structural]> {
  yield [path.join('.'), schema];
  for (const [name, property] of Object.entries(schema.properties ?? {})) yield* parts(property, [...path, name]);
  if (schema.items !== undefined) yield* parts(schema.items, [...path, '[]']);
  if (typeof schema.additionalProperties === 'object') yield* parts(schema.additionalProperties, [...path, '*']);
}

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('%s', (_, kind) => {
  const schema = objectSchema(kind);

  test('every rule compiles', () => {
    expect(compileSchema(schema).problems).toEqual([]);
  });

  test('every part has a type, and every field a description', () => {
    const all = [...parts(schema)];
    const typeless = all.filter(([, part]) => part['x-kubernetes-int-or-string'] !== true && part.type === undefined);
    expect(typeless.map(([path]) => path)).toEqual([]);
    const isField = (path: string): boolean => path !== 'metadata' && !path.endsWith('*') && !path.endsWith('[]');
    const undescribed = all.filter(([path, part]) => isField(path) && part.description === undefined);
    expect(undescribed.map(([path]) => path)).toEqual([]);
  });

  test('the schema is plain JSON and says that spec is required, but for node classes', () => {
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    expect(schema.required).toEqual(kind.kind.endsWith('NodeClass') ? undefined : ['spec']);
  });
});

test.each([
  ['NodePool', 'karpenter.sh', 'v1', 'Cluster', undefined, 'karpenter'],
  ['NodeClaim', 'karpenter.sh', 'v1', 'Cluster', undefined, 'karpenter'],
  ['NodeOverlay', 'karpenter.sh', 'v1alpha1', 'Cluster', ['overlays'], 'karpenter'],
  ['CapacityBuffer', 'autoscaling.x-k8s.io', 'v1beta1', 'Namespaced', ['cb'], 'autoscaling'],
  ['EC2NodeClass', 'karpenter.k8s.aws', 'v1', 'Cluster', ['ec2nc', 'ec2ncs'], 'karpenter'],
  ['KWOKNodeClass', 'karpenter.kwok.sh', 'v1alpha1', 'Cluster', ['kwoknc', 'kwokncs'], 'karpenter'],
])('%s is served as %s/%s', (kind, group, version, scope, shortNames, category) => {
  const crd = crds.find(([name]) => name === kind)?.[1];
  expect(crd?.spec).toMatchObject({ group, scope, names: { kind, categories: [category] } });
  expect(crd?.spec.names.shortNames).toEqual(shortNames);
  expect(crd?.spec.versions).toMatchObject([
    { name: version, served: true, storage: true, subresources: { status: {} } },
  ]);
});

test('only NodePools scale', () => {
  const scaled = crds.filter(([, crd]) => crd.spec.versions[0]?.subresources.scale !== undefined);
  expect(scaled.map(([kind]) => kind)).toEqual(['NodePool']);
  expect(scaled[0]?.[1].spec.versions[0]?.subresources.scale).toEqual({
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.nodes',
  });
});

test.each([
  ['NodePool', 'NodeClass Nodes Ready Age', 'Weight CPU Memory'],
  ['NodeClaim', 'Type Capacity Zone Node Ready Age', 'ImageID ID NodePool NodeClass Drifted'],
  ['NodeOverlay', 'Ready Age', 'Weight'],
  ['CapacityBuffer', 'Strategy PodTemplate Replicas ConditionsType ConditionsStatus ConditionsReason Age', ''],
  ['EC2NodeClass', 'Ready Age', 'Role'],
  ['KWOKNodeClass', '', ''],
])('%s is listed with %s, and wide with %s', (kind, narrow, wide) => {
  const columns = crds.find(([name]) => name === kind)?.[1].spec.versions[0]?.additionalPrinterColumns ?? [];
  const names = (isWide: boolean): string =>
    columns
      .filter(({ priority }) => (priority === 1) === isWide)
      .map(({ name }) => name)
      .join(' ');
  expect([names(false), names(true)]).toEqual([narrow, wide]);
});
