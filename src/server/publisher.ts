// Keeps what the controller publishes about itself on its Lease where no election writes there anyway: with election turned
// off, and on the embedded cluster. Written only when it is another text than before.
import type { Clock } from '../base/index.ts';
import { isKubeError, type Kube, type Log, resources } from '../ports/index.ts';
import type { Part } from '../runtime/index.ts';

const everyMs = 5_000;

export interface PublisherOptions {
  kube: Kube;
  /** Paces the writing. */
  clock: Clock;
  log: Log;
  lease: { name: string; namespace: string };
  annotations: () => Record<string, string>;
}

export interface Publisher extends Part {
  /** Writes what is true now without waiting for its turn. */
  publishNow(): Promise<void>;
}

export function publisher({ kube, clock, log, lease, annotations }: PublisherOptions): Publisher {
  let written: string | undefined;
  const write = async (): Promise<void> => {
    const next = annotations();
    const text = JSON.stringify(next);
    if (text === written) return;
    const change = { metadata: { annotations: next } };
    try {
      await kube.patch(resources.leases, lease, { type: 'merge', body: change });
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error;
      await kube.create(resources.leases, { metadata: { ...lease, annotations: next } });
    }
    written = text;
  };
  // Readers then assume defaults and say so: nothing here depends on it.
  const publishNow = (): Promise<void> =>
    write().catch((error: unknown) => log.debug('cannot publish state', { error: String(error) }));
  return {
    name: 'state for readers',
    publishNow,
    async run(signal) {
      while (!signal.aborted) {
        await publishNow();
        await clock.sleep(everyMs, signal).catch(() => {});
      }
    },
  };
}
