// The files one cluster needs before its programs start: certificates, tokens, keys and kubeconfigs, all inside the
// rig's private folder.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Certificate, CertificateAuthority, type CertificateRequest } from './certificates.ts';

export interface ClusterFiles {
  ca: string;
  caFile: string;
  token: string;
  kubeconfig: string;
  servingCert: string;
  servingKey: string;
  tokens: string;
  serviceAccountKey: string;
  serviceAccountPublicKey: string;
  etcdData: string;
  /** A certificate that the cluster takes as the user `commonName` in the groups `organizations`. */
  issue: (request: CertificateRequest) => Certificate;
}

export function writeClusterFiles(folder: string, url: string): ClusterFiles {
  const write = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const authority = new CertificateAuthority('kerf-rig');
  const serving = authority.issue({
    commonName: 'kube-apiserver',
    names: ['127.0.0.1', 'localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', '10.96.0.1'],
  });
  const accounts = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const token = randomBytes(16).toString('hex');
  const etcdData = join(folder, 'etcd');
  mkdirSync(etcdData, { mode: 0o700 });
  return {
    ca: authority.certPem,
    caFile: write('ca.crt', authority.certPem),
    token,
    kubeconfig: write('kubeconfig', kubeconfigText(url, authority.certPem, token)),
    servingCert: write('apiserver.crt', serving.certPem),
    servingKey: write('apiserver.key', serving.keyPem),
    tokens: write('tokens.csv', `${token},kerf-admin,kerf-admin,"system:masters"\n`),
    serviceAccountKey: write(
      'service-account.key',
      accounts.privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
    ),
    serviceAccountPublicKey: write(
      'service-account.pub',
      accounts.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    ),
    etcdData,
    issue: (request) => authority.issue(request),
  };
}

/** JSON is YAML, and every client reads it. */
function kubeconfigText(url: string, ca: string, token: string): string {
  const cluster = { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'kerf-rig',
      clusters: [{ name: 'kerf-rig', cluster }],
      users: [{ name: 'kerf-admin', user: { token } }],
      contexts: [{ name: 'kerf-rig', context: { cluster: 'kerf-rig', user: 'kerf-admin' } }],
    },
    undefined,
    2,
  );
}
