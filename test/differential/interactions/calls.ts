// Short words for the calls and objects the tables are made of.
import type { Answer, Call, Interaction, Step } from '../exchange.ts';

export const get = (path: string, accept?: string): Call => ({ method: 'GET', path, ...(accept && { accept }) });
export const post = (path: string, body: unknown): Call => ({ method: 'POST', path, body });
export const put = (path: string, body: unknown): Call => ({ method: 'PUT', path, body });
export const del = (path: string, body?: unknown): Call => ({
  method: 'DELETE',
  path,
  ...(body !== undefined && { body }),
});
const patch =
  (contentType: string) =>
  (path: string, body: unknown): Call => ({ method: 'PATCH', path, body, contentType });
export const merge = patch('application/merge-patch+json');
export const jsonPatch = patch('application/json-patch+json');
export const strategic = patch('application/strategic-merge-patch+json');
export const apply = (path: string, body: unknown, query = 'fieldManager=tester'): Call =>
  patch('application/apply-patch+yaml')(`${path}?${query}`, body);
export const watch = (path: string, events: number): Call => ({ method: 'GET', path, events });
/** Waits until the object is gone. */
export const gone = (path: string): Call => ({ method: 'GET', path, until: (answer) => answer.code === 404 });
export const until = (path: string, settled: (body: Json) => boolean): Call => ({
  method: 'GET',
  path,
  until: (answer) => answer.code === 200 && settled(answer.body as Json),
});

export type Json = { [key: string]: never } & {
  metadata: {
    name: string;
    uid: string;
    resourceVersion: string;
    continue?: string;
    finalizers?: string[];
    ownerReferences?: unknown[];
    deletionTimestamp?: string;
  };
  items: Json[];
  status: { conditions?: { type: string; status: string }[] };
};

export const bodyOf = (answers: Answer[], index: number): Json => answers.at(index)?.body as Json;
export const versionOf = (answers: Answer[], index: number): string => bodyOf(answers, index).metadata.resourceVersion;
export const uidOf = (answers: Answer[], index: number): string => bodyOf(answers, index).metadata.uid;

export const interaction = (name: string, steps: (ns: string) => Step[]): Interaction => ({ name, steps });

export const core = (ns: string, plural: string, name?: string): string =>
  `/api/v1/namespaces/${ns}/${plural}${name === undefined ? '' : `/${name}`}`;
export const apps = (ns: string, plural: string, name?: string): string =>
  `/apis/apps/v1/namespaces/${ns}/${plural}${name === undefined ? '' : `/${name}`}`;

export const configMap = (name: string, data: unknown = { a: '1' }, meta: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...meta },
  data,
});
export const pod = (name: string, spec: object = {}, meta: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...meta },
  spec: { containers: [{ name: 'main', image: 'example.com/app:1' }], ...spec },
});
export const container = (fields: object) => ({ name: 'main', image: 'example.com/app:1', ...fields });
const template = (labels: object, spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [container({})], ...spec },
});
export const deployment = (name: string, spec: object = {}, meta: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, ...meta },
  // Nothing must act on it while it is looked at.
  spec: { replicas: 0, selector: { matchLabels: { app: name } }, template: template({ app: name }), ...spec },
});
export { template };
export const node = (name: string, fields: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  ...fields,
});
