// In which form an answer is wanted: as it is, as a Table, or only its metadata; JSON or YAML.
import type { IncomingMessage } from 'node:http';
import { StatusError } from '../api/status.ts';

export interface Form {
  as: 'object' | 'Table' | 'PartialObjectMetadata';
  encoding: 'json' | 'yaml';
  /** Of Tables and metadata. Clients that are older, or have to serve older clusters, ask for the beta. */
  metaVersion: MetaVersion;
}

export type MetaVersion = 'meta.k8s.io/v1' | 'meta.k8s.io/v1beta1';

const offered = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

interface Clause {
  type: string;
  parameters: Record<string, string>;
}

export function acceptClauses(request: IncomingMessage): Clause[] {
  return (request.headers.accept ?? '*/*').split(',').map((clause) => {
    const [type = '', ...rest] = clause.split(';').map((part) => part.trim());
    return {
      type: type.toLowerCase(),
      parameters: Object.fromEntries(rest.map((part) => part.split('=', 2) as [string, string])),
    };
  });
}

/** The first wanted form we can give; the client lists them best first. */
export function negotiate(request: IncomingMessage): Form {
  let readable = false;
  for (const { type, parameters } of acceptClauses(request)) {
    const encoding = encodingOf(type);
    if (encoding === undefined) continue;
    readable = true;
    const { as, g: group, v: version } = parameters;
    if (as === undefined) return { as: 'object', encoding, metaVersion: 'meta.k8s.io/v1' };
    if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) continue;
    const metaVersion: MetaVersion = `meta.k8s.io/${version}`;
    if (as === 'Table') return { as: 'Table', encoding, metaVersion };
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList')
      return { as: 'PartialObjectMetadata', encoding, metaVersion };
  }
  if (readable)
    throw new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`);
  const streams = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
  const all = [...offered, ...streams].join(', ');
  throw new StatusError(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${all}`, {});
}

function encodingOf(type: string): Form['encoding'] | undefined {
  if (type === 'application/json' || type === '*/*' || type === 'application/*' || type === '') return 'json';
  return type === 'application/yaml' ? 'yaml' : undefined;
}
