// What a request says beside its object: query parameters, the options of a deletion, the patch and its kind.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ResourceDefinition } from '../api/definition.ts';
import { notSupported } from '../api/field-error.ts';
import type { WriteCall } from '../api/machinery.ts';
import { badRequest, invalid, StatusError, unsupportedMediaType } from '../api/status.ts';
import type { DeleteCall } from '../api/verbs/delete.ts';
import type { PatchBody, PatchType } from '../api/verbs/patch.ts';
import { isObject, type JsonObject } from '../json.ts';
import { mediaTypeOf, parseText, readBody, readObject, readYaml } from './request.ts';

interface Asked {
  request: IncomingMessage;
  response: ServerResponse;
  query: URLSearchParams;
  definition: ResourceDefinition;
}

export const text = (query: URLSearchParams, key: string): string | undefined => query.get(key) ?? undefined;
export const isTrue = (value: string | null): boolean => value === 'true' || value === '1';

export function wholeNumber(query: URLSearchParams, key: string): number | undefined {
  const value = query.get(key);
  if (value === null || value === '') return undefined;
  if (!/^-?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  return Number(value);
}

const patchTypes: Record<string, PatchType> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

export async function readPatch({ request, query, definition }: Asked): Promise<PatchBody> {
  const media = mediaTypeOf(request);
  const type = Object.hasOwn(patchTypes, media) ? patchTypes[media] : undefined;
  const bytes = await readBody(request);
  if (type === undefined || (type === 'strategic' && definition.schema === undefined)) {
    // Built-in kinds are refused before anyone looks at them.
    if (definition.schema !== undefined)
      throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
    const accepted = Object.keys(patchTypes).filter((known) => patchTypes[known] !== 'strategic');
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    );
  }
  const force = query.get('force');
  const body = type === 'apply' ? parseText(() => readYaml(bytes), 'error decoding YAML') : parsePatchJson(bytes);
  return { type, body, ...(force !== null && { force: isTrue(force) }) };
}

function parsePatchJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    throw badRequest('invalid JSON patch');
  }
}

export async function readDeleteOptions({ request, query }: Asked): Promise<DeleteCall> {
  const body = await readObject(request, 'DeleteOptions', 'apimachinery.pkg.apis.meta.v1.DeleteOptions');
  return deleteCallOf(isObject(body) ? body : {}, query);
}

export function deleteCallOf(body: JsonObject, query: URLSearchParams): DeleteCall {
  const preconditions = body['preconditions'];
  const grace = body['gracePeriodSeconds'] ?? wholeNumber(query, 'gracePeriodSeconds');
  return {
    gracePeriodSeconds: grace as number | undefined,
    propagationPolicy: (body['propagationPolicy'] ?? text(query, 'propagationPolicy')) as string | undefined,
    orphanDependents: (body['orphanDependents'] ??
      (query.has('orphanDependents') ? isTrue(query.get('orphanDependents')) : undefined)) as boolean | undefined,
    preconditions: isObject(preconditions) ? preconditions : undefined,
    dryRun: isDryRun(body['dryRun'], query),
  };
}

const isDryRun = (body: unknown, query: URLSearchParams): boolean =>
  query.get('dryRun') === 'All' || (Array.isArray(body) && body.includes('All'));

const optionKinds = new Map<string | undefined, string>([
  ['POST', 'CreateOptions'],
  ['PUT', 'UpdateOptions'],
  ['PATCH', 'PatchOptions'],
]);
const validations = ['Ignore', 'Warn', 'Strict'] as const;

export function writeCall({ request, response, query }: Asked): WriteCall {
  const dryRun = query.getAll('dryRun');
  const wrong = dryRun.filter((value) => value !== 'All' && value !== '');
  if (wrong.length > 0) {
    const kind = optionKinds.get(request.method) ?? 'DeleteOptions';
    throw invalid({ group: 'meta.k8s.io', plural: '', kind }, '', [notSupported('dryRun', wrong, ['All'])]);
  }
  const asked = query.get('fieldValidation');
  const agent = (request.headers['user-agent'] ?? 'unknown').split('/')[0] as string;
  const warnings: string[] = [];
  return {
    dryRun: dryRun.includes('All'),
    ...(query.has('fieldManager') && { fieldManager: query.get('fieldManager') as string }),
    agent,
    fieldValidation: validations.find((value) => value === asked) ?? 'Warn',
    warn(message) {
      warnings.push(`299 - ${JSON.stringify(message)}`);
      response.setHeader('Warning', warnings);
    },
  };
}
