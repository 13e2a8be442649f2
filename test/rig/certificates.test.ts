// Certificates of the rig, checked by node's own reader (OpenSSL). The API server's tests check them with Go's.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { CertificateAuthority } from '../setup/control-plane/certificates.ts';

const authority = new CertificateAuthority('rig');

test('the authority signs itself and may sign others', () => {
  const ca = new X509Certificate(authority.certPem);
  expect(ca.ca).toBe(true);
  expect(ca.checkIssued(ca)).toBe(true);
  expect(ca.verify(ca.publicKey)).toBe(true);
});

test('a server certificate is issued by the authority, for its names only, and fits its key', () => {
  const { certPem, keyPem } = authority.issue({ commonName: 'server', names: ['127.0.0.1', 'a.example'] });
  const ca = new X509Certificate(authority.certPem);
  const cert = new X509Certificate(certPem);
  expect(cert.ca).toBe(false);
  expect(cert.checkIssued(ca)).toBe(true);
  expect(cert.verify(ca.publicKey)).toBe(true);
  expect(cert.checkPrivateKey(createPrivateKey(keyPem))).toBe(true);
  expect([cert.checkIP('127.0.0.1'), cert.checkIP('127.0.0.2')]).toEqual(['127.0.0.1', undefined]);
  expect([cert.checkHost('a.example'), cert.checkHost('b.example')]).toEqual(['a.example', undefined]);
});

test('a user certificate carries the user as common name and the groups as organisations', () => {
  const cert = new X509Certificate(authority.issue({ commonName: 'ada', organizations: ['x', 'y'] }).certPem);
  expect(cert.subject).toBe('O=x\nO=y\nCN=ada');
  expect(cert.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
});

test('another authority of the same name is not the issuer', () => {
  const other = new X509Certificate(new CertificateAuthority('rig').certPem);
  const cert = new X509Certificate(authority.issue({ commonName: 'server', names: ['a'] }).certPem);
  expect(cert.verify(other.publicKey)).toBe(false);
});
