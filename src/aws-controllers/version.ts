// providers.version: looks every five minutes whether the cluster was upgraded.
import type { KubernetesVersion } from '../aws/index.ts';
import type { Controller } from '../controllers/index.ts';
import { refreshing } from './refreshing.ts';

const everyMs = 5 * 60_000;

export function versionController(version: KubernetesVersion): Controller {
  return refreshing('providers.version', everyMs, () => version.refresh());
}
