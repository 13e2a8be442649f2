// Requests about resources: method, path and query become one verb of the API machinery, its result one answer.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ResourceDefinition } from '../api/definition.ts';
import { get, type Machinery } from '../api/machinery.ts';
import { badRequest, methodNotAllowed, noSuchResource, notFound, type StatusObject } from '../api/status.ts';
import { bind } from '../api/verbs/bind.ts';
import { create } from '../api/verbs/create.ts';
import { type Deleted, remove } from '../api/verbs/delete.ts';
import { evict } from '../api/verbs/evict.ts';
import { list } from '../api/verbs/list.ts';
import { type PatchBody, patch } from '../api/verbs/patch.ts';
import { getScale, patchScale, updateScale } from '../api/verbs/scale.ts';
import { type UpdateTarget, update } from '../api/verbs/update.ts';
import { watch } from '../api/verbs/watch.ts';
import { isObject, type JsonObject, objectAt, stringAt } from '../json.ts';
import { deleteCallOf, isTrue, readDeleteOptions, readPatch, text, wholeNumber, writeCall } from './call-options.ts';
import { serveComputed } from './computed-resources.ts';
import { encodeObject, type IncludeObject, type View } from './encode.ts';
import { renamedEventsPath, withNewNames, withOldFields, withOldNames, withOldPaths } from './event-names.ts';
import { negotiate } from './negotiate.ts';
import { serveLog } from './pod-log.ts';
import { shownToReader } from './reader-times.ts';
import { type ResourcePath, readObject } from './request.ts';
import { Slices, streamList } from './stream.ts';
import { streamWatch } from './watch-stream.ts';

/** Watches without a limit of their own end after half an hour or so; clients start the next one. */
const defaultWatchMs = 30 * 60 * 1000;

export interface Exchange {
  machinery: Machinery;
  request: IncomingMessage;
  response: ServerResponse;
  path: ResourcePath;
  query: URLSearchParams;
  /** How far the cluster's time is ahead of the machine's. */
  aheadMs(): number;
  answer(code: number, body: JsonObject | StatusObject): void;
}

/** Nothing is there, not even an API that could say so. */
export class UnknownPath extends Error {}

interface Target extends Exchange {
  definition: ResourceDefinition;
  view: View;
}

export async function serveResource(exchange: Exchange): Promise<void> {
  const { machinery, path, query, request } = exchange;
  // POST to `bindings` is the old way to bind any pod.
  if (path.plural === 'bindings' && path.group === '' && request.method === 'POST')
    return serveBinding(exchange, undefined);
  const definition = machinery.registry.find(path.group, path.version, path.plural);
  if (definition === undefined) {
    // A whole group that is not served is not an API at all.
    if (path.group !== '' && !machinery.registry.all().some(({ group }) => group === path.group))
      throw new UnknownPath();
    throw noSuchResource();
  }
  if (path.namespace !== undefined && !definition.namespaced) throw noSuchResource();
  const form = negotiate(request);
  if (definition.verbs !== undefined) return serveComputed(exchange, definition);
  const include = (query.get('includeObject') ?? 'Metadata') as IncludeObject;
  const view: View = { form, includeObject: include, nowMs: machinery.clock.now() };
  if (path.name === undefined) view.toReader = shownToReader(request, definition.kind, exchange.aheadMs);
  const target: Target = { ...exchange, definition, view };
  if (definition.group === renamedEventsPath.group) {
    target.definition = machinery.registry.find('', 'v1', 'events') as ResourceDefinition;
    view.renamed = { apiVersion: 'events.k8s.io/v1', show: withNewNames };
    if (path.subresource !== undefined) throw noSuchResource();
  }
  if (path.name === undefined) return serveCollection(target);
  if (definition.namespaced && path.namespace === undefined) throw methodNotAllowed();
  if (path.subresource !== undefined) return serveSubresource(target, path.name, path.subresource);
  return serveObject(target, path.name);
}

async function serveCollection(target: Target): Promise<void> {
  const { request, definition, query, path } = target;
  switch (request.method) {
    case 'GET':
      return path.watch || isTrue(query.get('watch')) ? serveWatch(target) : serveList(target);
    case 'POST': {
      if (definition.namespaced && path.namespace === undefined) throw methodNotAllowed();
      const body = await readWanted(target);
      return answerObject(
        target,
        201,
        create(target.machinery, definition, path.namespace, required(body, definition), writeCall(target)),
      );
    }
    case 'DELETE':
      return serveDeleteCollection(target);
    default:
      throw methodNotAllowed();
  }
}

/** The object of a request under the names it is stored with. */
async function readWanted({ request, definition, view }: Target): Promise<unknown> {
  if (view.renamed === undefined) return readObject(request, definition.kind, definition.schema);
  return withOldNames(await readObject(request, definition.kind, 'api.events.v1.Event'));
}

async function readWantedPatch(target: Target): Promise<PatchBody> {
  const read = await readPatch(target);
  if (target.view.renamed === undefined) return read;
  return { ...read, body: read.type === 'json' ? withOldPaths(read.body) : withOldNames(read.body) };
}

/** Writing needs something to write. */
function required(body: unknown, { kind }: ResourceDefinition): unknown {
  if (body !== undefined) return body;
  throw badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: unexpected end of JSON input ()`,
  );
}

function selection({ path, query, view }: Target): {
  namespace: string | undefined;
  labelSelector: string | undefined;
  fieldSelector: string | undefined;
} {
  const fields = text(query, 'fieldSelector');
  return {
    namespace: path.namespace,
    labelSelector: text(query, 'labelSelector'),
    fieldSelector: view.renamed === undefined ? fields : withOldFields(fields),
  };
}

async function serveList(target: Target): Promise<void> {
  const { machinery, definition, query, response, view } = target;
  const limit = wholeNumber(query, 'limit');
  const listing = list(machinery, definition, {
    ...selection(target),
    limit,
    continue: text(query, 'continue'),
    resourceVersion: text(query, 'resourceVersion'),
    resourceVersionMatch: text(query, 'resourceVersionMatch'),
  });
  await streamList(response, definition, listing, (limit ?? 0) > 0, view);
}

async function serveWatch(target: Target, name?: string): Promise<void> {
  const { machinery, definition, query, response, view } = target;
  const chosen = selection(target);
  const bookmarks = isTrue(query.get('allowWatchBookmarks'));
  const initial = query.get('sendInitialEvents');
  const watcher = watch(machinery, definition, {
    ...chosen,
    ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
    resourceVersion: text(query, 'resourceVersion'),
    resourceVersionMatch: text(query, 'resourceVersionMatch'),
    ...(initial !== null && { sendInitialEvents: isTrue(initial) }),
    allowWatchBookmarks: bookmarks,
  });
  const timeoutSeconds = wholeNumber(query, 'timeoutSeconds');
  await streamWatch({
    response,
    definition,
    watcher,
    view: () => ({ ...view, nowMs: machinery.clock.now() }),
    clock: machinery.clock,
    timeoutMs: timeoutSeconds === undefined || timeoutSeconds === 0 ? defaultWatchMs : timeoutSeconds * 1000,
    bookmarks,
  });
}

async function serveObject(target: Target, name: string): Promise<void> {
  const { machinery, request, definition, path } = target;
  const { namespace } = path;
  switch (request.method) {
    case 'GET':
      if (path.watch) return serveWatch(target, name);
      return answerObject(target, 200, get(machinery, definition, namespace, name));
    case 'PUT': {
      const body = await readWanted(target);
      const { object, created } = update(
        machinery,
        { definition, namespace, name },
        required(body, definition),
        writeCall(target),
      );
      return answerObject(target, created ? 201 : 200, object);
    }
    case 'PATCH': {
      const { object, created } = patch(
        machinery,
        { definition, namespace, name },
        await readWantedPatch(target),
        writeCall(target),
      );
      return answerObject(target, created ? 201 : 200, object);
    }
    case 'DELETE':
      return answerDeleted(target, remove(machinery, definition, namespace, name, await readDeleteOptions(target)));
    default:
      throw methodNotAllowed();
  }
}

function answerDeleted(target: Target, { gone, object }: Deleted): void {
  const { definition } = target;
  if (!gone || definition.strategy.returnsDeleted === true) return answerObject(target, 200, object);
  target.answer(200, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: object.metadata.name,
      ...(definition.group !== '' && { group: definition.group }),
      kind: definition.plural,
      uid: object.metadata.uid,
    },
  });
}

async function serveDeleteCollection(target: Target): Promise<void> {
  const { machinery, definition, view } = target;
  if (definition.namespaced && target.path.namespace === undefined) throw methodNotAllowed();
  const options = await readDeleteOptions(target);
  const slices = new Slices();
  const listing = list(machinery, definition, {
    ...selection(target),
    limit: wholeNumber(target.query, 'limit'),
    continue: text(target.query, 'continue'),
  });
  const deleted = [];
  for (const { metadata } of listing.objects) {
    const { object } = remove(machinery, definition, metadata.namespace, metadata.name, options);
    deleted.push(object);
    await slices.pause();
  }
  await streamList(
    target.response,
    definition,
    { revision: machinery.store.revision, objects: deleted, rest: () => listing.rest() },
    true,
    view,
  );
}

/** What kubectl exec, cp, attach and port-forward ask for. */
const streams = ['exec', 'attach', 'portforward'];

function nothingRuns(what: string, pod: string): Error {
  const verb = what === 'portforward' ? 'forward a port to' : what === 'attach' ? 'attach to' : 'run a command in';
  return badRequest(
    `cannot ${verb} pod ${pod}: this cluster is simulated and nothing runs in its pods; kubectl logs says what the simulation did with it`,
  );
}

async function serveSubresource(target: Target, name: string, subresource: string): Promise<void> {
  const { machinery, definition, request, path } = target;
  const { namespace } = path;
  if (definition.kind === 'Pod' && subresource === 'log' && request.method === 'GET') return serveLog(target, name);
  if (definition.kind === 'Pod' && streams.includes(subresource)) throw nothingRuns(subresource, name);
  if (!definition.subresources.some((known) => known === subresource)) {
    throw definition.custom === undefined ? noSuchResource() : notFound(definition, name);
  }
  switch (subresource) {
    case 'eviction':
      return serveEviction(target, name);
    case 'binding':
      return serveBinding(target, name);
    case 'scale':
      return serveScale(target, name);
    default: {
      const place: UpdateTarget = {
        definition,
        namespace,
        name,
        subresource: subresource as UpdateTarget['subresource'],
      };
      if (request.method === 'GET') return answerObject(target, 200, get(machinery, definition, namespace, name));
      if (request.method === 'PATCH')
        return answerObject(target, 200, patch(machinery, place, await readPatch(target), writeCall(target)).object);
      if (request.method !== 'PUT') throw methodNotAllowed();
      const body = await readObject(request, definition.kind, definition.schema);
      return answerObject(target, 200, update(machinery, place, required(body, definition), writeCall(target)).object);
    }
  }
}

async function serveEviction(target: Target, name: string): Promise<void> {
  const { machinery, definition, request, path, query } = target;
  if (request.method !== 'POST') throw methodNotAllowed();
  const body = (await readObject(request, 'Eviction', 'api.policy.v1.Eviction')) ?? {};
  if (!isObject(body)) throw badRequest('an Eviction must be an object');
  const named = stringAt(objectAt(body, 'metadata'), 'name');
  if (named !== '' && named !== name) throw badRequest('name in URL does not match name in Eviction object');
  const options = deleteCallOf(objectAt(body, 'deleteOptions'), query);
  evict(machinery, definition, path.namespace as string, name, options);
  target.answer(201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}

async function serveBinding(exchange: Exchange, name: string | undefined): Promise<void> {
  const { machinery, request, path, query } = exchange;
  const pods = machinery.registry.find('', 'v1', 'pods') as ResourceDefinition;
  if (request.method !== 'POST') throw methodNotAllowed();
  const body = (await readObject(request, 'Binding', 'api.core.v1.Binding')) ?? {};
  if (!isObject(body)) throw badRequest('a Binding must be an object');
  const pod = name ?? stringAt(objectAt(body, 'metadata'), 'name');
  bind(machinery, pods, path.namespace as string, pod, body, query.get('dryRun') === 'All');
  exchange.answer(201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}

async function serveScale(target: Target, name: string): Promise<void> {
  const { machinery, definition, request, path } = target;
  if (definition.scale === undefined) throw notFound(definition, name);
  switch (request.method) {
    case 'GET':
      return target.answer(200, getScale(machinery, definition, path.namespace, name));
    case 'PUT': {
      const body = await readObject(request, 'Scale', 'api.autoscaling.v1.Scale');
      return target.answer(200, updateScale(machinery, definition, path.namespace, name, body, writeCall(target)));
    }
    case 'PATCH':
      return target.answer(
        200,
        patchScale(machinery, definition, path.namespace, name, await readPatch(target), writeCall(target)),
      );
    default:
      throw methodNotAllowed();
  }
}

function answerObject(target: Target, code: number, object: Parameters<typeof encodeObject>[1]): void {
  target.answer(code, encodeObject(target.definition, object, target.view));
}
