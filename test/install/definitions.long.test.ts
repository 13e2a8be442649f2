// Our definitions over those of every release of Karpenter, on a real API server: nothing that is stored is lost, by
// reading it or by writing it again, whoever installed the older ones.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { crdChart, helm } from '../chart/helm.ts';
import { corpus, type Manifest } from '../corpus/index.ts';
import { provideKarpenterChart } from '../setup/karpenter-charts.ts';
import { type Definition, karpenterDefinitions } from '../setup/karpenter-definitions.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';

const cluster = useControlPlane();
const namespace = 'kube-system';
const progress = (line: string): void => console.error(line);
const kubectl = async (args: string[], stdin?: unknown): Promise<string> =>
  (await cluster().kubectl(args, stdin === undefined ? {} : { stdin: JSON.stringify(stdin) })).stdout;
const ask = async (...args: string[]): Promise<string> =>
  (await helm([...args, '--namespace', namespace], { kubeconfig: cluster().kubeconfig })).stdout;

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
  await inParallel(items, async ({ apiVersion, metadata }) => {
    const inNamespace = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
    const path = `/apis/${group.join('.')}/${apiVersion.split('/')[1]}${inNamespace}/${name}/${metadata.name}`;
    const patch = { metadata: { annotations: { touched: 'yes' } } };
    const { status, body } = await cluster().request('PATCH', path, patch, 'application/merge-patch+json');
    if (status !== 200) throw new Error(`${path} cannot be written any more: ${JSON.stringify(body)}`);
  });
}

async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: 12 }, worker));
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
    await inParallel(accepted, async (manifest) => {
      const [group = '', version = ''] = manifest.apiVersion.split('/');
      if (!kinds.has(manifest.kind) || !versions.has(version)) return;
      const plural = names.find((name) => name.startsWith(manifest.kind.toLowerCase()))?.split('.')[0];
      // What the older definition refuses was never stored.
      const { status } = await cluster().request('POST', `/apis/${group}/${version}/${plural}`, manifest);
      if (status === 201) written += 1;
    });
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
