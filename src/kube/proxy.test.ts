import { expect, test } from 'vitest';
import { proxyFromEnvironment } from './proxy.ts';

const both = { HTTPS_PROXY: 'http://secure:3128', HTTP_PROXY: 'http://plain:3128' };

test('the scheme of the server decides which proxy is used, upper case before lower case', () => {
  expect(proxyFromEnvironment('https://api', both)).toBe('http://secure:3128');
  expect(proxyFromEnvironment('http://api', both)).toBe('http://plain:3128');
  expect(proxyFromEnvironment('https://api', { https_proxy: 'http://lower:1' })).toBe('http://lower:1');
  expect(proxyFromEnvironment('https://api', { HTTP_PROXY: 'http://plain:3128' })).toBeUndefined();
});

test('this machine is never reached through a proxy', () => {
  for (const server of [
    'https://localhost:6443',
    'https://127.0.0.1:6443',
    'https://127.8.8.8',
    'https://[::1]:6443',
  ]) {
    expect(proxyFromEnvironment(server, both)).toBeUndefined();
  }
});

test.each([
  ['*', 'https://anything', true],
  ['example.com', 'https://example.com', true],
  ['example.com', 'https://api.example.com', true],
  ['example.com', 'https://notexample.com', false],
  ['.example.com', 'https://api.example.com', true],
  ['.example.com', 'https://example.com', false],
  ['*.example.com', 'https://api.example.com', true],
  ['EXAMPLE.com', 'https://example.COM', true],
  ['example.com:6443', 'https://example.com:6443', true],
  ['example.com:6443', 'https://example.com', false],
  ['example.com:443', 'https://example.com', true],
  ['10.0.0.0/8', 'https://10.1.2.3', true],
  ['10.0.0.0/8', 'https://11.1.2.3', false],
  ['10.0.0.0/99', 'https://10.1.2.3', false],
  ['10.1.2.3', 'https://10.1.2.3:6443', true],
  ['10.1.2.3:6443', 'https://10.1.2.3', false],
  ['fd00::/8', 'https://[fd00::1]:6443', true],
  ['fd00::1', 'https://[fd00::1]', true],
  ['[fd00::1]:6443', 'https://[fd00::1]:6443', true],
  [' a.com , b.com ', 'https://b.com', true],
  ['2.3', 'https://10.1.2.3', false],
])('NO_PROXY=%s and %s: direct is %s', (noProxy, server, isDirect) => {
  expect(proxyFromEnvironment(server, { ...both, NO_PROXY: noProxy }) === undefined).toBe(isDirect);
});

test('a proxy we cannot speak to is refused with what to write', () => {
  expect(() => proxyFromEnvironment('https://api', { HTTPS_PROXY: 'ftp://x' })).toThrow(
    'http://, https:// or socks5://',
  );
});
