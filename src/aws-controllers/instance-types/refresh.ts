// providers.instancetype: asks EC2 twice a day what it sells and where. New types appear a few times a month.
import type { Controller } from '../../controllers/index.ts';

export const refreshTypesMs = 12 * 3_600_000;

export function instanceTypesController(types: { refresh(): Promise<void> }): Controller {
  return {
    name: 'providers.instancetype',
    sources: [],
    startKeys: ['all'],
    concurrency: 1,
    async reconcile() {
      await types.refresh();
      return { kind: 'again', afterMs: refreshTypesMs };
    },
  };
}
