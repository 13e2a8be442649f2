// Services of AWS that take a JSON body and the action in a header, asked without a client package of their own: KMS about
// the keys of volumes, EventBridge about the rules that feed the interruption queue. Only reads.
import { type SignedRequestOptions, sendSigned } from './signing.ts';

const services = {
  kms: { name: 'KMS', target: 'TrentService' },
  events: { name: 'EventBridge', target: 'AWSEvents' },
} as const;

export interface JsonServices {
  /** The answer's body; a refusal is thrown with the service's code as its name. */
  ask(service: keyof typeof services, action: string, input: object): Promise<object>;
}

export function jsonServices(options: SignedRequestOptions): JsonServices {
  return {
    async ask(service, action, input) {
      const { name, target } = services[service];
      const answer = await sendSigned(options, {
        service,
        name,
        action,
        method: 'POST',
        path: '/',
        headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `${target}.${action}` },
        body: JSON.stringify(input),
      });
      // Some answers have nothing to say.
      const body = parsed(answer.text === '' || answer.text === 'null' ? '{}' : answer.text);
      if (answer.status === 200 && body !== undefined) return body;
      throw refusal(answer.status, body);
    },
  };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** As the SDK throws it. */
function refusal(status: number, body: Record<string, unknown> | undefined): Error {
  const code =
    String(body?.['__type'] ?? `HTTP${status}`)
      .split('#')
      .at(-1) ?? '';
  const message = String(body?.['message'] ?? body?.['Message'] ?? code);
  return Object.assign(new Error(message), { name: code, $metadata: { httpStatusCode: status } });
}
