// What a request asks for: the grammar of Kubernetes paths, and the body within its limits.
import type { IncomingMessage } from 'node:http';
import { parse as parseYaml } from 'yaml';
import { deepestYaml, messageOf, yamlTooDeepAt } from '../../base/index.ts';
import { badRequest, entityTooLarge, unsupportedMediaType } from '../api/status.ts';
import { decodeProtobuf } from './protobuf.ts';

/** The real server's limit on a body. */
const bodyLimitBytes = 3 * 1024 * 1024;

export interface ResourcePath {
  group: string;
  version: string;
  plural: string;
  namespace: string | undefined;
  name: string | undefined;
  subresource: string | undefined;
  /** The old `/watch/` paths. */
  watch: boolean;
}

/** Reads `/apis/apps/v1/namespaces/default/deployments/web/scale`; undefined for anything that is not a resource path. */
export function parseResourcePath(pathname: string): ResourcePath | undefined {
  const parts = pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  if (parts.includes(undefined)) return undefined;
  const [root, ...words] = parts as string[];
  if (root !== 'api' && root !== 'apis') return undefined;
  const group = root === 'apis' ? (words.shift() ?? '') : '';
  const version = words.shift();
  if (version === undefined || words.length === 0) return undefined;
  let watch = false;
  if (words[0] === 'watch' && words.length > 1) {
    watch = true;
    words.shift();
  }
  let namespace: string | undefined;
  // `namespaces/x` and `namespaces/x/status` are about the namespace itself.
  if (
    words[0] === 'namespaces' &&
    words.length > 2 &&
    !(words.length === 3 && (words[2] === 'status' || words[2] === 'finalize'))
  ) {
    namespace = words[1];
    words.splice(0, 2);
  }
  const [plural, name, subresource, ...rest] = words;
  if (plural === undefined || rest.length > 0) return undefined;
  return { group, version, plural, namespace, name, subresource, watch };
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

export function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  let tooLarge = Number(request.headers['content-length'] ?? 0) > bodyLimitBytes;
  return new Promise((resolve, reject) => {
    // What is too large is still read, so that the client hears why instead of losing its connection.
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > bodyLimitBytes) {
        tooLarge = true;
        chunks.length = 0;
      } else if (!tooLarge) chunks.push(chunk);
    });
    request.on('error', reject);
    request.on('end', () => {
      if (tooLarge) reject(entityTooLarge(bodyLimitBytes));
      else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
  });
}

export const mediaTypeOf = (request: IncomingMessage): string =>
  (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

const writeTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/** The body, of a kind and (for built-in kinds) of a schema, as JSON values. No type given means JSON. */
export async function readObject(request: IncomingMessage, kind: string, schema: string | undefined): Promise<unknown> {
  const type = mediaTypeOf(request);
  const body = await readBody(request);
  const what = `the object provided is unrecognized (must be of type ${kind})`;
  if (type === 'application/vnd.kubernetes.protobuf' && schema !== undefined) {
    return body.length === 0 ? undefined : decodeProtobuf(body, schema);
  }
  if (type === 'application/yaml') return parseText(() => readYaml(body), what);
  if (type !== '' && type !== 'application/json') {
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${writeTypes.join(', ')}`,
    );
  }
  if (body.length === 0) return undefined;
  return parseText(() => JSON.parse(body.toString('utf8')) as unknown, what);
}

export function parseText(read: () => unknown, what: string): unknown {
  try {
    return read();
  } catch (thrown) {
    throw badRequest(`${what}: couldn't get version/kind; json parse error: ${messageOf(thrown)}`);
  }
}

/** Throws for what is not YAML, or nests without end. */
export function readYaml(body: Buffer): unknown {
  const text = body.toString('utf8');
  if (yamlTooDeepAt(text) !== undefined) throw new Error(`nested more than ${deepestYaml} levels deep`);
  return parseYaml(text, { maxAliasCount: 100 });
}
