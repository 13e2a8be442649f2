// A cluster whose controller is observed from inside (soak/observe.mjs) and looks at devices, too.
import { join } from 'node:path';
import { useWorld, type World } from '../../end-to-end/harness/world.ts';
import { freePort } from '../../setup/free-port.ts';

/** Call at the top of a test file. */
export async function useAttackedWorld(): Promise<{ world: World; observePort: number }> {
  const observePort = await freePort();
  const observer = join(import.meta.dirname, '../soak/observe.mjs');
  const world = useWorld({
    flags: { 'ignore-dra-requests': 'false' },
    env: { NODE_OPTIONS: `--import=${observer}`, KERF_OBSERVE_PORT: String(observePort) },
  });
  return { world, observePort };
}
