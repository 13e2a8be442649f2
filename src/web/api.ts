// The page's side of /kerf/v1: single fetches with a deadline, relative addresses, errors as the server words them.

const deadlineMs = 30_000;

export interface Problem {
  code: string;
  message: string;
  fix?: string;
}

export class RequestFailed extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

export async function read<T>(path: string): Promise<T> {
  return request<T>(path, {});
}

export async function send<T>(path: string, body: object, method = 'POST'): Promise<T> {
  return request<T>(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
}

async function request<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`kerf/v1/${path}`, { ...init, signal: AbortSignal.timeout(deadlineMs) });
  } catch {
    throw new RequestFailed({
      code: 'Unreachable',
      message: 'the server does not answer',
      fix: 'is it still running?',
    });
  }
  const body = (await response.json().catch(() => undefined)) as unknown;
  if (!response.ok) {
    const problem = body as Problem | undefined;
    throw new RequestFailed(problem ?? { code: String(response.status), message: response.statusText });
  }
  return body as T;
}
