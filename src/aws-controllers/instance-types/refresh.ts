// providers.instancetype: asks EC2 twice a day what it sells and where. New types appear a few times a month.
import type { Controller } from '../../controllers/index.ts';
import { refreshing } from '../refreshing.ts';

export const refreshTypesMs = 12 * 3_600_000;

export function instanceTypesController(types: { refresh(): Promise<void> }): Controller {
  return refreshing('providers.instancetype', refreshTypesMs, () => types.refresh());
}
