// One rig (a control plane, an emulator) for the tests of a file: started before the first, stopped after the last. When a
// test fails, the rig's logs are kept and their place is printed.
import { afterAll, beforeAll, beforeEach } from 'vitest';

export interface Rig {
  keepLogs(): string;
  stop(): Promise<void>;
}

/** Call at the top of a test file or describe block; call the result inside tests. */
export function useRig<T extends Rig>(name: string, start: () => Promise<T>): () => T {
  let rig: T | undefined;
  let failed = false;
  beforeAll(async () => {
    rig = await start();
  });
  beforeEach(({ onTestFailed }) => {
    onTestFailed(() => {
      failed = true;
    });
  });
  afterAll(async () => {
    if (failed && rig !== undefined) console.error(`logs of the ${name}: ${rig.keepLogs()}`);
    await rig?.stop();
  });
  return () => {
    if (rig === undefined) throw new Error(`the ${name} is started by beforeAll: use it inside a test`);
    return rig;
  };
}
