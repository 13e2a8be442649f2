// One API interaction, run against any server: plain requests, waits and watches, so that the embedded API and the real
// one can be asked the very same things.

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  path: string;
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  text?: string;
  contentType?: string;
  accept?: string;
  /** Ask again until it answers so; only the last answer is compared. */
  until?: (answer: Answer) => boolean;
  /** Read this many events of a watch, then hang up. */
  events?: number;
}

export interface Answer {
  code: number;
  contentType: string;
  warnings: string[];
  body: unknown;
}

/** A call, or one made from what the same server answered before. */
export type Step = Call | ((past: Answer[]) => Call);

export interface Interaction {
  name: string;
  steps: (namespace: string) => Step[];
}

export interface Server {
  name: string;
  url: string;
  headers: Record<string, string>;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

const patienceMs = 20_000;

export async function converse(server: Server, interaction: Interaction, namespace: string): Promise<Answer[]> {
  const past: Answer[] = [];
  for (const step of interaction.steps(namespace)) {
    const call = typeof step === 'function' ? step(past) : step;
    past.push(call.until === undefined ? await ask(server, call) : await askUntil(server, call, call.until));
  }
  return past;
}

async function askUntil(server: Server, call: Call, settled: (answer: Answer) => boolean): Promise<Answer> {
  const deadline = performance.now() + patienceMs;
  while (true) {
    const answer = await ask(server, call);
    if (settled(answer) || performance.now() > deadline) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function ask(server: Server, call: Call): Promise<Answer> {
  const body = call.text ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
  const abort = new AbortController();
  const response = await server.fetch(`${server.url}${call.path}`, {
    method: call.method,
    headers: {
      ...server.headers,
      Accept: call.accept ?? 'application/json',
      'User-Agent': 'differential/1',
      ...(body !== undefined && { 'Content-Type': call.contentType ?? 'application/json' }),
    },
    ...(body !== undefined && { body }),
    signal: abort.signal,
  });
  const warning = response.headers.get('warning');
  const answer = {
    code: response.status,
    contentType: response.headers.get('content-type') ?? '',
    warnings: warning === null ? [] : [warning],
  };
  if (call.events !== undefined && response.ok) {
    const events = await readEvents(response, call.events);
    abort.abort();
    return { ...answer, body: events };
  }
  const text = await response.text();
  return { ...answer, body: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The first `count` events, or those that came before it went quiet. */
async function readEvents(response: Response, count: number): Promise<unknown[]> {
  const events: unknown[] = [];
  let rest = '';
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  while (events.length < count) {
    const quiet = new Promise<{ done: true; value: undefined }>((resolve) => {
      setTimeout(() => resolve({ done: true, value: undefined }), 1500);
    });
    const { done, value } = await Promise.race([reader.read(), quiet]);
    if (done) break;
    rest += decoder.decode(value, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    events.push(...lines.filter((line) => line !== '').map((line) => JSON.parse(line) as unknown));
  }
  return events.slice(0, count);
}
