// URLs as values of CEL: `url`, `isURL` and the parts of a URL, read as Kubernetes reads them (Go's net/url): an absolute
// URI or an absolute path. Texts are taken apart as bytes, because escapes stand for bytes, not for characters.
import { type Environment, EvaluationError } from '@marcbachmann/cel-js';
import { utf8Bytes, utf8Text } from '../../base/index.ts';
import { parseIp } from './ip.ts';

/** The library tells types apart by their class. All parts are strings of bytes. */
class UrlValue {
  readonly scheme: string;
  readonly user: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  /** Everything there is, in one form for equal URLs. */
  readonly whole: string;

  constructor(parts: { scheme: string; user: string; host: string; path: string; query: string; rest: string }) {
    this.scheme = parts.scheme;
    this.user = parts.user;
    this.host = parts.host;
    this.path = parts.path;
    this.query = parts.query;
    this.whole = JSON.stringify(parts);
  }
}

class UrlError extends Error {}

const bytesOf = (text: string): string => String.fromCharCode(...utf8Bytes(text));
const textOf = (bytes: string): string => utf8Text(Array.from(bytes, (byte) => byte.charCodeAt(0)));

type Part = 'path' | 'host' | 'zone' | 'user' | 'query' | 'fragment';

const hostCharacters = /[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]/;

/** Undoes `%41`. Hosts may escape only what is not ASCII, zones only what a host could say without. */
function unescape(bytes: string, part: Part): string {
  const isHost = part === 'host' || part === 'zone';
  return bytes.replaceAll(/%([0-9A-Fa-f]{2})?|[^%]/g, (found: string, hex: string | undefined) => {
    if (found.startsWith('%')) {
      if (hex === undefined) throw new UrlError('invalid URL escape');
      const byte = String.fromCharCode(Number.parseInt(hex, 16));
      const isAllowed = part === 'zone' ? byte === ' ' || hostCharacters.test(byte) : byte >= '\x80';
      if (isHost && found !== '%25' && !isAllowed) throw new UrlError(`invalid URL escape "${found}"`);
      return byte;
    }
    if (isHost && found < '\x80' && !hostCharacters.test(found)) {
      throw new UrlError(`invalid character "${found}" in host name`);
    }
    return found === '+' && part === 'query' ? ' ' : found;
  });
}

const pathCharacters = /[A-Za-z0-9\-_.~$&+,/:;=@]/;

const escapePath = (bytes: string): string =>
  bytes.replaceAll(/[^]/g, (byte) =>
    pathCharacters.test(byte) ? byte : `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );

/** The path as it was written, if every character may stand in one; else escaped anew. */
function escapedPath(written: string): string {
  if (/^[A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]%]*$/.test(written) || written === '*') return written;
  return escapePath(unescape(written, 'path'));
}

/** The scheme, if there is one, and the rest. */
function splitScheme(bytes: string): [scheme: string, rest: string] {
  if (bytes.startsWith(':')) throw new UrlError('missing protocol scheme');
  const match = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(bytes);
  return match === null ? ['', bytes] : [(match[1] ?? '').toLowerCase(), bytes.slice(match[0].length)];
}

const isPort = (text: string): boolean => /^(:[0-9]*)?$/.test(text);

function parseHost(scheme: string, host: string): string {
  const bracket = host.lastIndexOf('[');
  if (bracket > 0) throw new UrlError('invalid IP-literal');
  if (bracket === 0) return parseLiteral(host);
  const first = host.indexOf(':');
  // More than one colon is an error in web addresses; databases list hosts with ports.
  const port = first < 0 ? '' : host.slice(/^https?$/.test(scheme) ? first : host.lastIndexOf(':'));
  if (!isPort(port)) throw new UrlError(`invalid port "${port}" after host`);
  return unescape(host, 'host');
}

/** `[fe80::1%25en0]:80`. */
function parseLiteral(host: string): string {
  const end = host.lastIndexOf(']');
  if (end < 0) throw new UrlError("missing ']' in host");
  const port = host.slice(end + 1);
  if (!isPort(port)) throw new UrlError(`invalid port "${port}" after host`);
  const [inside, zone] = cut(host.slice(1, end), '%25');
  const address = unescape(inside, 'host');
  const shown = zone === undefined ? address : address + unescape(`%25${zone}`, 'zone');
  // Written as IPv6, IPv4 addresses are welcome here.
  const isAddress = parseIp(address)?.family === 6 || /^::ffff:/i.test(address);
  if (!isAddress || shown.endsWith('%')) throw new UrlError('invalid host');
  return `[${shown}]${port}`;
}

function cut(text: string, at: string): [string, string | undefined] {
  const index = text.indexOf(at);
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + at.length)];
}

function parseAuthority(scheme: string, authority: string): { user: string; host: string } {
  const at = authority.lastIndexOf('@');
  const host = parseHost(scheme, authority.slice(at + 1));
  const user = authority.slice(0, Math.max(at, 0));
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new UrlError('invalid userinfo');
  unescape(user, 'user');
  return { user, host };
}

/** `strict`: an absolute URI or path is wanted; what follows a # is then part of the path. */
function parse(bytes: string, strict: boolean): UrlValue {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for.
  if (/[\x00-\x1f\x7f]/.test(bytes)) throw new UrlError('invalid control character in URL');
  if (bytes === '') throw new UrlError('empty url');
  const [main, fragment] = strict ? [bytes, undefined] : cut(bytes, '#');
  const [scheme, afterScheme] = main === '*' ? ['', main] : splitScheme(main);
  const [written, query] = cut(afterScheme, '?');
  let rest = written;
  const parts = { scheme, user: '', host: '', path: '', query: query ?? '', rest: JSON.stringify([query, fragment]) };
  if (!rest.startsWith('/') && main !== '*') {
    if (scheme !== '') return new UrlValue({ ...parts, rest: JSON.stringify([rest, query, fragment]) });
    if (strict) throw new UrlError('invalid URI for request');
    if (rest.split('/', 1)[0]?.includes(':')) throw new UrlError('first path segment in URL cannot contain colon');
  }
  if (rest.startsWith('//') && (scheme !== '' || (!strict && !rest.startsWith('///')))) {
    const slash = rest.indexOf('/', 2);
    const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    rest = slash < 0 ? '' : rest.slice(slash);
    Object.assign(parts, parseAuthority(scheme, authority));
  }
  unescape(rest, 'path');
  unescape(fragment ?? '', 'fragment');
  return new UrlValue({ ...parts, path: rest });
}

/** Why the text is not a URL; undefined if it is one. */
export function urlProblem(text: string): string | undefined {
  try {
    parse(bytesOf(text), true);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof UrlError)) throw thrown;
    return `parse ${JSON.stringify(text)}: ${thrown.message}`;
  }
}

function urlValue(text: string): UrlValue {
  const problem = urlProblem(text);
  try {
    if (problem === undefined) return parse(bytesOf(text), false);
  } catch (thrown) {
    if (!(thrown instanceof UrlError)) throw thrown;
  }
  throw new EvaluationError(`URL parse error during conversion from string: ${problem ?? text}`);
}

/** Values by key; pairs that cannot be read are left out. */
function queryOf({ query }: UrlValue): Record<string, string[]> {
  const values: Record<string, string[]> = Object.create(null);
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const [key, value = ''] = cut(pair, '=');
    try {
      const name = textOf(unescape(key, 'query'));
      const list = [...(values[name] ?? []), textOf(unescape(value, 'query'))];
      values[name] = list;
    } catch (thrown) {
      if (!(thrown instanceof UrlError)) throw thrown;
    }
  }
  return values;
}

/** Host and port apart; an IPv6 address loses its brackets. */
function hostAndPort(host: string): { hostname: string; port: string } {
  const colon = host.lastIndexOf(':');
  const hasPort = colon >= 0 && isPort(host.slice(colon));
  const name = hasPort ? host.slice(0, colon) : host;
  return {
    hostname: name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name,
    port: hasPort ? host.slice(colon + 1) : '',
  };
}

export function registerUrls(env: Environment): void {
  env
    .registerType('URL', UrlValue)
    .registerFunction('url(string): URL', urlValue)
    .registerFunction('isURL(string): bool', (text: string) => urlProblem(text) === undefined)
    .registerFunction('URL.getScheme(): string', ({ scheme }: UrlValue) => scheme)
    .registerFunction('URL.getHost(): string', ({ host }: UrlValue) => textOf(host))
    .registerFunction('URL.getHostname(): string', ({ host }: UrlValue) => textOf(hostAndPort(host).hostname))
    .registerFunction('URL.getPort(): string', ({ host }: UrlValue) => hostAndPort(host).port)
    .registerFunction('URL.getEscapedPath(): string', ({ path }: UrlValue) => escapedPath(path))
    .registerFunction('URL.getQuery(): map<string, list<string>>', queryOf)
    .registerOperator('URL == URL', (left: UrlValue, right: UrlValue) => left.whole === right.whole);
}
