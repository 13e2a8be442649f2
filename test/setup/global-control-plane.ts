// Runs once before the suites that use a control plane, so that building it is not part of any test's time.
import { provideControlPlane } from './control-plane/programs.ts';

export async function setup(): Promise<void> {
  await provideControlPlane((line) => console.error(`control plane: ${line}`));
}
