// Karpenter's own specs of its API (defaults, schemas, CEL rules) on a real API server with our definitions in it.
import { dirname } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { provideControlPlane } from '../setup/control-plane/programs.ts';
import { provideKarpenterSpecs, specPackages } from '../setup/karpenter-specs.ts';
import { ProgramFailed, runProgram } from '../setup/run-program.ts';

const buildMs = 1_800_000;
let programOf: (path: string) => string;
let assets: string;

beforeAll(async () => {
  const quiet = (): void => undefined;
  programOf = await provideKarpenterSpecs(quiet);
  assets = dirname((await provideControlPlane(quiet)).etcd);
}, buildMs);

test.each(specPackages)('$path: all $specs specs hold', async ({ path, specs }) => {
  const env = { ...process.env, KUBEBUILDER_ASSETS: assets };
  const { stdout } = await runProgram(programOf(path), ['-ginkgo.no-color'], { env }).catch((error: unknown) => {
    if (error instanceof ProgramFailed) return error;
    throw error;
  });
  expect(stdout.split('\n').slice(-60).join('\n')).toContain(`${specs} Passed | 0 Failed`);
});
