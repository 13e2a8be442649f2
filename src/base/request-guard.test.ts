import { expect, test } from 'vitest';
import { refusalOf } from './request-guard.ts';

const own = '127.0.0.1:6481';

test.each([
  ['kubectl by address', { method: 'GET', host: own }, undefined],
  ['a forwarded port', { method: 'GET', host: 'localhost:9999' }, undefined],
  ['IPv6', { method: 'GET', host: '[::1]:6481' }, undefined],
  ['a name in capitals', { method: 'GET', host: 'LOCALHOST:6481' }, undefined],
  ['the page itself', { method: 'POST', host: own, origin: `http://${own}`, fetchSite: 'same-origin' }, undefined],
  ['an address typed in', { method: 'GET', host: own, fetchSite: 'none' }, undefined],
  ['a rebound name', { method: 'GET', host: 'evil.example' }, 421],
  ['a rebound name with our port', { method: 'GET', host: 'evil.example:6481' }, 421],
  ['a name that only begins like ours', { method: 'GET', host: '127.0.0.1.evil.example' }, 421],
  ['no host', { method: 'GET', host: undefined }, 421],
  ['another page', { method: 'POST', host: own, origin: 'https://evil.example' }, 403],
  ['another port of this machine', { method: 'POST', host: own, origin: 'http://127.0.0.1:3000' }, 403],
  ['a page in a sandbox', { method: 'GET', host: own, origin: 'null' }, 403],
  ['a link on another page', { method: 'GET', host: own, fetchSite: 'cross-site' }, 403],
  ['another name of the same site', { method: 'GET', host: own, fetchSite: 'same-site' }, 403],
])('%s', (_, request, status) => {
  expect(refusalOf(request)?.status).toBe(status);
});

test('a name that was allowed is one of ours', () => {
  expect(refusalOf({ method: 'GET', host: 'kerf.corp:80' }, ['kerf.corp'])).toBeUndefined();
  expect(refusalOf({ method: 'GET', host: 'other.corp' }, ['kerf.corp'])?.message).toContain(
    '--allowed-host other.corp',
  );
});
