// The kubeconfig that leads kubectl to the embedded cluster: plain HTTP, nobody to log in as.
import { writeFileSync } from 'node:fs';
import { KerfError, messageOf } from '../../base/index.ts';

export function writeKubeconfig(file: string, server: string): void {
  const name = 'kerf';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server } }],
    users: [{ name, user: {} }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
    'current-context': name,
  };
  try {
    // JSON is YAML, and every reader of kubeconfigs takes it.
    writeFileSync(file, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new KerfError(
      'KubeconfigUnwritable',
      `cannot write the kubeconfig to ${file}: ${messageOf(error)}; name another file with --kubeconfig`,
      { subject: file, cause: error },
    );
  }
}
