// providers.version: looks every five minutes whether the cluster was upgraded.
import type { KubernetesVersion } from '../../aws/index.ts';
import { again, type Controller } from '../../controllers/index.ts';

const everyMs = 5 * 60_000;

export function versionController(version: KubernetesVersion): Controller {
  return {
    name: 'providers.version',
    sources: [],
    startKeys: ['all'],
    concurrency: 1,
    async reconcile() {
      await version.refresh();
      return again(everyMs);
    },
  };
}
