// Which proxy a server is reached through, from the environment: HTTPS_PROXY, HTTP_PROXY and NO_PROXY with the rules of
// Go's net/http, which every other Kubernetes tool follows.
import { BlockList, isIP } from 'node:net';
import { KerfError } from '../base/index.ts';

type Environment = Record<string, string | undefined>;

/** The proxy for `server`, or undefined for a direct connection. */
export function proxyFromEnvironment(server: string, env: Environment): string | undefined {
  const url = new URL(server);
  const proxy =
    url.protocol === 'https:' ? env['HTTPS_PROXY'] || env['https_proxy'] : env['HTTP_PROXY'] || env['http_proxy'];
  if (!proxy || isExcluded(url, env['NO_PROXY'] || env['no_proxy'] || '')) return undefined;
  return checkedProxyUrl(proxy, 'the environment');
}

/** Fills in what people leave out (`proxy:3128`) and refuses what we cannot speak. */
export function checkedProxyUrl(proxy: string, where: string): string {
  const text = proxy.includes('://') ? proxy : `http://${proxy}`;
  const supported = ['http:', 'https:', 'socks5:', 'socks5h:'];
  if (!URL.canParse(text) || !supported.includes(new URL(text).protocol)) {
    throw new KerfError(
      'ProxyInvalid',
      `cannot use proxy "${proxy}" of ${where}: write http://, https:// or socks5:// with host and port`,
      { subject: proxy },
    );
  }
  return text;
}

function isExcluded(url: URL, noProxy: string): boolean {
  const host = url.hostname.toLowerCase().replace(/^\[|\]$/g, '');
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  if (host === 'localhost' || isLoopback(host)) return true;
  return noProxy
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && excludes(entry, host, port));
}

function excludes(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const family = isIP(host);
  const [network = '', prefix = ''] = entry.split('/');
  if (prefix !== '' && isIP(network) !== 0) return family !== 0 && inNetwork(host, network, Number(prefix));
  const { name, onlyPort } = splitPort(entry);
  if (onlyPort !== undefined && onlyPort !== port) return false;
  if (isIP(name) !== 0) return name === host;
  if (family !== 0) return false;
  const suffix = name.startsWith('*.') ? name.slice(1) : name;
  // `.example.com` means subdomains only; `example.com` means itself and its subdomains.
  return suffix.startsWith('.') ? host.endsWith(suffix) : host === suffix || host.endsWith(`.${suffix}`);
}

function splitPort(entry: string): { name: string; onlyPort: string | undefined } {
  const bracketed = /^\[([^\]]*)\](?::(\d+))?$/.exec(entry);
  if (bracketed !== null) return { name: bracketed[1] ?? '', onlyPort: bracketed[2] };
  if (isIP(entry) !== 0) return { name: entry, onlyPort: undefined };
  const plain = /^(.*):(\d+)$/.exec(entry);
  return plain === null ? { name: entry, onlyPort: undefined } : { name: plain[1] ?? '', onlyPort: plain[2] };
}

function inNetwork(host: string, network: string, prefix: number): boolean {
  const family = isIP(network) === 4 ? 'ipv4' : 'ipv6';
  if (!Number.isInteger(prefix) || prefix < 0 || prefix > (family === 'ipv4' ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(network, prefix, family);
  return list.check(host, isIP(host) === 4 ? 'ipv4' : 'ipv6');
}

function isLoopback(host: string): boolean {
  return isIP(host) === 4 ? host.startsWith('127.') : host === '::1';
}
