// Our CustomResourceDefinitions, as `kerf crds` prints them, on a real API server.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { kinds } from '../../src/api/index.ts';
import { runProgram } from '../setup/run-program.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';

interface Crd {
  metadata: { name: string };
  spec: {
    names: { kind: string };
    versions: { schema: { openAPIV3Schema: object }; additionalPrinterColumns: object[] }[];
  };
  status: { conditions: { type: string; status: string; message: string }[] };
}

const cluster = useControlPlane();
const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
let printed: Crd[] = [];

beforeAll(async () => {
  const kerf = fileURLToPath(new URL('../../bin/kerf', import.meta.url));
  const { stdout, stderr } = await runProgram(kerf, ['crds']);
  expect(stderr).toBe('');
  printed = parseAllDocuments(stdout).map((document) => document.toJS() as Crd);
});

test('kerf crds prints one definition per kind', () => {
  expect(printed.map(({ spec }) => spec.names.kind).sort()).toEqual(kinds.map(({ kind }) => kind).sort());
});

test('the API server takes each without a warning', async () => {
  for (const crd of printed) {
    const answer = await cluster().request('POST', `${path}?fieldValidation=Strict`, crd);
    expect({ name: crd.metadata.name, status: answer.status, warning: answer.headers['warning'] }).toEqual({
      name: crd.metadata.name,
      status: 201,
      warning: undefined,
    });
  }
});

test('each is established, its names are accepted and its schema is structural', async () => {
  for (const { metadata } of printed) {
    let conditions: Record<string, string> = {};
    for (let attempt = 0; attempt < 100 && conditions['Established'] !== 'True'; attempt += 1) {
      await sleep(100);
      const { body } = await cluster().request('GET', `${path}/${metadata.name}`);
      conditions = Object.fromEntries((body as Crd).status.conditions.map(({ type, status }) => [type, status]));
    }
    expect(conditions).toEqual({ NamesAccepted: 'True', Established: 'True' });
  }
});

test('the stored schemas and columns are the printed ones: nothing was dropped or added', async () => {
  for (const crd of printed) {
    const { body } = await cluster().request('GET', `${path}/${crd.metadata.name}`);
    const [stored] = (body as Crd).spec.versions;
    const [wanted] = crd.spec.versions;
    expect(stored?.schema).toEqual(wanted?.schema);
    expect(stored?.additionalPrinterColumns).toEqual(wanted?.additionalPrinterColumns);
  }
});

test('kubectl applies them again server-side without a word of warning', async () => {
  const list = { apiVersion: 'v1', kind: 'List', items: printed };
  const { stdout, stderr } = await cluster().kubectl(
    ['apply', '--server-side', '--force-conflicts', '--validate=strict', '-f', '-'],
    { stdin: JSON.stringify(list) },
  );
  expect(stderr).toBe('');
  expect(stdout.trim().split('\n')).toHaveLength(printed.length);
});

test('kubectl knows them by kind, plural, short name and category, and explains their fields', async () => {
  for (const { kind, plural, group, shortNames = [] } of kinds) {
    for (const name of [kind.toLowerCase(), `${plural}.${group}`, ...shortNames]) {
      const { stderr } = await cluster().kubectl(['get', name, '--all-namespaces']);
      expect(stderr).toMatch(/^No resources found/);
    }
    const { stdout } = await cluster().kubectl(['explain', `${plural}.${group}`, '--recursive']);
    expect(stdout).toContain(`KIND:       ${kind}`);
    expect(stdout).toContain('spec');
  }
  for (const category of new Set(kinds.map((kind) => kind.category))) {
    const { stderr } = await cluster().kubectl(['get', category, '--all-namespaces']);
    expect(stderr).toMatch(/^No resources found/);
  }
});
