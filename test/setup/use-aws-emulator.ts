// One AWS emulator for the tests of a file.
import { type AwsEmulator, startAwsEmulator } from './aws-emulator.ts';
import { useRig } from './use-rig.ts';

/** Call at the top of a test file or describe block; call the result inside tests. */
export function useAwsEmulator(): () => AwsEmulator {
  return useRig('AWS emulator', startAwsEmulator);
}
