// The kubeconfig that leads kubectl to the embedded cluster: plain HTTP, no one to log in as.
import { KerfError, messageOf } from '../../base/index.ts';
import { writeWhole } from '../output/index.ts';

export async function writeKubeconfig(file: string, server: string): Promise<void> {
  const name = 'kerf';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    // There is nothing to verify without TLS; the JavaScript client talks plain HTTP only where this says so.
    clusters: [{ name, cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name, user: {} }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
    'current-context': name,
  };
  try {
    // JSON is YAML, and every reader of kubeconfigs takes it.
    await writeWhole(file, `${JSON.stringify(config, undefined, 2)}\n`, 0o600);
  } catch (error) {
    throw new KerfError(
      'KubeconfigUnwritable',
      `cannot write the kubeconfig to ${file}: ${messageOf(error)}; name another file with --kubeconfig`,
      { subject: file, cause: error },
    );
  }
}
