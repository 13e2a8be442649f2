// A failed answer of an API server turned into a KubeError: the server's own words where it gave any (a Status object),
// otherwise what the HTTP status means.
import { KubeError } from '../ports/index.ts';
import { notAnAnswer } from './answer-check.ts';

interface Status {
  kind?: string;
  code?: number;
  reason?: string;
  message?: string;
  details?: { retryAfterSeconds?: number; causes?: { field?: string; reason?: string; message?: string }[] };
}

const reasonOfStatus: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/**
 * From the body of an answer that is not a success. That one object is gone is proof for much; `isAboutObject` takes it only
 * in the API server's own words, not from a proxy that does not know the path.
 */
export function errorFromAnswer(
  httpStatus: number,
  body: string,
  { call, isAboutObject = false }: { call: string; isAboutObject?: boolean | undefined },
  retryAfterSeconds?: number,
): KubeError {
  let status: Status = {};
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === 'object' && parsed !== null) status = parsed;
  } catch {
    // A proxy or load balancer answered; its text is all there is.
  }
  if (status.kind !== 'Status' && httpStatus === 404 && isAboutObject)
    return notAnAnswer(body.trim(), 'one of the API server', call);
  if (status.kind !== 'Status') status = { message: `the server answered ${httpStatus}: ${body.slice(0, 200).trim()}` };
  return errorFromStatus({ ...status, code: status.code || httpStatus }, call, retryAfterSeconds);
}

/** From a Status object: the body of a failed answer, or the object of an ERROR event. */
export function errorFromStatus(status: Status, call: string, retryAfterSeconds?: number): KubeError {
  const code = status.code ?? 500;
  const given = status.reason || reasonOfStatus[code] || 'Unknown';
  const seconds = retryAfterSeconds ?? status.details?.retryAfterSeconds;
  return new KubeError({
    status: code,
    // The API uses `Gone` and `Expired` for the same thing: that resource version is no longer kept.
    reason: given === 'Gone' ? 'Expired' : given,
    message: status.message || `the server answered ${code} to ${call}`,
    call,
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    ...(status.details?.causes === undefined ? {} : { causes: status.details.causes }),
  });
}

/** Seconds of a Retry-After header, which is a number or a date. */
export function retryAfterSeconds(header: string | string[] | undefined, nowMs: number): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, Math.ceil((dateMs - nowMs) / 1000));
}
