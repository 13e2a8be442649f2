// Who may talk to a server that asks no one for a password. A web page of someone else can send requests to this machine,
// and by DNS rebinding even read the answers: the name it used is then in `Host`, and where it comes from in `Origin` and
// `Sec-Fetch-Site`. Programs such as kubectl send neither and are let through. Pure, so that every server here uses it.

export interface GuardedRequest {
  method: string;
  host: string | undefined;
  origin?: string | undefined;
  /** The header Sec-Fetch-Site, which only browsers send and no page can set. */
  fetchSite?: string | undefined;
}

export interface Refusal {
  status: 403 | 421;
  code: 'HostRefused' | 'OriginRefused';
  message: string;
}

const loopbackNames: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Why the request is not answered; undefined if it is. `allowedHosts` are names it may be called by beside loopback's. */
export function refusalOf(request: GuardedRequest, allowedHosts: readonly string[] = []): Refusal | undefined {
  const name = hostName(request.host ?? '');
  if (!loopbackNames.has(name) && !allowedHosts.some((allowed) => allowed.toLowerCase() === name)) {
    const message = `this server is not called "${name}": use 127.0.0.1 or localhost, or start it with --allowed-host ${name}`;
    return { status: 421, code: 'HostRefused', message };
  }
  return originRefusal(request);
}

/** The same where a server is called by any name: inside a cluster by addresses and names of Services. */
export function originRefusal({ host = '', origin, fetchSite }: Omit<GuardedRequest, 'method'>): Refusal | undefined {
  const isOwn = origin === undefined || sameHost(origin, host);
  const isFromHere = fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none';
  if (isOwn && isFromHere) return undefined;
  const message = 'requests of other web pages are not answered: open this address itself';
  return { status: 403, code: 'OriginRefused', message };
}

/** `Host` without its port, in lower case. */
function hostName(host: string): string {
  const lower = host.trim().toLowerCase();
  return lower.startsWith('[') ? lower.slice(0, lower.indexOf(']') + 1) : (lower.split(':')[0] ?? '');
}

function sameHost(origin: string, host: string): boolean {
  const match = /^https?:\/\/([^/]+)$/.exec(origin.trim().toLowerCase());
  return match !== null && match[1] === host.trim().toLowerCase();
}
