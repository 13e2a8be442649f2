// Our chart beside Karpenter's own: the same values give the same objects, names, labels, variables and ports, but for a
// short list of differences that are wanted. Values files of older charts are accepted.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { parseSettings } from '../../src/server/index.ts';
import { type ChartVersion, chartVersions, provideKarpenterChart } from '../setup/karpenter-charts.ts';
import { controllerOf, helm, kerfChart, type Rendered, render, variables } from './helm.ts';

const minimal = 'settings: {clusterName: one}';
const usersFolder = join(import.meta.dirname, 'users');
const users = readdirSync(usersFolder);
const chartOf = async (version: ChartVersion): Promise<string> =>
  join(await provideKarpenterChart(version, (line) => console.error(line)), 'karpenter');

async function theirs(values: string, ...more: string[]): Promise<Rendered[]> {
  const isFile = values.startsWith('/');
  const release = ['template', 'karpenter', await chartOf('1.14.1'), '--namespace', 'kube-system'];
  const { stdout } = await helm([...release, '-f', isFile ? values : '-', ...more], isFile ? {} : { stdin: values });
  return parseAllDocuments(stdout).flatMap((document) => (document.toJS() as Rendered | null) ?? []);
}

type Tree = Record<string, unknown>;
const drop = (tree: Tree, ...names: string[]): void => {
  for (const name of names) delete tree[name];
};

/** Without what differs on purpose (docs/reference/helm-values.md) and what names the chart itself. */
function comparable({ ...object }: Rendered): Tree {
  // Amounts that a values file takes away by null are left out here, and null there.
  const text = JSON.stringify(object, (_, value: unknown) => (value === null ? undefined : value));
  const copy = JSON.parse(text) as Tree & Rendered;
  drop(copy.metadata.labels, 'helm.sh/chart', 'app.kubernetes.io/version');
  // Rights have tests of their own: never wider than documented.
  if (copy.kind.endsWith('Role')) drop(copy, 'rules');
  if (copy.kind !== 'Deployment') return copy;
  const template = copy.spec.template as unknown as {
    metadata: Tree;
    spec: Tree & Rendered['spec']['template']['spec'];
  };
  const pod = template.spec;
  drop(pod, 'automountServiceAccountToken', 'enableServiceLinks');
  const isOwn = ({ name }: { name: string }): boolean => name === 'kube-api-access';
  const container = controllerOf([copy]) as unknown as Tree;
  for (const [owner, name] of [
    [pod as Tree, 'volumes'],
    [container, 'volumeMounts'],
  ] as const) {
    const kept = ((owner[name] ?? []) as { name: string }[]).filter((each) => !isOwn(each));
    owner[name] = kept;
    if (kept.length === 0) drop(owner, name);
  }
  drop(container, 'image', 'args', 'env');
  return copy;
}

/** As the API server stores it: with the version of the reference, without which server-side apply would see a conflict. */
const namespaceVariable = {
  name: 'SYSTEM_NAMESPACE',
  valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } },
};

const keyOf = ({ kind, metadata }: Rendered): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
const byKey = (objects: readonly Rendered[]): Record<string, Tree> =>
  Object.fromEntries(objects.map((object) => [keyOf(object), comparable(object)]));

describe.each(['defaults', ...users])('the values %s', (name) => {
  const values = name === 'defaults' ? minimal : join(usersFolder, name);
  const both = async () => {
    const more = ['--api-versions', 'monitoring.coreos.com/v1', '--kube-version', '1.37.0'];
    return { own: await render(values, ...more), their: await theirs(values, ...more) };
  };

  test("give the objects of Karpenter's chart, field by field", async () => {
    const { own, their } = await both();
    expect(byKey(own)).toEqual(byKey(their));
  });

  test('give the same variables, and others only at their defaults', async () => {
    const { own, their } = await both();
    const [ours, given] = [controllerOf(own).env, controllerOf(their).env];
    // A name that is there twice: the last one counts.
    const last = new Map(given.map((each) => [each.name, each]));
    const { FEATURE_GATES: gates, ...rest } = Object.fromEntries(last);
    for (const [name, variable] of Object.entries(rest))
      expect(ours.find((each) => each.name === name)).toEqual(
        name === namespaceVariable.name ? namespaceVariable : variable,
      );
    const ourGates = variables(own)['FEATURE_GATES']?.split(',');
    expect(ourGates).toEqual(expect.arrayContaining((gates?.value ?? '').split(',')));
    const settingsOf = (objects: readonly Rendered[]) => {
      const { settings, aws } = parseSettings({}, variables(objects), 'aws');
      return { settings, aws };
    };
    expect(settingsOf(own)).toEqual(settingsOf(their));
  });
});

describe('names', () => {
  test.each([
    ['kerf', ''],
    ['prod-karpenter', ''],
    ['x', 'nameOverride: nodes'],
    ['x', 'fullnameOverride: autoscaler'],
    ['a-release-whose-name-is-as-long-as-helm-lets-one-be-x', ''],
    ['x', 'serviceAccount: {create: false}'],
    ['x', 'serviceAccount: {create: false, name: other}'],
  ])('of release %s with %s are the same', async (release, values) => {
    const namesOf = async (chart: string): Promise<string[]> => {
      const { stdout } = await helm(['template', release, chart, '-n', 'somewhere', '-f', '-'], {
        stdin: `${minimal}\n${values}`,
      });
      const objects = parseAllDocuments(stdout).flatMap((each) => (each.toJS() as Rendered | null) ?? []);
      return objects
        .map((object) => `${keyOf(object)} ${JSON.stringify((object as { subjects?: unknown }).subjects ?? '')}`)
        .sort();
    };
    expect(await namesOf(kerfChart)).toEqual(await namesOf(await chartOf('1.14.1')));
  });
});

/** Every value with its path: maps that are empty or hold what the user names are values themselves. */
function leaves(tree: unknown, path: readonly string[] = []): [string, unknown][] {
  const isBranch = typeof tree === 'object' && tree !== null && !Array.isArray(tree) && Object.keys(tree).length > 0;
  const whole = ['nodeSelector', 'affinity', 'strategy', 'podSecurityContext'];
  if (!isBranch || whole.includes(path.join('.'))) return [[path.join('.'), tree]];
  return Object.entries(tree).flatMap(([name, below]) => leaves(below, [...path, name]));
}

const valuesOf = (chart: string): unknown => parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));

test('every value of the reference has the same name and default', async () => {
  const own = new Map(leaves(valuesOf(kerfChart)));
  const their = leaves(valuesOf(await chartOf('1.14.1'))).filter(([name]) => !name.startsWith('controller.image.'));
  expect(their.length).toBeGreaterThan(70);
  expect(their.filter(([name, value]) => JSON.stringify(own.get(name)) !== JSON.stringify(value))).toEqual([]);
});

test.each(chartVersions)('all values of the chart %s written out are accepted', async (version) => {
  const file = join(await chartOf(version), 'values.yaml');
  const objects = await render(file, '--set', 'settings.clusterName=one');
  expect(objects.length).toBeGreaterThan(10);
});

describe("a release of Karpenter's chart upgraded with --reuse-values", () => {
  test.each(chartVersions)(
    'has the values of the chart %s instead of ours, and is rendered as with ours',
    async (version) => {
      const folder = mkdtempSync(join(tmpdir(), 'kerf-reused-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      cpSync(kerfChart, folder, { recursive: true });
      cpSync(join(await chartOf(version), 'values.yaml'), join(folder, 'values.yaml'));
      const release = [
        'template',
        'karpenter',
        folder,
        '--namespace',
        'kube-system',
        '--set',
        'settings.clusterName=one',
      ];
      const { stdout } = await helm(release);
      const reused = parseAllDocuments(stdout).flatMap((each) => (each.toJS() as Rendered | null) ?? []);
      const fresh = await render(minimal);
      expect(reused.map(keyOf)).toEqual(fresh.map(keyOf));
      const { settings, aws } = parseSettings({}, variables(fresh), 'aws');
      expect(parseSettings({}, variables(reused), 'aws')).toMatchObject({ settings, aws });
    },
  );
});

describe('values of the newest chart', () => {
  test('gates of the provider are a map', async () => {
    const given = variables(await render('settings: {clusterName: one, awsFeatureGates: {nodeClassCEL: true}}'));
    expect(given['AWS_FEATURE_GATES']).toContain('NodeClassCEL=true');
    expect(given['AWS_FEATURE_GATES']).toContain('DRAEFA=false');
  });

  test('devices by one switch, or by a gate, are not ignored', async () => {
    for (const values of ['enableDRA: true', 'awsFeatureGates: {draEFA: true}']) {
      const given = variables(await render(`settings: {clusterName: one, ${values}}`));
      expect(given).toMatchObject({ IGNORE_DRA_REQUESTS: 'false' });
      expect(given['AWS_FEATURE_GATES']).toContain('DRAEFA=true');
    }
  });

  test('what kube-scheduler was configured with is a map or text', async () => {
    const constraint = '{maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}';
    const config = `{podTopologySpread: {defaultConstraints: [${constraint}]}}`;
    const settings = await Promise.all(
      [config, `'${config}'`].map(async (each) => {
        const given = variables(await render(`settings: {clusterName: one, schedulerConfig: ${each}}`));
        return parseSettings({}, given, 'aws').settings;
      }),
    );
    expect(settings[0]?.defaultSpread).toHaveLength(1);
    expect(settings[0]).toEqual(settings[1]);
  });
});
