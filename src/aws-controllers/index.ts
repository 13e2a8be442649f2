// Every controller of the AWS provider, in one list.
import type { Controller } from '../controllers/index.ts';

/** What `kerf controller --provider aws` runs beside the controllers of every provider. */
export function awsControllersOf(): Controller[] {
  return [];
}
