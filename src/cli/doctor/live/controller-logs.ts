// The logs of the controller's own pods, as files of a bundle: the end of each, and of the run before where a container was
// restarted, because a controller that crashes says why in its last lines.
import { controllerPods, type Evidence, listAt, textAt } from '../../../failures/index.ts';
import type { KubeClient } from '../../../kube/index.ts';
import { isKubeError } from '../../../ports/index.ts';
import type { LiveFile } from './cluster.ts';

/** Replicas say the same; a few are enough. */
const mostPods = 4;
const tailLines = 20_000;
const limitBytes = 16 * 1024 ** 2;

export async function* controllerLogs(kube: Pick<KubeClient, 'podLog'>, evidence: Evidence): AsyncGenerator<LiveFile> {
  for (const { name, namespace, object } of controllerPods(evidence).slice(0, mostPods)) {
    for (const status of listAt(object, 'status', 'containerStatuses').slice(0, 2)) {
      const container = textAt(status, 'name');
      const runs = Number(textAt(status, 'restartCount')) > 0 ? [true, false] : [false];
      for (const isPrevious of runs) {
        try {
          const text = await kube.podLog({ name, namespace }, { container, tailLines, limitBytes, isPrevious });
          yield { path: `logs/${namespace}/${name}/${container}${isPrevious ? '-previous' : ''}.log`, text };
        } catch (thrown) {
          // Not allowed, or not started yet: the checks that need it are then not made.
          if (!isKubeError(thrown)) throw thrown;
        }
      }
    }
  }
}
