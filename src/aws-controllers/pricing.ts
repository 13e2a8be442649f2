// providers.pricing: asks for prices at start and twice a day. Until it succeeds the built-in figures count.
import type { Controller } from '../controllers/index.ts';
import { refreshing } from './refreshing.ts';

export const refreshPricesMs = 12 * 3_600_000;

export function pricingController(pricing: { refresh(): Promise<void> }): Controller {
  return refreshing('providers.pricing', refreshPricesMs, () => pricing.refresh());
}
