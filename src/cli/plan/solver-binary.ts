// The solver's WebAssembly binary. From source it is read out of the installed package; the build replaces this module by
// one that carries the binary, so that the bundled command needs no other file.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

export async function solverBinary(): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(createRequire(import.meta.url).resolve('highs/runtime')));
}
