// The corpus on a real API server: it accepts and rejects what our own validator does, for the same fields with the same
// messages, and stores the same defaults.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  admitKind,
  customResourceDefinition,
  fieldErrorText,
  type KindDefinition,
  kindOf,
  kinds,
} from '../../src/api/index.ts';
import { type CorpusCase, corpus, type Manifest, valueAt } from '../corpus/index.ts';
import type { ApiAnswer } from '../setup/control-plane.ts';
import { isOlderThan } from '../setup/kubernetes-release.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';

interface Status {
  message: string;
  details?: { causes?: { field: string; message: string }[] };
}

type Stored = Manifest & { metadata: { resourceVersion: string } };

const cluster = useControlPlane();

beforeAll(async () => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const kind of kinds) await cluster().request('POST', path, customResourceDefinition(kind));
  for (const kind of kinds) {
    while ((await cluster().request('GET', collection(kind, undefined))).status !== 200) await sleep(50);
  }
});

const rules = [...new Set(corpus.map(({ rule }) => rule))];

describe.each(rules)('%s', (rule) => {
  const cases = corpus.filter((each) => each.rule === rule);
  test.each(cases.map((each) => [each.name, each] as const))('%s', async (_, each) => {
    const kind = kindOf(each.manifest.apiVersion, each.manifest.kind);
    if (kind === undefined) throw new Error(`no such kind: ${each.manifest.kind}`);
    const answer = await write(kind, each);
    const ours = admitKind(kind, each.manifest, {
      ...(each.update === undefined ? {} : { old: each.update }),
      ...(each.subresource === undefined ? {} : { subresource: each.subresource }),
    });
    expect(meaningOf(errorsOf(answer))).toEqual(meaningOf(ours.errors.map(fieldErrorText)));
    expect(answer.status).toBe(each.expect === 'accept' ? (each.update === undefined ? 201 : 200) : 422);
    expect(answer.headers['warning']).toBeUndefined();
    const contentOf = (object: unknown) => {
      const { spec, status } = object as Manifest;
      return each.expect === 'accept' ? { spec, status } : 'not stored';
    };
    expect(contentOf(answer.body)).toEqual(contentOf(ours.object));
    for (const [path, value] of Object.entries(each.stored ?? {})) {
      expect(valueAt(answer.body, path)).toEqual(value);
    }
  });
});

/** Creates the manifest; or creates what was there before and updates it. */
async function write(kind: KindDefinition, { manifest, update, subresource }: CorpusCase): Promise<ApiAnswer> {
  const { namespace, name } = manifest.metadata;
  const list = collection(kind, namespace);
  const strict = 'fieldValidation=Strict';
  if (update === undefined) return await cluster().request('POST', `${list}?${strict}`, manifest);
  let before = stored(await cluster().request('POST', `${list}?${strict}`, update));
  const put = (object: Manifest, path: string): Promise<ApiAnswer> => {
    const { resourceVersion } = before.metadata;
    const body = { ...object, metadata: { ...object.metadata, resourceVersion } };
    return cluster().request('PUT', `${list}/${name}${path}?${strict}`, body);
  };
  if (update.status !== undefined) before = stored(await put(update, '/status'));
  return await put(manifest, subresource === undefined ? '' : `/${subresource}`);
}

/** What was there before an update has to be valid itself. */
function stored(answer: ApiAnswer): Stored {
  const errors = errorsOf(answer);
  if (errors.length > 0) throw new Error(`the object to update was rejected: ${errors.join('\n')}`);
  return answer.body as Stored;
}

/** Each problem as one line; a problem that is not of a field is the whole message. */
function errorsOf({ status, body }: ApiAnswer): string[] {
  if (status < 300) return [];
  const { message, details } = body as Status;
  const causes = details?.causes;
  if (causes === undefined) return [message];
  return causes.map((cause) => `${cause.field}: ${cause.message}`);
}

const namesTypes = isOlderThan(
  36,
  'messages of rules are compared without the value, which older releases show as its type',
);

/** Problems without what the API server alone says, or says in two ways. Everything else has to agree word for word. */
function meaningOf(lines: string[]): string[] {
  return (
    lines
      // The scale subresource judges the replica count once more, beside the schema.
      .filter((line) => !line.startsWith('.spec.replicas: '))
      // A fraction where an integer or a string belongs is reported twice, and as either type.
      .filter((line) => !line.includes('Checked value must be of type integer'))
      .map((line) =>
        line.replace(
          /must be of type (integer|string): "number"|must be of type int32: "float64"/,
          'must be of type integer or string',
        ),
      )
      // Older releases name the type where newer ones show the value, or nothing.
      .map((line) => (namesTypes ? line.replace(/Invalid value: "(?:[^"\\]|\\.)*": /, 'Invalid value: ') : line))
      // A write to the status names the field from the status on.
      .map((line) => line.replace(/(: )\S+ in body /, '$1in body '))
      .sort()
  );
}

function collection({ group, version, plural, namespaced }: KindDefinition, namespace: string | undefined): string {
  const place = namespaced ? `namespaces/${namespace ?? 'default'}/` : '';
  return `/apis/${group}/${version}/${place}${plural}`;
}
