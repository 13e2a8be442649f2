// A controller without objects: asks AWS at start and then every so often. A failure is tried again with the usual pauses.
import { again, type Controller } from '../controllers/index.ts';

export function refreshing(name: string, everyMs: number, refresh: () => Promise<void>): Controller {
  return {
    name,
    sources: [],
    startKeys: ['all'],
    concurrency: 1,
    async reconcile() {
      await refresh();
      return again(everyMs);
    },
  };
}
