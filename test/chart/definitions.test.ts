// Our definitions beside those of every release of Karpenter: the same in the chart, in crds and in `kerf crds`, and without a
// field of theirs missing, so that nothing stored is lost (test/install/definitions.long does it on a real API server).
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { runKerf } from '../cli/run-kerf.ts';
import { type Definition, definitionReleases, karpenterDefinitions } from '../setup/karpenter-definitions.ts';
import { crdChart, helm, kerfChart } from './helm.ts';

const progress = (line: string): void => console.error(line);

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
  }
  const inMainChart = readdirSync(join(kerfChart, 'crds'));
  expect(inMainChart).toHaveLength(5);
  for (const file of inMainChart) {
    const { metadata, spec } = parse(readFileSync(join(kerfChart, 'crds', file), 'utf8')) as Definition;
    expect(spec).toEqual(ours.get(metadata.name)?.spec);
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
