// Runs once before the suites that use the AWS emulator, so that installing it is not part of any test's time.
import { provideMoto } from './aws/moto.ts';

export async function setup(): Promise<void> {
  await provideMoto((line) => console.error(`AWS emulator: ${line}`));
}
