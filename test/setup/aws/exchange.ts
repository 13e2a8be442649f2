// One call to AWS as the proxy sees it, and the answers it can give. Which service is called stands in the signature's
// scope; which action, in a form field, a header or the path, depending on the service's protocol.
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type FormTree, formText, readForm } from './form.ts';
import { element, renderXml, type XmlElement } from './xml.ts';

export interface AwsCall {
  /** As in the signature: `ec2`, `iam`, `sqs`, `ssm`, `pricing`, `eks`, `arc-zonal-shift`. */
  service: string;
  region: string;
  action: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Filled for the query protocol. */
  form: FormTree;
  /** Filled for the JSON protocols. */
  json: Record<string, unknown>;
}

export interface AwsAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Undefined means: let moto answer. */
export type Handler<World> = (call: AwsCall, world: World) => Promise<AwsAnswer | undefined>;

const queryServices = new Set(['ec2', 'iam', 'sts']);

export function readCall(method: string, path: string, headers: IncomingHttpHeaders, body: string): AwsCall {
  const scope = /Credential=[^/]+\/[^/]+\/([^/]+)\/([^/]+)\//.exec(headers.authorization ?? '');
  const isForm = (headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');
  const form = isForm ? readForm(body) : {};
  // The one call that no one signs: it is how credentials are obtained.
  const isUnsigned = formText(form, 'Action') === 'AssumeRoleWithWebIdentity';
  const service = scope?.[2] ?? (isUnsigned ? 'sts' : '');
  const target = String(headers['x-amz-target'] ?? '');
  return {
    service,
    region: scope?.[1] ?? 'us-east-1',
    action: formText(form, 'Action') ?? (target.split('.').at(-1) || `${method} ${path.split('?')[0]}`),
    method,
    path,
    headers: flatHeaders(headers),
    body,
    form,
    json: isForm ? {} : jsonOrEmpty(body),
  };
}

/** Who signed it; empty if no one did. */
export const accessKeyOf = ({ headers }: Pick<AwsCall, 'headers'>): string =>
  /Credential=([^/]+)/.exec(headers['authorization'] ?? '')?.[1] ?? '';

function flatHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

function jsonOrEmpty(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** `<ActionResponse>` of EC2 with these children. */
export function ec2Answer(call: AwsCall, children: (XmlElement | undefined)[]): AwsAnswer {
  return xmlAnswer(200, element(`${call.action}Response`, [element('requestId', randomUUID()), ...children]));
}

export function xmlAnswer(status: number, document: XmlElement): AwsAnswer {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n${renderXml(document)}`;
  return { status, headers: { 'content-type': 'text/xml;charset=UTF-8' }, body };
}

export function jsonAnswer(value: unknown, status = 200, headers: Record<string, string> = {}): AwsAnswer {
  return {
    status,
    headers: { 'content-type': 'application/x-amz-json-1.1', ...headers },
    body: JSON.stringify(value),
  };
}

export interface AwsErrorFacts {
  code: string;
  message: string;
  status?: number;
}

/** An error in the words of the called service's protocol, so that the SDK names it by its code. */
export function errorAnswer(call: AwsCall, { code, message, status = 400 }: AwsErrorFacts): AwsAnswer {
  const error = [element('Code', code), element('Message', message)];
  if (call.service === 'ec2') {
    const errors = element('Errors', [element('Error', error)]);
    return xmlAnswer(status, element('Response', [errors, element('RequestID', randomUUID())]));
  }
  if (queryServices.has(call.service)) {
    const type = element('Type', status < 500 ? 'Sender' : 'Receiver');
    return xmlAnswer(
      status,
      element('ErrorResponse', [element('Error', [type, ...error]), element('RequestId', randomUUID())]),
    );
  }
  return jsonAnswer({ __type: code, message }, status, { 'x-amzn-errortype': code });
}

/** Thrown by a handler to answer with an error. */
export class AwsRefusal extends Error {
  override readonly name = 'AwsRefusal';
  readonly facts: AwsErrorFacts;

  constructor(code: string, message: string, status = 400) {
    super(`${code}: ${message}`);
    this.facts = { code, message, status };
  }
}
