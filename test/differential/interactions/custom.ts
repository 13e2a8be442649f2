// Custom resources: definitions at run time, schemas, defaults, rules, subresources.

import type { Step } from '../exchange.ts';
import {
  apply,
  del,
  get,
  gone,
  interaction,
  jsonPatch,
  merge,
  post,
  put,
  strategic,
  until,
  versionOf,
} from './calls.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Names and kinds are made from the namespace, so that no two interactions share a definition. */
const kindOf = (ns: string): string => `Widget${ns.replaceAll('-', '')}`;
const definition = (ns: string, schema: object, version: object = {}, spec: object = {}) => {
  const word = ns.replaceAll('-', '');
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${word}s.test.example` },
    spec: {
      group: 'test.example',
      scope: 'Namespaced',
      names: { plural: `${word}s`, singular: word, kind: kindOf(ns), listKind: `${kindOf(ns)}List` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: schema } },
          ...version,
        },
      ],
      ...spec,
    },
  };
};
const widgets = (ns: string, name?: string) =>
  `/apis/test.example/v1/namespaces/${ns}/${ns.replaceAll('-', '')}s${name === undefined ? '' : `/${name}`}`;
const makeWidget =
  (ns: string) =>
  (name: string, spec?: unknown, extra: object = {}) => ({
    apiVersion: 'test.example/v1',
    kind: kindOf(ns),
    metadata: { name },
    ...(spec !== undefined && { spec }),
    ...extra,
  });
type MakeWidget = ReturnType<typeof makeWidget>;
const established = (ns: string) =>
  until(
    `${crds}/${ns.replaceAll('-', '')}s.test.example`,
    (crd) => crd.status.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true,
  );
const served = (ns: string) => ({ ...get(widgets(ns)), until: (answer: { code: number }) => answer.code === 200 });
const withSchema = (
  name: string,
  schema: object,
  steps: (ns: string, widget: MakeWidget) => Step[],
  version: object = {},
) =>
  interaction(name, (ns) => [
    post(crds, definition(ns, schema, version)),
    established(ns),
    served(ns),
    ...steps(ns, makeWidget(ns)),
  ]);

const spec = {
  spec: {
    type: 'object',
    required: ['size'],
    properties: {
      size: { type: 'integer', minimum: 1, maximum: 10 },
      color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
      name: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 },
      tags: { type: 'array', maxItems: 2, items: { type: 'string' } },
      limit: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      items: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['key'],
        items: {
          type: 'object',
          required: ['key'],
          properties: { key: { type: 'string' }, value: { type: 'string' } },
        },
      },
    },
  },
};
const rules = {
  spec: {
    type: 'object',
    properties: {
      min: { type: 'integer' },
      max: { type: 'integer' },
      fixed: {
        type: 'string',
        'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed is immutable' }],
      },
    },
    'x-kubernetes-validations': [
      { rule: '!has(self.min) || !has(self.max) || self.min <= self.max', message: 'min must not exceed max' },
      {
        rule: '!has(self.max) || self.max < 100',
        messageExpression: "self.max > 1000 ? 'max is far too much' : 'max is too much'",
        fieldPath: '.max',
        reason: 'FieldValueForbidden',
      },
    ],
  },
};
const status = {
  ...spec,
  status: { type: 'object', properties: { ready: { type: 'boolean' }, replicas: { type: 'integer' } } },
};

export const custom = [
  withSchema('a definition is established and served', spec, (ns, widget) =>
    [
      post(widgets(ns), widget('w', { size: 1 })),
      get(widgets(ns, 'w')),
      get(widgets(ns)),
      get('/apis/test.example'),
    ].slice(0, 3),
  ),
  withSchema('values are checked', spec, (ns, widget) => [
    post(widgets(ns), widget('w', { size: 11 })),
    post(widgets(ns), widget('w', { size: 0 })),
    post(widgets(ns), widget('w', { size: 'big' })),
    post(widgets(ns), widget('w', {})),
    post(widgets(ns), widget('w', { size: 1, color: 'green' })),
    post(widgets(ns), widget('w', { size: 1, name: 'UPPER' })),
    post(widgets(ns), widget('w', { size: 1, name: 'toolong' })),
    post(widgets(ns), widget('w', { size: 1, tags: ['a', 'b', 'c'] })),
    post(widgets(ns), widget('w', { size: 1, limit: 1.5 })),
    post(widgets(ns), widget('w', { size: 1, items: [{ key: 'a' }, { key: 'a' }] })),
    post(widgets(ns), widget('w', { size: 1, items: [{}] })),
    post(widgets(ns), widget('w', 'text')),
  ]),
  withSchema('unknown fields are pruned, warned about or refused', spec, (ns, widget) => [
    post(`${widgets(ns)}?fieldValidation=Ignore`, widget('w1', { size: 1, other: 2, free: { any: { thing: 1 } } })),
    post(widgets(ns), widget('w2', { size: 1, other: 2 })),
    post(`${widgets(ns)}?fieldValidation=Strict`, widget('w3', { size: 1, other: 2 })),
  ]),
  withSchema('defaults and nulls', spec, (ns, widget) => [
    post(widgets(ns), widget('w', { size: 1, color: null })),
    merge(widgets(ns, 'w'), { spec: { color: null } }),
  ]),
  withSchema('rules over a whole object', rules, (ns, widget) => [
    post(widgets(ns), widget('w', { min: 5, max: 1 })),
    post(widgets(ns), widget('w', { max: 100 })),
    post(widgets(ns), widget('w', { min: 1, max: 2, fixed: 'a' })),
    merge(widgets(ns, 'w'), { spec: { fixed: 'b' } }),
    merge(widgets(ns, 'w'), { spec: { max: 3 } }),
  ]),
  withSchema('without a status subresource status is plain', status, (ns, widget) => [
    post(widgets(ns), widget('w', { size: 1 }, { status: { ready: true } })),
    merge(widgets(ns, 'w'), { status: { ready: false } }),
    get(`${widgets(ns, 'w')}/status`),
  ]),
  withSchema(
    'with a status subresource status is separate',
    status,
    (ns, widget) => [
      post(widgets(ns), widget('w', { size: 1 }, { status: { ready: true } })),
      merge(widgets(ns, 'w'), { status: { ready: true }, spec: { size: 2 } }),
      merge(`${widgets(ns, 'w')}/status`, {
        status: { ready: true },
        spec: { size: 3 },
        metadata: { labels: { a: 'b' } },
      }),
      get(`${widgets(ns, 'w')}/status`),
      merge(widgets(ns, 'w'), { metadata: { labels: { a: 'b' } } }),
      merge(`${widgets(ns, 'w')}/status`, { status: { ready: 'yes' } }),
    ],
    { subresources: { status: {} } },
  ),
  withSchema(
    'scale of a custom resource',
    { ...status, spec: { type: 'object', properties: { replicas: { type: 'integer' } } } },
    (ns, widget) => [
      post(widgets(ns), widget('w', { replicas: 2 })),
      get(`${widgets(ns, 'w')}/scale`),
      merge(`${widgets(ns, 'w')}/scale`, { spec: { replicas: 5 } }),
      get(widgets(ns, 'w')),
    ],
    {
      subresources: {
        status: {},
        scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
      },
    },
  ),
  withSchema('updates need a version, patches do not', spec, (ns, widget) => [
    post(widgets(ns), widget('w', { size: 1 })),
    put(widgets(ns, 'w'), widget('w', { size: 2 })),
    (past) =>
      put(widgets(ns, 'w'), widget('w', { size: 2 }, { metadata: { name: 'w', resourceVersion: versionOf(past, 3) } })),
    (past) =>
      put(widgets(ns, 'w'), widget('w', { size: 3 }, { metadata: { name: 'w', resourceVersion: versionOf(past, 3) } })),
    jsonPatch(widgets(ns, 'w'), [{ op: 'replace', path: '/spec/size', value: 4 }]),
    strategic(widgets(ns, 'w'), { spec: { size: 5 } }),
  ]),
  withSchema('server-side apply', spec, (ns, widget) => [
    apply(widgets(ns, 'w'), widget('w', { size: 1, items: [{ key: 'a', value: '1' }] })),
    apply(widgets(ns, 'w'), widget('w', { items: [{ key: 'b', value: '2' }] }), 'fieldManager=other'),
    apply(widgets(ns, 'w'), widget('w', { size: 2 }), 'fieldManager=other'),
    apply(widgets(ns, 'w'), widget('w', { size: 3 })),
  ]),
  withSchema('field selectors of custom resources', spec, (ns, widget) => [
    post(widgets(ns), widget('w', { size: 1 })),
    get(`${widgets(ns)}?fieldSelector=metadata.name%3Dw`),
    get(`${widgets(ns)}?fieldSelector=spec.size%3D1`),
  ]),
  withSchema(
    'columns',
    spec,
    (ns, widget) => [
      post(widgets(ns), widget('w', { size: 1 })),
      get(widgets(ns), 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'),
    ],
    {
      additionalPrinterColumns: [
        { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
        { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
        { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  ),
  withSchema('a deleted definition takes its objects along', spec, (ns, widget) => [
    post(widgets(ns), widget('w', { size: 1 })),
    del(`${crds}/${ns.replaceAll('-', '')}s.test.example`),
    gone(`${crds}/${ns.replaceAll('-', '')}s.test.example`),
  ]),
  interaction('definitions that are wrong', (ns) => [
    post(crds, { ...definition(ns, spec), metadata: { name: 'other' } }),
    post(crds, definition(ns, spec, {}, { scope: 'Global' })),
    post(crds, definition(ns, spec, { storage: false })),
    post(crds, definition(ns, spec, { schema: undefined })),
  ]),
  interaction('resources no one defined', (ns) => [
    get(`/apis/none.example/v1/namespaces/${ns}/things`),
    post(`/apis/none.example/v1/namespaces/${ns}/things`, {}),
    get('/apis/none.example'),
    get('/api/v1/things'),
  ]),
];
