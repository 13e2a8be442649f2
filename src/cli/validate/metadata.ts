// What every object's metadata must be, whatever its kind; schemas leave it to the API server.
import type { KindDefinition } from '../../api/index.ts';
import { asMap, isMap } from '../manifests/index.ts';
import type { Hit, Subject } from './finding.ts';

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

export function* metadataProblems(definition: KindDefinition, subject: Subject): Generator<Hit> {
  const metadata = asMap(subject.value['metadata']);
  const name = metadata['name'];
  // Samples in documents often leave the name out; a file that is applied must have one.
  if (name === undefined && metadata['generateName'] === undefined) {
    if (subject.manifest.fenceLine === undefined)
      yield { path: ['metadata'], message: 'the object has no name', fix: 'metadata: {name: <name>}' };
  } else if (name !== undefined && (typeof name !== 'string' || name.length > 253 || !subdomain.test(name))) {
    const text = String(name)
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]+/g, '-')
      .replaceAll(/^[-.]+|[-.]+$/g, '');
    yield {
      path: ['metadata', 'name'],
      message: `${JSON.stringify(name)} is not a name: lower-case letters, digits, "-" and ".", starting and ending with a letter or digit`,
      fix: `name: ${typeof name === 'string' ? text || '<name>' : JSON.stringify(String(name))}`,
    };
  }
  if (!definition.namespaced && metadata['namespace'] !== undefined)
    yield {
      path: ['metadata', 'namespace'],
      message: `${subject.kind} belongs to no namespace; the field is ignored`,
      fix: 'remove it',
      severity: 'warning',
    };
  yield* textMap(metadata['labels'], 'labels');
  yield* textMap(metadata['annotations'], 'annotations');
}

function* textMap(map: unknown, field: 'labels' | 'annotations'): Generator<Hit> {
  if (map === undefined || map === null) return;
  if (!isMap(map)) {
    yield { path: ['metadata', field], message: `${field} must be a map of texts`, fix: `${field}: {key: "value"}` };
    return;
  }
  for (const [key, value] of Object.entries(map)) {
    const path = ['metadata', field, key];
    if (!qualifiedName.test(key))
      yield {
        path,
        message: `"${key}" is not a valid key`,
        fix: 'an optional domain and "/", then letters, digits, "-", "_" and "."',
      };
    if (typeof value !== 'string')
      yield {
        path,
        message: `the value is not a text but ${JSON.stringify(value)}`,
        fix: `${key}: "${String(value)}"`,
      };
    else if (field === 'labels' && !labelValue.test(value))
      yield {
        path,
        message: `${JSON.stringify(value)} is not a label value`,
        fix: 'at most 63 letters, digits, "-", "_" and "."',
      };
  }
}
