// The way to moto itself: calls forwarded as they came, and the proxy's own questions in the same account and region.
import { request } from 'undici';
import { type AwsAnswer, type AwsCall, AwsRefusal } from './exchange.ts';
import { type FormTree, writeForm } from './form.ts';
import { childOf, parseXml, textOf, type XmlElement } from './xml.ts';

const ec2Version = '2016-11-15';
const iamVersion = '2010-05-08';

export class Upstream {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  /** Sends the call on, with another body if given. The Host header stays, because queue addresses are made from it. */
  async forward(call: AwsCall, body = call.body): Promise<AwsAnswer> {
    const { connection: _, 'content-length': __, 'transfer-encoding': ___, expect: ____, ...headers } = call.headers;
    const answer = await request(`${this.url}${call.path}`, {
      method: call.method as 'GET',
      headers,
      ...(call.method === 'GET' || call.method === 'HEAD' ? {} : { body }),
    });
    const text = await answer.body.text();
    return answerOf(answer.statusCode, answer.headers, text, call);
  }

  forwardForm(call: AwsCall, form: FormTree): Promise<AwsAnswer> {
    return this.forward(call, writeForm(form));
  }

  /** An EC2 action on behalf of the caller; a refusal by moto is thrown and becomes the answer. */
  ask(call: AwsCall, action: string, parameters: FormTree): Promise<XmlElement> {
    return this.query(call, 'ec2', { Action: action, Version: ec2Version, ...parameters });
  }

  askIam(call: AwsCall, action: string, parameters: FormTree): Promise<XmlElement> {
    return this.query(call, 'iam', { Action: action, Version: iamVersion, ...parameters });
  }

  private async query(call: AwsCall, service: string, form: FormTree): Promise<XmlElement> {
    const headers = {
      ...call.headers,
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
      host: `${service}.${call.region}.amazonaws.com`,
      authorization: (call.headers['authorization'] ?? '').replace(/\/[^/]+\/aws4_request/, `/${service}/aws4_request`),
    };
    const asked = { ...call, service, action: String(form['Action']), method: 'POST', path: '/', headers };
    const answer = await this.forwardForm(asked, form);
    const document = parseXml(answer.body);
    if (answer.status < 300) return document;
    const error = childOf(document, 'Errors', 'Error') ?? childOf(document, 'Error');
    throw new AwsRefusal(
      textOf(error, 'Code') ?? 'MotoRefused',
      textOf(error, 'Message') ?? answer.body.slice(0, 500),
      answer.status,
    );
  }
}

function answerOf(
  status: number,
  headers: Record<string, string | string[] | undefined>,
  body: string,
  call: AwsCall,
): AwsAnswer {
  const type = String(headers['content-type'] ?? '');
  // An uncaught Python error. Left alone, the SDK would call it a parse error and try again: a gap has to be loud.
  if (status >= 500 && (type.startsWith('text/html') || body.startsWith('<!doctype html'))) {
    throw new AwsRefusal(
      'MotoNotImplemented',
      `moto cannot answer ${call.service} ${call.action}; teach the proxy in test/setup/aws to do it`,
      501,
    );
  }
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'connection' || name === 'content-length' || name === 'transfer-encoding') continue;
    if (value !== undefined) kept[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return { status, headers: kept, body };
}
