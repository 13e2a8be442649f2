import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KerfOptions, type KerfRun, runKerf } from './run-kerf.ts';

const root = resolve(import.meta.dirname, '../..');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-plan-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const kerf = (args: string[], options?: KerfOptions): Promise<KerfRun> => runKerf(['plan', ...args], options);

async function planOf(args: string[], options?: KerfOptions) {
  const { code, out, err } = await kerf([...args, '-o', 'json'], options);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as PlanDocument;
}

interface PlanDocument {
  kind: string;
  solveMs: number;
  pods: number;
  pricePerHour: number;
  newNodes: {
    nodePool: string;
    pods: string[];
    chosen: { instanceType: string; zone: string; pricePerHour: number };
  }[];
  existingNodes: { name: string; pods: string[] }[];
  unschedulable: { pod: string; reasons: { code: string }[] }[];
}

const nodePool = (name: string, spec: object = {}, status?: object) => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name },
  spec: {
    template: {
      spec: {
        nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
        requirements: [{ key: 'kubernetes.io/os', operator: 'In', values: ['linux'] }],
        ...spec,
      },
    },
  },
  ...(status === undefined ? {} : { status }),
});
const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
const waiting = { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] };
const pod = (name: string, cpu: string, rest: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: name },
  spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] },
  ...rest,
});
const snapshot = (items: object[], rest: object = {}) => ({
  apiVersion: 'kerf/v1',
  kind: 'Snapshot',
  objects: { apiVersion: 'v1', kind: 'List', items },
  ...rest,
});

describe('a snapshot', () => {
  test('gives a plan on standard output and nothing else', async () => {
    const path = file('a.json', snapshot([nodePool('default', {}, ready), pod('a', '1', { status: waiting })]));
    const plan = await planOf(['--snapshot', path]);
    expect(plan).toMatchObject({ apiVersion: 'kerf/v1', kind: 'Plan', pods: 1, existingNodes: [], unschedulable: [] });
    expect(plan.newNodes).toMatchObject([{ nodePool: 'default', pods: ['default/a'] }]);
    expect(plan.pricePerHour).toBeCloseTo(plan.newNodes[0]?.chosen.pricePerHour ?? 0, 6);
  });

  test('gives the same plan whatever the order of its objects, in JSON and in YAML, from a file and from a pipe', async () => {
    const items = [
      nodePool('default', {}, ready),
      ...['a', 'b', 'c'].map((name, index) => pod(name, String(index + 1), { status: waiting })),
    ];
    const document = snapshot(items);
    const plans = [
      await planOf(['--snapshot', file('b.json', document)]),
      await planOf(['--snapshot', file('c.json', snapshot(items.toReversed()))]),
      await planOf(['--snapshot', '-'], { stdin: JSON.stringify(document) }),
      await planOf(['--snapshot', '-'], { stdin: await kerfYaml(document) }),
      await planOf(['-f', '-'], { stdin: JSON.stringify(document) }),
    ];
    for (const plan of plans) expect({ ...plan, solveMs: 0 }).toEqual({ ...plans[0], solveMs: 0 });
  });

  test('that plans pods it does not mark as waiting places nothing: its objects are taken as they are', async () => {
    const plan = await planOf([
      '--snapshot',
      file('d.json', snapshot([nodePool('default', {}, ready), pod('a', '1')])),
    ]);
    expect(plan.pods).toBe(0);
  });

  test('with instance types of its own leaves NodePools without an entry unusable', async () => {
    const document = snapshot([nodePool('default', {}, ready), pod('a', '1', { status: waiting })], {
      instanceTypes: [],
    });
    const plan = await planOf(['--snapshot', file('e.json', document)]);
    expect(plan.unschedulable.map(({ pod: name }) => name)).toEqual(['default/a']);
  });

  test('with manifests on top is what-if: replicas are added, a changed NodePool takes the old one’s place', async () => {
    const path = file('f.json', snapshot([nodePool('default', {}, ready), pod('a', '1', { status: waiting })]));
    const deployment = file('deployment.yaml', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { replicas: 3, template: { spec: pod('x', '1').spec } },
    });
    expect((await planOf(['--snapshot', path, '-f', deployment])).pods).toBe(4);
    const arm = nodePool('default', {
      requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] }],
    });
    const changed = await planOf(['--snapshot', path, '-f', file('arm.json', arm)]);
    expect(changed.newNodes[0]?.chosen.instanceType).toMatch(/arm64/);
  });
});

test('a gate that does not exist is named, and the plan is made without it', async () => {
  const { code, err } = await kerf(['-f', 'examples/plan/daemons.yaml', '--feature-gates', 'SpotToSpot=true'], {
    cwd: root,
  });
  expect(code).toBe(0);
  expect(err).toContain('note: --feature-gates: there is no gate SpotToSpot; did you mean SpotToSpotConsolidation?');
});

/** YAML is a superset of JSON, but a block document goes through the other reader. */
async function kerfYaml(value: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value);
}

describe('mistakes', () => {
  test.each([
    ['nothing to plan', [], /nothing to plan: give manifests/],
    ['a file that is not there', ['-f', 'missing.yaml'], /no file or folder missing\.yaml/],
    ['a snapshot that is not there', ['--snapshot', 'missing.json'], /no file or folder missing\.json/],
    ['an unknown flag', ['--snapshoot', 'x'], /unknown option '--snapshoot'/],
    ['an unknown format', ['-f', '-', '-o', 'xml'], /Allowed choices are table, json, yaml/],
    ['an unknown policy', ['-f', '-', '--preference-policy', 'respect'], /Allowed choices are Respect, Ignore/],
    ['a time that is none', ['-f', '-', '--time', 'now'], /--time now is not a time/],
    ['a cost below nothing', ['-f', '-', '--node-cost', '-1'], /^error: .*'-1' is invalid\. write USD per hour/],
    ['half an interface', ['-f', '-', '--reserved-enis', '1.5'], /^error: .*'1\.5' is invalid\. write a whole number/],
    [
      'a percentage',
      ['-f', '-', '--vm-memory-overhead-percent', '7.5'],
      /^error: .*'7\.5' is invalid\. write a fraction/,
    ],
    ['one pipe for two inputs', ['-f', '-', '--snapshot', '-'], /can be read only once/],
    ['a comparison of one', ['--diff', 'a'], /--diff takes two configurations/],
    ['a snapshot and a cluster at once', ['--snapshot', 'a', '--context', 'b'], /give one of them/],
    [
      'a region without figures',
      ['-f', '-', '--provider', 'aws', '--region', 'mars-1'],
      /region mars-1: use one of us-east-1/,
    ],
  ])('%s: exit code 2, said on standard error, nothing on standard output', async (_, args, message) => {
    const { code, out, err } = await kerf([...args], { cwd: folder, stdin: JSON.stringify(nodePool('default')) });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
  });

  test('an unknown field of a snapshot is named with file and line', async () => {
    const path = file('typo.yaml', 'apiVersion: kerf/v1\nkind: Snapshot\nobjects: {items: []}\nnodestate: []\n');
    const { code, out, err } = await kerf(['--snapshot', path, '-o', 'json']);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/typo\.yaml:4: nodestate is not a known field; did you mean "nodeState"\?/);
  });

  test('a malformed manifest is named with file, line and field', async () => {
    const path = file('bad.yaml', 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers: none\n');
    const { code, err } = await kerf(['-f', path]);
    expect(code).toBe(2);
    expect(err).toMatch(/bad\.yaml:6: spec\.containers must be a list, not "none" \(Pod\)/);
  });

  test('kinds that do not matter are listed and ignored', async () => {
    const path = file('mixed.yaml', 'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\nkind: Thing\n');
    const { code, err } = await kerf(['-f', path]);
    expect(code).toBe(0);
    expect(err).toBe('note: ignored 2 objects of kinds that planning does not read: Secret, Thing\n');
  });
});

describe('a file without a manifest', () => {
  test.each([
    ['text', 'notes.txt', 'nothing but words'],
    ['nothing', 'empty.yaml', ''],
    ['comments', 'comments.yaml', '# later\n---\n# still later\n'],
  ])('that holds %s is named, because its pods are not planned', async (_, name, content) => {
    const path = file(name, content);
    const { code, out, err } = await kerf(['-f', path]);
    expect({ code, out, err }).toEqual({
      code: 0,
      out: '0 pods to place.\n',
      err: `note: there is no manifest in ${path}\n`,
    });
  });
});

describe('pods without a place', () => {
  const stdin = JSON.stringify([nodePool('default'), pod('giant', '5000'), pod('a', '1')]);

  test('are in the plan with a reason, and exit code 0', async () => {
    const plan = await planOf(['-f', '-'], { stdin });
    expect(plan.unschedulable).toMatchObject([{ pod: 'default/giant', reasons: [{ code: 'InsufficientResources' }] }]);
    expect(plan.newNodes).toHaveLength(1);
  });

  test('are exit code 1 when asked for', async () => {
    const { code, out } = await kerf(['-f', '-', '-o', 'json', '--fail-on-unschedulable'], { stdin });
    expect(code).toBe(1);
    expect((JSON.parse(out) as PlanDocument).unschedulable).toHaveLength(1);
  });
});

describe('catalogues', () => {
  const offering = (zone: string) => ({
    Price: 0.5,
    Available: true,
    Requirements: [
      { key: 'topology.kubernetes.io/zone', operator: 'In', values: [zone] },
      { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
    ],
  });
  const kwokFile = [
    {
      name: 'own-type',
      architecture: 'amd64',
      operatingSystems: ['linux'],
      resources: { cpu: '4', memory: '8Gi' },
      offerings: [offering('my-zone')],
    },
  ];
  const stdin = JSON.stringify([nodePool('default'), pod('a', '1')]);

  test('a file of the KWOK provider', async () => {
    const plan = await planOf(['-f', '-', '--instance-types', file('kwok.json', kwokFile)], { stdin });
    expect(plan.newNodes[0]?.chosen).toMatchObject({ instanceType: 'own-type', zone: 'my-zone', pricePerHour: 0.5 });
  });

  test('instanceTypes as in a snapshot, as a list or inside a document, and a plain list for every pool', async () => {
    const {
      offerings: _,
      resources,
      architecture: __,
      operatingSystems: ___,
      ...rest
    } = kwokFile[0] as (typeof kwokFile)[0];
    const type = {
      ...rest,
      requirements: [
        { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
        { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
      ],
      capacity: { ...resources, pods: '10' },
      offerings: [{ requirements: offering('my-zone').Requirements, price: 0.25, available: true }],
    };
    const pools = [{ nodePool: 'default', items: [type] }];
    for (const document of [pools, { instanceTypes: pools }, [type]]) {
      const plan = await planOf(['-f', '-', '--instance-types', file('types.json', document)], { stdin });
      expect(plan.newNodes[0]?.chosen).toMatchObject({ instanceType: 'own-type', pricePerHour: 0.25 });
    }
  });

  test('devices that types bring serve pods that claim them', async () => {
    const api = 'resource.k8s.io/v1';
    const expression = 'device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "h100"';
    const items = [
      nodePool('default', {}, ready),
      {
        apiVersion: api,
        kind: 'DeviceClass',
        metadata: { name: 'gpu' },
        spec: { selectors: [{ cel: { expression } }] },
      },
      {
        apiVersion: api,
        kind: 'ResourceClaim',
        metadata: { name: 'two', namespace: 'default' },
        spec: { devices: { requests: [{ name: 'gpus', exactly: { deviceClassName: 'gpu', count: 2 } }] } },
      },
      {
        ...pod('a', '1', { status: waiting }),
        spec: {
          containers: [{ name: 'main', resources: { requests: { cpu: '1' }, claims: [{ name: 'gpus' }] } }],
          resourceClaims: [{ name: 'gpus', resourceClaimName: 'two' }],
        },
      },
    ];
    const type = (name: string, gpus: number) => ({
      name,
      requirements: [{ key: 'kubernetes.io/os', operator: 'In', values: ['linux'] }],
      capacity: { cpu: '4', memory: '8Gi', pods: '10' },
      dynamicResources: {
        resourceSliceTemplates: [
          {
            driver: 'gpu.example.com',
            pool: { name: 'gpus' },
            devices: Array.from({ length: gpus }, (_, at) => ({
              name: `gpu-${at}`,
              attributes: { model: { string: 'h100' } },
            })),
          },
        ],
      },
      offerings: [{ requirements: offering('my-zone').Requirements, price: gpus, available: true }],
    });
    const types = file('gpus.json', [type('one', 1), type('two', 2), type('four', 4)]);
    const path = file('devices.json', snapshot(items, { settings: { ignoreDRARequests: false } }));
    const plan = await planOf(['--snapshot', path, '--instance-types', types]);
    expect(plan.newNodes).toMatchObject([
      {
        instanceTypes: ['two', 'four'],
        annotations: { 'karpenter.sh/requested-dra-drivers': 'gpu.example.com' },
        pods: ['default/a'],
      },
    ]);
  });

  test('a broken one is named with its field', async () => {
    const path = file('broken.json', [{ nodePool: 'default', items: [{ name: 'x' }] }]);
    const { code, err } = await kerf(['-f', '-', '--instance-types', path], { stdin });
    expect(code).toBe(2);
    expect(err).toMatch(/broken\.json: \[0\]\.items\[0\]\.offerings is missing/);
  });

  test('EC2, by region', async () => {
    const pool = nodePool('default', {
      nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'general' },
    });
    const { code, out, err } = await kerf(['-f', '-', '-o', 'json', '--region', 'eu-west-1'], {
      stdin: JSON.stringify([pool, pod('a', '1')]),
    });
    expect(code).toBe(0);
    expect(err).toMatch(/note: there is no EC2NodeClass general: assumed AL2023 and subnets in eu-west-1a/);
    expect((JSON.parse(out) as PlanDocument).newNodes[0]?.chosen.zone).toMatch(/^eu-west-1/);
  });
});

describe('formats', () => {
  const example = join(root, 'examples/plan/mixed-sizes.yaml');

  test('YAML says the same as JSON', async () => {
    const json = await planOf(['-f', example]);
    const { out } = await kerf(['-f', example, '-o', 'yaml']);
    const { parse } = await import('yaml');
    expect({ ...(parse(out) as PlanDocument), solveMs: 0 }).toEqual({ ...json, solveMs: 0 });
  });

  test('a table has no colour when piped, and colour when asked for', async () => {
    const { out } = await kerf(['-f', example]);
    expect(out).not.toContain('\u001b');
    expect((await kerf(['-f', example], { env: { FORCE_COLOR: '1' } })).out).toContain('\u001b[1m');
  });

  test('a comparison reads its workload from a pipe, for both plans', async () => {
    const compare = join(root, 'examples/plan/compare');
    const stdin = readFileSync(join(compare, 'workload.yaml'));
    const args = [
      '--diff',
      join(compare, 'x86-only.yaml'),
      join(compare, 'arm-and-spot.yaml'),
      '-f',
      '-',
      '-o',
      'json',
    ];
    const { code, out } = await kerf(args, { stdin });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ before: { pods: 15 }, after: { pods: 15 } });
  });

  test('a comparison without pods is a warning and nothing else; what was assumed for both is said once', async () => {
    const compare = join(root, 'examples/plan/compare');
    const args = ['--diff', join(compare, 'x86-only.yaml'), join(compare, 'arm-and-spot.yaml')];
    const { code, out, err } = await kerf(args);
    expect([code, out]).toEqual([
      0,
      'There are no pods to place: nothing is compared. Give the workload with -f or --snapshot.\n',
    ]);
    const notes = err.split('\n').filter((line) => line !== '');
    expect(new Set(notes).size).toBe(notes.length);
  });

  test('a comparison as JSON', async () => {
    const compare = join(root, 'examples/plan/compare');
    const { code, out } = await kerf([
      '--diff',
      join(compare, 'x86-only.yaml'),
      join(compare, 'arm-and-spot.yaml'),
      '-f',
      join(compare, 'workload.yaml'),
      '-o',
      'json',
    ]);
    const diff = JSON.parse(out) as {
      before: { pricePerHour: number };
      after: { pricePerHour: number };
      pricePerHour: number;
    };
    expect(code).toBe(0);
    expect(diff).toMatchObject({ kind: 'PlanDiff', before: { name: 'x86-only.yaml', pods: 15 }, lost: [], gained: [] });
    expect(diff.pricePerHour).toBeCloseTo(diff.after.pricePerHour - diff.before.pricePerHour, 6);
    expect(diff.pricePerHour).toBeLessThan(0);
  });
});

test('ten thousand replicas from one small file are planned, and shown on one screen', async () => {
  const text = readFileSync(join(root, 'examples/plan/web-over-zones.yaml'), 'utf8');
  const path = file('many.yaml', text.replace('replicas: 10', 'replicas: 10000'));
  const { code, out } = await kerf(['-f', path]);
  expect(code).toBe(0);
  expect(out.split('\n').length).toBeLessThan(100);
  expect(out).toMatch(/^10,000 pods to place: 10,000 on /);
});
