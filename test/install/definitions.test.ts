// Our definitions over those of every release of Karpenter, on a real API server: nothing that is stored is lost, by
// reading it or by writing it again, whoever installed the older ones.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { crdChart, helm, kerfChart } from '../chart/helm.ts';
import { runKerf } from '../cli/run-kerf.ts';
import { corpus, type Manifest } from '../corpus/index.ts';
import { provideKarpenterChart } from '../setup/karpenter-charts.ts';
import { type Definition, definitionReleases, karpenterDefinitions } from '../setup/karpenter-definitions.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';

const cluster = useControlPlane();
const namespace = 'kube-system';
const progress = (line: string): void => console.error(line);
const kubectl = async (args: string[], stdin?: unknown): Promise<string> =>
  (await cluster().kubectl(args, stdin === undefined ? {} : { stdin: JSON.stringify(stdin) })).stdout;
const ask = async (...args: string[]): Promise<string> =>
  (await helm([...args, '--namespace', namespace], { kubeconfig: cluster().kubeconfig })).stdout;

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  'x-kubernetes-int-or-string'?: boolean;
}

/** Every field with its type, by path. */
function fieldsOf(schema: Schema, path = '', found = new Map<string, string>()): Map<string, string> {
  found.set(path, schema['x-kubernetes-int-or-string'] === true ? 'int-or-string' : (schema.type ?? 'any'));
  for (const [name, below] of Object.entries(schema.properties ?? {})) fieldsOf(below, `${path}.${name}`, found);
  if (typeof schema.additionalProperties === 'object') fieldsOf(schema.additionalProperties, `${path}.*`, found);
  if (schema.items !== undefined) fieldsOf(schema.items, `${path}[]`, found);
  return found;
}

const storedIn = ({ spec }: Definition): Map<string, string> =>
  fieldsOf(spec.versions.find(({ storage }) => storage)?.schema.openAPIV3Schema ?? {});
let ours: Map<string, Definition>;

beforeAll(async () => {
  const { out } = await runKerf(['crds']);
  ours = new Map(
    parseAllDocuments(out).map((document) => {
      const definition = document.toJS() as Definition;
      return [definition.metadata.name, definition] as const;
    }),
  );
});

test('the chart, the folder crds and `kerf crds` have the same definitions', async () => {
  const { stdout } = await helm(['template', 'kerf-crd', crdChart, '--set', 'kwok.enabled=true']);
  const inChart = parseAllDocuments(stdout).flatMap((each) => (each.toJS() as Definition | null) ?? []);
  expect(inChart.map(({ metadata }) => metadata.name).sort()).toEqual([...ours.keys()].sort());
  for (const { metadata, spec } of inChart) {
    expect(spec).toEqual(ours.get(metadata.name)?.spec);
    const [plural, ...group] = metadata.name.split('.');
    const file = `${group.join('.')}_${plural}.yaml`;
    expect(parse(readFileSync(join('crds', file), 'utf8'))).toEqual(ours.get(metadata.name));
    if (!metadata.name.includes('kwok'))
      expect((parse(readFileSync(join(kerfChart, 'crds', file), 'utf8')) as Definition).spec).toEqual(spec);
  }
});

describe.each(definitionReleases)('%s', (release) => {
  test('has no field that ours lack, and none of another type', async () => {
    const theirs = await karpenterDefinitions(release, progress);
    expect(theirs.length).toBeGreaterThan(0);
    for (const definition of theirs) {
      const own = ours.get(definition.metadata.name);
      if (own === undefined) throw new Error(`Kerf does not have ${definition.metadata.name}`);
      const [old, now] = [storedIn(definition), storedIn(own)];
      const isTaken = (path: string, type: string): boolean =>
        now.get(path) === type || (now.get(path) === 'int-or-string' && type === 'integer');
      expect([...old].filter(([path, type]) => !isTaken(path, type))).toEqual([]);
    }
  });
});

const accepted: readonly Manifest[] = corpus.flatMap(({ manifest, expect: expected, update, subresource }) =>
  expected === 'accept' && update === undefined && subresource === undefined ? [manifest] : [],
);

/** Names and specs of everything stored, by kind. */
async function stored(plurals: readonly string[]): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const plural of plurals) {
    const { items } = JSON.parse(await kubectl(['get', plural, '-A', '-o', 'json'])) as { items: Manifest[] };
    for (const { kind, metadata, spec, status } of items) all[`${kind}/${metadata.name}`] = { spec, status };
  }
  // What is undefined is not there.
  return JSON.parse(JSON.stringify(all)) as Record<string, unknown>;
}

/** Written again, as a controller does that adds something. Kinds without objects have nothing to write. */
async function touch(plural: string): Promise<void> {
  const { items } = JSON.parse(await kubectl(['get', plural, '-A', '-o', 'json'])) as { items: Manifest[] };
  const [name, ...group] = plural.split('.');
  for (const { apiVersion, metadata } of items) {
    const inNamespace = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
    const path = `/apis/${group.join('.')}/${apiVersion.split('/')[1]}${inNamespace}/${name}/${metadata.name}`;
    const patch = { metadata: { annotations: { touched: 'yes' } } };
    const { status, body } = await cluster().request('PATCH', path, patch, 'application/merge-patch+json');
    if (status !== 200) throw new Error(`${path} cannot be written any more: ${JSON.stringify(body)}`);
  }
}

/** Definitions without their webhook and older versions: how they look once every object is stored as v1. */
const settled = (definition: Definition): Definition => ({
  ...definition,
  spec: { ...definition.spec, versions: definition.spec.versions.filter(({ storage }) => storage) },
});

describe.each([
  { releases: ['core 1.0.8', 'aws 1.0.8'], by: 'kubectl apply' },
  { releases: ['core 1.5.5'], by: "Karpenter's chart" },
  { releases: ['core 1.15.0', 'aws 1.14.1'], by: 'kubectl apply' },
])('$releases, installed by $by', ({ releases, by }) => {
  test('every stored object stays as it is, when ours are installed and when it is written again', async () => {
    const definitions = (await Promise.all(releases.map((each) => karpenterDefinitions(each, progress))))
      .flat()
      .map(settled);
    const names = definitions.map(({ metadata }) => metadata.name);
    const items = definitions.map((each) =>
      by === 'kubectl apply'
        ? each
        : {
            ...each,
            metadata: {
              ...each.metadata,
              labels: { 'app.kubernetes.io/managed-by': 'Helm' },
              annotations: {
                'meta.helm.sh/release-name': 'karpenter-crd',
                'meta.helm.sh/release-namespace': namespace,
              },
            },
          },
    );
    await kubectl(['apply', '--server-side', '-f', '-'], { apiVersion: 'v1', kind: 'List', items });
    await kubectl(['wait', 'crd', ...names, '--for=condition=Established', '--timeout=60s']);
    const kinds = new Set(definitions.map((each) => (each.spec as unknown as { names: { kind: string } }).names.kind));
    const versions = new Set(definitions.flatMap((each) => each.spec.versions.map(({ name }) => name)));
    let written = 0;
    for (const manifest of accepted) {
      const [group = '', version = ''] = manifest.apiVersion.split('/');
      if (!kinds.has(manifest.kind) || !versions.has(version)) continue;
      const plural = names.find((name) => name.startsWith(manifest.kind.toLowerCase()))?.split('.')[0];
      // What the older definition refuses was never stored.
      const { status } = await cluster().request('POST', `/apis/${group}/${version}/${plural}`, manifest);
      if (status === 201) written += 1;
    }
    expect(written).toBeGreaterThan(20);
    const before = await stored(names);
    const flags = by === 'kubectl apply' ? ['--take-ownership'] : [];
    await ask('upgrade', '--install', 'karpenter-crd', crdChart, '--set', 'kwok.enabled=true', ...flags);
    await kubectl(['wait', 'crd', ...names, '--for=condition=Established', '--timeout=60s']);
    expect(withoutDefaults(await stored(names), before)).toEqual(before);
    for (const name of names) await touch(name);
    const touched = await stored(names);
    expect(withoutDefaults(touched, before)).toEqual(before);
    const gone = await ask('uninstall', 'karpenter-crd');
    expect(gone).toContain('[CustomResourceDefinition] nodepools.karpenter.sh');
    expect(Object.keys(await stored(names))).toHaveLength(Object.keys(before).length);
    await kubectl(['delete', 'crd', '--all', '--wait']);
  });
});

/** Newer definitions may add defaults where nothing was; nothing else may differ. */
function withoutDefaults(now: unknown, before: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(before)) return now.map((each, at) => withoutDefaults(each, before[at]));
  if (typeof now !== 'object' || now === null || typeof before !== 'object' || before === null) return now;
  const known = before as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(now).flatMap(([key, value]) => (key in known ? [[key, withoutDefaults(value, known[key])]] : [])),
  );
}

test("definitions that Karpenter's crd chart brought are upgraded in its own release, and rolled back", async () => {
  const theirs = join(await provideKarpenterChart('1.14.1', progress), 'karpenter-crd');
  await ask('upgrade', '--install', 'karpenter-crd', theirs);
  await kubectl(['wait', 'crd', '--all', '--for=condition=Established', '--timeout=60s']);
  const pool = accepted.find(({ kind }) => kind === 'NodePool');
  await kubectl(['create', '-f', '-'], pool);
  const before = await stored(['nodepools.karpenter.sh']);
  await ask('upgrade', '--install', 'karpenter-crd', crdChart);
  expect(await stored(['nodepools.karpenter.sh'])).toEqual(before);
  await ask('rollback', 'karpenter-crd', '1');
  expect(await stored(['nodepools.karpenter.sh'])).toEqual(before);
});
