// providers.pricing: asks for prices at start and twice a day. Until it succeeds the built-in figures count.
import type { Controller } from '../../controllers/index.ts';

export const refreshPricesMs = 12 * 3_600_000;

export function pricingController(pricing: { refresh(): Promise<void> }): Controller {
  return {
    name: 'providers.pricing',
    sources: [],
    startKeys: ['all'],
    concurrency: 1,
    async reconcile() {
      await pricing.refresh();
      return { kind: 'again', afterMs: refreshPricesMs };
    },
  };
}
