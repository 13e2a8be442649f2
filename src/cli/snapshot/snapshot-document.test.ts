import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSnapshot } from './read-snapshot.ts';
import { checkSnapshot } from './snapshot-document.ts';

const list = (...items: unknown[]) => ({ apiVersion: 'v1', kind: 'List', items });
const snapshot = (rest: object = {}) => ({ apiVersion: 'kerf/v1', kind: 'Snapshot', objects: list(), ...rest });
const pod = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default', ...metadata },
  spec,
});

function complaints(value: unknown): string[] {
  return checkSnapshot(value).problems.map(({ path, message }) => `${path.join('.')} ${message}`);
}

test('every top-level field but objects may be left out', () => {
  expect(complaints({ objects: { items: [] } })).toEqual([]);
  expect(complaints({ apiVersion: 'kerf/v1', kind: 'Snapshot' })).toEqual(['objects is missing']);
  expect(complaints({ ...snapshot(), kind: 'Plan' })).toEqual(['kind must be Snapshot, not "Plan"']);
});

test('an unknown field is an error that names it and the field that was meant', () => {
  expect(complaints(snapshot({ nodestate: [] }))).toEqual([
    'nodestate is not a known field; did you mean "nodeState"?',
  ]);
  expect(complaints(snapshot({ settings: { policy: 'x' } }))[0]).toMatch(
    /^settings\.policy is not a known field; known/,
  );
  expect(complaints(snapshot({ nodeState: [{ node: 'n', ready: true }] }))[0]).toMatch(/^nodeState\.0\.ready is not/);
  const items = [
    { name: 't', requirements: [], capacity: {}, offerings: [{ requirements: [], price: 1, free: true }] },
  ];
  expect(complaints(snapshot({ instanceTypes: [{ nodePool: 'a', items }] }))).toEqual([
    expect.stringMatching(/^instanceTypes\.0\.items\.0\.offerings\.0\.free is not a known field/),
    'instanceTypes.0.items.0.offerings.0.available is missing',
  ]);
});

test.each([
  ['a version of the future', { apiVersion: 'kerf/v2' }, /apiVersion must be kerf\/v1, not "kerf\/v2"/],
  ['an unknown policy', { settings: { preferencePolicy: 'respect' } }, /must be Respect or Ignore, not "respect"/],
  ['a time of its own making', { time: 'yesterday' }, /time must be a time such as/],
  ['a machine without a name', { nodeState: [{ initialized: true }] }, /nodeState\.0 names neither/],
  ['no instance types allowed', { settings: { maxInstanceTypes: 0 } }, /maxInstanceTypes must be 1 or more/],
  ['objects that are not a list', { objects: { items: {} } }, /objects\.items must be a list, not an object/],
])('refuses %s', (_, change, message) => {
  expect(complaints(snapshot(change)).join('\n')).toMatch(message);
});

test('devices that types bring are checked, and mistakes say what to write instead', () => {
  const brings = (template: object, more: object = {}) => {
    const dynamicResources = { resourceSliceTemplates: [template], ...more };
    const items = [{ name: 't', requirements: [], capacity: {}, offerings: [], dynamicResources }];
    return complaints(snapshot({ instanceTypes: [{ nodePool: 'a', items }] })).map((text) =>
      text.replace('instanceTypes.0.items.0.dynamicResources.', ''),
    );
  };
  const template = { driver: 'gpu.example.com', pool: { name: 'gpus' }, devices: [{ name: 'gpu-0' }] };
  const ids = [
    { driver: 'gpu.example.com', pool: 'gpus', device: 'gpu-0' },
    { driver: 'nic.example.com', pool: 'nics', device: 'nic-0' },
  ];
  expect(brings(template, { attributeBindings: [{ attribute: 'example.com/root', devices: ids }] })).toEqual([]);
  expect(brings({ ...template, pool: 'gpus' })).toEqual([
    'resourceSliceTemplates.0.pool must be an object, not "gpus"',
  ]);
  expect(brings({ ...template, nodeName: 'n' })).toEqual([
    'resourceSliceTemplates.0.nodeName is not a known field; known here: driver, pool, devices, sharedCounters',
  ]);
  expect(brings({ ...template, devices: [{ name: 'd', capacity: { memory: { value: 'much' } } }] })).toEqual([
    'resourceSliceTemplates.0.devices.0.capacity.memory.value must be a quantity such as 500m, 2 or 1.5Gi, not "much"',
  ]);
  expect(brings(template, { attributeBindings: [{ attributes: 'x', devices: ids }] })).toEqual([
    'attributeBindings.0.attributes is not a known field; did you mean "attribute"?',
    'attributeBindings.0.attribute is missing',
  ]);
});

test('objects are checked as far as planning reads them, and no further', () => {
  const fine = pod({ containers: [{ resources: { requests: { cpu: '1', memory: 5 } }, env: 'whatever' }] });
  expect(complaints(snapshot({ objects: list(fine) }))).toEqual([]);
  const wrong = pod({ containers: [{ resources: { requests: { cpu: 'one' } } }], nodeSelector: { a: 1 } });
  expect(complaints(snapshot({ objects: list(wrong) }))).toEqual([
    'objects.items.0.spec.nodeSelector.a must be a text, not 1',
    'objects.items.0.spec.containers.0.resources.requests.cpu must be a quantity such as 500m, 2 or 1.5Gi, not "one"',
  ]);
});

test('null is how Kubernetes writes "not set"', () => {
  const value = pod({ affinity: null, containers: [] }, { creationTimestamp: null });
  expect(complaints(snapshot({ objects: list(value) }))).toEqual([]);
});

test('null in a field of the snapshot itself means that it is not set, too', () => {
  const values = { nodeState: null, instanceTypes: null, settings: { maxInstanceTypes: null }, provider: null };
  const { snapshot: read, problems } = checkSnapshot(snapshot({ ...values, time: null }));
  expect(problems).toEqual([]);
  expect(read).toEqual(snapshot({ settings: {} }));
  expect(complaints({ objects: null })).toEqual(['objects is missing']);
  expect(complaints(snapshot({ none: null }))[0]).toMatch(/^none is not a known field/);
});

test('null where a list must be is an empty one', () => {
  const type = { name: 't', requirements: null, capacity: {}, offerings: null };
  const { snapshot: read, problems } = checkSnapshot(
    snapshot({ objects: list(), instanceTypes: [{ nodePool: 'a', items: [type] }] }),
  );
  expect(problems).toEqual([]);
  expect(read.instanceTypes?.[0]?.items?.[0]).toEqual({ ...type, requirements: [], offerings: [] });
  expect(complaints({ objects: { items: null } })).toEqual([]);
});

test('the same object twice is a mistake', () => {
  expect(complaints(snapshot({ objects: list(pod(), pod()) }))).toEqual([
    'objects.items.1 is a second Pod default/a: keep one',
  ]);
});

test('two lists of instance types for one NodePool are a mistake', () => {
  const instanceTypes = ['a', 'b', 'a'].map((nodePool) => ({ nodePool, items: [] }));
  expect(complaints(snapshot({ objects: list(), instanceTypes }))).toEqual([
    'instanceTypes.2 is a second list for NodePool a: keep one',
  ]);
});

test('kinds that are not read are counted, whatever is inside', () => {
  const { problems, unknownKinds } = checkSnapshot(
    snapshot({ objects: list({ kind: 'ConfigMap' }, { kind: 'toString' }) }),
  );
  expect(problems).toEqual([]);
  expect([...unknownKinds]).toEqual([
    ['ConfigMap', 1],
    ['toString', 1],
  ]);
});

test('no more than a page of problems is collected', () => {
  const wrong = Array.from({ length: 1000 }, (_, index) => pod({ containers: 'x' }, { name: `p${index}` }));
  expect(complaints(snapshot({ objects: list(...wrong) })).length).toBeLessThan(30);
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return readSnapshot(join(folder, name), { stdin: Readable.from([]) });
};

test('JSON and YAML are read alike', async () => {
  const json = await read('a.json', JSON.stringify(snapshot({ name: 'x', objects: list(pod()) })));
  const yaml = await read(
    'a.yaml',
    'apiVersion: kerf/v1\nkind: Snapshot\nname: x\nobjects:\n  apiVersion: v1\n  kind: List\n  items:\n  - apiVersion: v1\n    kind: Pod\n    metadata: {name: a, namespace: default}\n    spec: {}\n',
  );
  expect(yaml.snapshot).toEqual(json.snapshot);
});

test('a problem is named with file, line and field, in JSON and in YAML', async () => {
  const json = JSON.stringify(snapshot({ objects: list(pod({ containers: 1 })) }), undefined, 1);
  await expect(read('b.json', json)).rejects.toThrow(
    /b\.json:\d+: objects\.items\[0\]\.spec\.containers must be a list/,
  );
  const yaml = 'apiVersion: kerf/v1\nkind: Snapshot\nobjects:\n  items: []\nsetings: {}\n';
  await expect(read('b.yaml', yaml)).rejects.toThrow(
    /b\.yaml:5: setings is not a known field; did you mean "settings"/,
  );
});

test('text that is not JSON or YAML at all is named with its line', async () => {
  await expect(read('c.json', '{"apiVersion": "kerf/v1",\n "kind": }')).rejects.toThrow(/c\.json:2:/);
  await expect(read('c.yaml', '')).rejects.toThrow(/there is no document/);
  await expect(readSnapshot(join(folder, 'missing'), { stdin: Readable.from([]) })).rejects.toThrow(
    /no file or folder/,
  );
});

test('standard input is read with -', async () => {
  const stdin = Readable.from([JSON.stringify(snapshot({ name: 'piped' }))]);
  expect((await readSnapshot('-', { stdin })).snapshot.name).toBe('piped');
});
