// One control plane for the tests of a file.
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './control-plane.ts';
import { useRig } from './use-rig.ts';

/** Call at the top of a test file or describe block; call the result inside tests. */
export function useControlPlane(options: ControlPlaneOptions = {}): () => ControlPlane {
  return useRig('control plane', () => startControlPlane(options));
}
