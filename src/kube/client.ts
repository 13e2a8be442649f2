// The Kube port on a real API server.
import {
  type CallOptions,
  type DeleteOptions,
  type Kube,
  type KubeList,
  type KubeObject,
  type ListOptions,
  type ObjectRef,
  type Patch,
  type Resource,
  resources,
  type Subresource,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from '../ports/index.ts';
import { checkedList, checkedObject, isNamed, notAnAnswer } from './answer-check.ts';
import { JsonLines } from './json-lines.ts';
import { managedFieldsOf } from './managed-fields.ts';
import { placeOf, type Query, withQuery } from './paths.ts';
import { errorFromStatus } from './status.ts';
import { type Call, Transport, type TransportOptions } from './transport.ts';

export interface PodLogOptions extends CallOptions {
  container: string;
  tailLines: number;
  limitBytes: number;
  isPrevious?: boolean;
}

export type KubeClientOptions = TransportOptions;

const patchTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

interface RawEvent {
  type?: string;
  object?: KubeObject & { code?: number; reason?: string; message?: string };
}

export class KubeClient implements Kube {
  private readonly transport: Transport;

  constructor(options: KubeClientOptions) {
    this.transport = new Transport(options);
  }

  async get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options: CallOptions = {}): Promise<T> {
    const { path, label } = placeOf(resource, ref);
    const call: Call = { method: 'GET', path, call: `get ${label}`, isAboutObject: true, signal: options.signal };
    return this.object<T>(resource, call, { ref });
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const { signal, namespace, ...query } = options;
    const { path, label } = placeOf(resource, collection(namespace));
    const answer = await this.transport.json({
      method: 'GET',
      path: withQuery(path, { ...query }),
      call: `list ${label}`,
      signal,
    });
    const { items, resourceVersion, ...more } = checkedList(answer, resource.kind, `list ${label}`);
    const apiVersion = apiVersionOf(resource);
    return { items: items.map((item) => finished<T>(item, apiVersion, resource.kind)), resourceVersion, ...more };
  }

  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>, void> {
    const { signal, namespace, ...asked } = options;
    const { path, label } = placeOf(resource, collection(namespace));
    const query: Query = { watch: true, allowWatchBookmarks: true, ...asked };
    // The API asks for this parameter whenever initial events are asked for.
    if (asked.sendInitialEvents) query['resourceVersionMatch'] = 'NotOlderThan';
    const call: Call = { method: 'GET', path: withQuery(path, query), call: `watch ${label}`, signal };
    const body = await this.transport.stream(call);
    const apiVersion = apiVersionOf(resource);
    const lines = new JsonLines(managedFieldsOf);
    try {
      for await (const chunk of body) {
        for (const event of lines.decode(chunk))
          yield watchEvent<T>(event as RawEvent, apiVersion, resource.kind, call);
      }
      for (const event of lines.end()) yield watchEvent<T>(event as RawEvent, apiVersion, resource.kind, call);
    } catch (thrown) {
      throw this.transport.transportError(call, thrown);
    } finally {
      body.destroy();
    }
  }

  async create<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    // Only the collection takes a POST of a whole object; subresources are written with replace and patch.
    const { path, label } = placeOf(resource, collection(object.metadata.namespace));
    const name = object.metadata.name ?? `${object.metadata.generateName ?? ''}…`;
    const call = `create ${label}/${name}`;
    return this.object<T>(
      resource,
      {
        method: 'POST',
        path: withQuery(path, writeQuery(options)),
        call,
        body: complete(resource, object),
        signal: options.signal,
      },
      options,
    );
  }

  async replace<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const ref = refOf(object);
    const { path, label } = placeOf(resource, ref, options.subresource);
    return this.object<T>(
      resource,
      {
        method: 'PUT',
        path: withQuery(path, writeQuery(options)),
        call: `replace ${label}`,
        isAboutObject: true,
        body: complete(resource, object),
        signal: options.signal,
      },
      { ...options, ref },
    );
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const { path, label } = placeOf(resource, ref, options.subresource);
    const query = { ...writeQuery(options), force: patch.type === 'apply' ? patch.force : undefined };
    return this.object<T>(
      resource,
      {
        method: 'PATCH',
        path: withQuery(path, query),
        call: `patch ${label}`,
        isAboutObject: true,
        body: patch.body,
        contentType: patchTypes[patch.type],
        signal: options.signal,
      },
      { ...options, ref },
    );
  }

  async delete(resource: Resource, ref: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    const { path, label } = placeOf(resource, ref);
    await this.transport.json({
      method: 'DELETE',
      path,
      call: `delete ${label}`,
      isAboutObject: true,
      body: deleteOptions(options),
      signal: options.signal,
    });
  }

  async evict(ref: ObjectRef & { namespace: string }, options: DeleteOptions = {}): Promise<void> {
    const { path, label } = placeOf(resources.pods, ref, 'eviction');
    await this.transport.json({
      method: 'POST',
      path,
      call: `create ${label}`,
      body: {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: ref.name, namespace: ref.namespace },
        deleteOptions: deleteOptions(options),
      },
      // A budget that says no is for the caller to hear now, not after five polite repeats.
      waitsWhenBusy: false,
      signal: options.signal,
    });
  }

  async bind(ref: ObjectRef & { namespace: string }, node: string, options: CallOptions = {}): Promise<void> {
    const { path, label } = placeOf(resources.pods, ref, 'binding');
    await this.transport.json({
      method: 'POST',
      path,
      call: `create ${label}`,
      body: {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: ref.name, namespace: ref.namespace },
        target: { apiVersion: 'v1', kind: 'Node', name: node },
      },
      signal: options.signal,
    });
  }

  /** True if the server serves this resource: its group and version are known and list it. */
  async serves(resource: Resource, options: CallOptions = {}): Promise<boolean> {
    const { path } = placeOf(resource);
    const groupPath = path.slice(0, path.lastIndexOf('/'));
    const answer = await this.transport
      .json({ method: 'GET', path: groupPath, call: `discover ${apiVersionOf(resource)}`, signal: options.signal })
      .catch((thrown: { status?: number }) => {
        if (thrown.status === 404) return { kind: 'APIResourceList' };
        throw thrown;
      });
    const { kind, resources: served = [] } = (answer ?? {}) as { kind?: string; resources?: { name: string }[] };
    if (kind !== 'APIResourceList')
      throw notAnAnswer(answer, 'a list of resources', `discover ${apiVersionOf(resource)}`);
    return served.some(({ name }) => name === resource.plural);
  }

  /** The server's version, as `v1.36.3`. */
  async serverVersion(options: CallOptions = {}): Promise<string> {
    const answer = await this.transport.json({
      method: 'GET',
      path: '/version',
      call: 'get version',
      signal: options.signal,
    });
    return (answer as { gitVersion?: string }).gitVersion ?? '';
  }

  /** A page that a pod behind a Service serves as JSON, through the API server. */
  throughService(
    { name, namespace = 'default' }: ObjectRef,
    port: string,
    page: string,
    options: CallOptions = {},
  ): Promise<unknown> {
    const path = `/api/v1/namespaces/${namespace}/services/${name}:${port}/proxy${page}`;
    return this.transport.json({ method: 'GET', path, call: `get ${page} of service ${name}`, signal: options.signal });
  }

  /** The end of what a container of a pod wrote; with `isPrevious` what its last run wrote before it ended. */
  podLog(
    { name, namespace = 'default' }: ObjectRef,
    { container, tailLines, limitBytes, isPrevious, signal }: PodLogOptions,
  ): Promise<string> {
    const query = new URLSearchParams({
      container,
      tailLines: String(tailLines),
      limitBytes: String(limitBytes),
      ...(isPrevious === true ? { previous: 'true' } : {}),
    });
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/log?${query.toString()}`;
    return this.transport.text({ method: 'GET', path, call: `read the log of pod ${namespace}/${name}`, signal });
  }

  /** Ends every connection; calls and watches under way fail. */
  async close(): Promise<void> {
    await this.transport.close();
  }

  private async object<T extends KubeObject>(
    resource: Resource,
    call: Call,
    { subresource, ref }: { subresource?: Subresource; ref?: ObjectRef },
  ): Promise<T> {
    const kind = subresource === 'scale' ? 'Scale' : resource.kind;
    const answer = checkedObject(await this.transport.json(call), kind, call.call, ref);
    return finished<T>(answer, apiVersionOf(resource), resource.kind);
  }
}

function watchEvent<T extends KubeObject>(
  event: RawEvent,
  apiVersion: string,
  kind: string,
  call: Call,
): WatchEvent<T> {
  const { type, object } = event;
  if (object !== undefined && object !== null) {
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        if (!isNamed(object, kind)) throw notAnAnswer(object, `an event about a ${kind}`, call.call);
        return { type, object: finished<T>(object, apiVersion, kind) };
      case 'BOOKMARK': {
        const { resourceVersion, annotations } = object.metadata ?? {};
        if (!resourceVersion) throw notAnAnswer(event, 'a bookmark with a version', call.call);
        return { type, resourceVersion, initialEventsEnd: annotations?.['k8s.io/initial-events-end'] === 'true' };
      }
      case 'ERROR':
        throw errorFromStatus(object, call.call);
    }
  }
  throw new SyntaxError(`unknown kind of watch event: ${JSON.stringify(event).slice(0, 200)}`);
}

/** The object as the rest of the program knows it: with apiVersion and kind, without managedFields. */
function finished<T extends KubeObject>(object: KubeObject, apiVersion: string, kind: string): T {
  let { metadata } = object;
  if (metadata !== undefined && 'managedFields' in metadata) {
    // Copied rather than deleted from: V8 keeps objects that had a deletion as slow, large hash tables.
    const { managedFields: _dropped, ...kept } = metadata;
    metadata = kept;
  } else if (object.apiVersion !== undefined && object.kind !== undefined) {
    return object as T;
  }
  return { apiVersion, kind, ...object, metadata } as T;
}

function complete(resource: Resource, object: KubeObject): KubeObject {
  return object.apiVersion !== undefined && object.kind !== undefined
    ? object
    : { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object };
}

function refOf(object: KubeObject): ObjectRef {
  const { name = '', namespace } = object.metadata;
  return namespace === undefined ? { name } : { name, namespace };
}

function collection(namespace: string | undefined): { namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

function writeQuery({ dryRun, fieldManager }: WriteOptions): Query {
  return { dryRun: dryRun ? 'All' : undefined, fieldManager };
}

function deleteOptions({ gracePeriodSeconds, propagationPolicy, preconditions, dryRun }: DeleteOptions): unknown {
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    gracePeriodSeconds,
    propagationPolicy,
    preconditions,
    dryRun: dryRun ? ['All'] : undefined,
  };
}

function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`;
}
