// OpenAPI documents of what is served, made from the same schemas that requests are checked with: enough for
// `kubectl apply` to know that fields are validated here, and for `kubectl explain` to walk every kind.
import { createHash } from 'node:crypto';
import { apiVersionOf, type ResourceDefinition } from '../api/definition.ts';
import type { Registry } from '../api/registry.ts';
import { type Definition, definitionOf, type FieldType } from '../api/schema.ts';
import { isObject, type JsonObject } from '../json.ts';
import { gitVersion } from '../kubernetes-version.ts';
import { openApiV2Protobuf } from './openapi-v2-protobuf.ts';

const objectMeta = 'apimachinery.pkg.apis.meta.v1.ObjectMeta';

const scalarSchemas: Record<string, JsonObject> = {
  string: { type: 'string' },
  bytes: { type: 'string', format: 'byte' },
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  quantity: { type: 'string' },
  intOrString: { type: 'string', format: 'int-or-string' },
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
  any: { type: 'object' },
};

/** Collects the schemas a document needs, following references. */
class Components {
  readonly schemas: Record<string, JsonObject> = {};
  private readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  ref(name: string): JsonObject {
    const full = `io.k8s.${name}`;
    if (this.schemas[full] === undefined) {
      this.schemas[full] = {};
      Object.assign(this.schemas[full], this.struct(definitionOf(name)));
    }
    return { $ref: `${this.prefix}${full}` };
  }

  private struct(definition: Definition): JsonObject {
    return {
      type: 'object',
      properties: Object.fromEntries(Object.entries(definition.fields).map(([key, type]) => [key, this.field(type)])),
      ...(definition.required && { required: definition.required }),
      ...(definition.atomic === true && { 'x-kubernetes-map-type': 'atomic' }),
    };
  }

  private field(type: FieldType): JsonObject {
    if (typeof type === 'string') return type.startsWith('@') ? this.ref(type.slice(1)) : (scalarSchemas[type] ?? {});
    if ('ref' in type) return { ...this.field(type.ref), 'x-kubernetes-patch-strategy': type.strategy };
    if ('map' in type) {
      return {
        type: 'object',
        additionalProperties: this.field(type.map),
        ...(type.atomic === true && { 'x-kubernetes-map-type': 'atomic' }),
      };
    }
    return {
      type: 'array',
      items: this.field(type.list),
      ...(type.mergeKey && { 'x-kubernetes-patch-merge-key': type.mergeKey }),
      ...(type.strategy && { 'x-kubernetes-patch-strategy': type.strategy }),
      ...(type.keys && { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': type.keys }),
      ...(type.set === true && { 'x-kubernetes-list-type': 'set' }),
    };
  }

  /** The schema of a served kind, marked with what it is. */
  kind(definition: ResourceDefinition): JsonObject {
    const { group, version, kind } = definition;
    const marks = { 'x-kubernetes-group-version-kind': [{ group, kind, version }] };
    if (definition.schema !== undefined) {
      const ref = this.ref(definition.schema);
      Object.assign(this.schemas[`io.k8s.${definition.schema}`] as JsonObject, marks);
      return ref;
    }
    const name = `${group.split('.').reverse().join('.')}.${version}.${kind}`;
    const own = definition.custom?.openApi ?? {};
    const properties = isObject(own['properties']) ? own['properties'] : {};
    this.schemas[name] = {
      ...own,
      properties: {
        ...properties,
        apiVersion: { type: 'string', description: 'Group and version of this kind of object.' },
        kind: { type: 'string', description: 'What this object is.' },
        metadata: {
          description: 'Name, labels and annotations of the object, and what the API server notes about it.',
          allOf: [this.ref(objectMeta)],
        },
      },
      ...marks,
    };
    return { $ref: `${this.prefix}${name}` };
  }
}

function pathsOf(definition: ResourceDefinition): { collection: string; object: string } {
  const base = definition.group === '' ? `/api/${definition.version}` : `/apis/${apiVersionOf(definition)}`;
  const collection = `${base}${definition.namespaced ? '/namespaces/{namespace}' : ''}/${definition.plural}`;
  return { collection, object: `${collection}/{name}` };
}

const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation'];

/** Where the two versions of OpenAPI write the same thing differently. */
interface Dialect {
  parameter(name: string): JsonObject;
  response(schema: JsonObject): JsonObject;
  body(schema: JsonObject): JsonObject;
}

const info = { title: 'Kubernetes', version: gitVersion };

function pathsFor(
  definitions: readonly ResourceDefinition[],
  components: Components,
  dialect: Dialect,
): Record<string, JsonObject> {
  const paths: Record<string, JsonObject> = {};
  for (const definition of definitions) {
    const { group, version, kind } = definition;
    const schema = components.kind(definition);
    const at = (action: string): JsonObject => {
      const body = action === 'post' || action === 'put' || action === 'patch' ? dialect.body(schema) : undefined;
      const own = (body?.['parameters'] as JsonObject[] | undefined) ?? [];
      return {
        operationId: `${action}${group}${version}${kind}`.replaceAll(/[^A-Za-z0-9]/g, ''),
        ...body,
        parameters: [...own, ...(body === undefined ? [] : writeParameters.map((name) => dialect.parameter(name)))],
        responses: { 200: dialect.response(schema) },
        'x-kubernetes-action': action,
        'x-kubernetes-group-version-kind': { group, kind, version },
      };
    };
    const { collection, object } = pathsOf(definition);
    paths[collection] = { get: at('list'), post: at('post') };
    paths[object] = { get: at('get'), put: at('put'), patch: at('patch'), delete: at('delete') };
  }
  return paths;
}

export class OpenApi {
  private readonly registry: Registry;
  private readonly texts = new Map<string, string>();
  private seen = -1;

  constructor(registry: Registry) {
    this.registry = registry;
  }

  /** Names every group and version with the address of its document; the hash changes with the content. */
  index(): string {
    return this.cached('index', () => {
      const paths = [...this.groups()].map(([path]) => {
        const hash = createHash('sha256')
          .update(this.document(path) ?? '')
          .digest('hex')
          .slice(0, 32)
          .toUpperCase();
        return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }];
      });
      return JSON.stringify({ paths: Object.fromEntries(paths) });
    });
  }

  /** OpenAPI v3 of `api/v1` or `apis/apps/v1`. */
  document(path: string): string | undefined {
    const definitions = this.groups().get(path);
    return definitions && this.cached(path, () => this.v3(definitions));
  }

  v2(): string {
    return this.cached('v2', () => this.secondVersion());
  }

  v2Protobuf(): Buffer {
    return openApiV2Protobuf(this.registry.all(), writeParameters);
  }

  private v3(definitions: ResourceDefinition[]): string {
    const components = new Components('#/components/schemas/');
    const paths = pathsFor(definitions, components, {
      parameter: (name) => ({ name, in: 'query', schema: { type: 'string', uniqueItems: true } }),
      response: (schema) => ({ description: 'OK', content: { 'application/json': { schema } } }),
      body: (schema) => ({ requestBody: { content: { '*/*': { schema } } } }),
    });
    return JSON.stringify({ openapi: '3.0.0', info, paths, components: { schemas: components.schemas } });
  }

  private secondVersion(): string {
    const components = new Components('#/definitions/');
    const paths = pathsFor(this.registry.all(), components, {
      parameter: (name) => ({ name, in: 'query', type: 'string', uniqueItems: true }),
      response: (schema) => ({ description: 'OK', schema }),
      body: (schema) => ({ parameters: [{ name: 'body', in: 'body', required: true, schema }] }),
    });
    return JSON.stringify({ swagger: '2.0', info, paths, definitions: components.schemas });
  }

  private groups(): Map<string, ResourceDefinition[]> {
    return Map.groupBy(this.registry.all(), (definition) =>
      definition.group === '' ? `api/${definition.version}` : `apis/${apiVersionOf(definition)}`,
    );
  }

  private cached(key: string, make: () => string): string {
    if (this.seen !== this.registry.changed) {
      this.texts.clear();
      this.seen = this.registry.changed;
    }
    let text = this.texts.get(key);
    if (text === undefined) {
      text = make();
      this.texts.set(key, text);
    }
    return text;
  }
}
