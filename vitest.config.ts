// One vitest project per kind of suite. `unit` is what `npm run check` runs; the others need a real component and are
// listed in scripts/suites.ts with what each needs.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Files share modules within a worker: importing them anew for each file took longer than many of the tests.
const project = (name: string, include: string[], extra: Record<string, unknown> = {}) => ({
  test: { name, include, exclude: ['**/*.{long,quiet}.test.ts'], environment: 'node', isolate: false, ...extra },
});

const controlPlane = 'test/setup/global-control-plane.ts';
const awsEmulator = 'test/setup/global-aws-emulator.ts';

const freshFastCheck = join(import.meta.dirname, 'test/campaigns/fresh-fast-check.ts');
/** Test files with properties that need nothing but processors. */
const withProperties = (): string[] =>
  globSync(['src/**/*.test.ts', 'test/planner/**/*.test.ts'], { cwd: import.meta.dirname }).filter((file) =>
    readFileSync(join(import.meta.dirname, file), 'utf8').includes("from 'fast-check'"),
  );

const slow = { testTimeout: 120_000, hookTimeout: 300_000, pool: 'forks' };

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      project('unit', ['src/**/*.test.ts', 'scripts/**/*.test.ts'], { testTimeout: 60_000 }),
      project('planner', ['test/planner/**/*.test.ts'], { testTimeout: 120_000 }),
      project('cli', ['test/cli/**/*.test.ts'], { testTimeout: 60_000 }),
      project('chart', ['test/chart/**/*.test.ts'], { testTimeout: 60_000, hookTimeout: 600_000 }),
      project('release', ['test/release/**/*.test.ts'], { testTimeout: 120_000, hookTimeout: 600_000 }),
      project('scenario', ['test/scenario/**/*.test.ts'], { testTimeout: 60_000 }),
      project('rig', ['test/rig/**/*.test.ts', 'test/kube/**/*.test.ts'], {
        ...slow,
        globalSetup: [controlPlane],
        fileParallelism: false,
      }),
      project('differential', ['test/differential/**/*.test.ts'], {
        ...slow,
        globalSetup: [controlPlane],
        fileParallelism: false,
      }),
      // Scenarios of a file share its cluster and mostly wait: many at a time.
      project('end-to-end', ['test/end-to-end/**/*.test.ts'], {
        ...slow,
        globalSetup: [controlPlane],
        testTimeout: 400_000,
        maxConcurrency: 24,
        fileParallelism: false,
      }),
      project('aws', ['test/aws/**/*.test.ts'], { ...slow, globalSetup: [awsEmulator], fileParallelism: false }),
      project('ec2', ['test/ec2/**/*.test.ts'], {
        ...slow,
        globalSetup: [controlPlane, awsEmulator],
        testTimeout: 400_000,
      }),
      // Replicas that wait more than they compute.
      project('campaigns', ['test/campaigns/**/*.test.ts'], {
        ...slow,
        globalSetup: [controlPlane, awsEmulator],
        testTimeout: 400_000,
      }),
      project('install', ['test/install/**/*.test.ts'], {
        ...slow,
        globalSetup: [controlPlane],
        testTimeout: 300_000,
        fileParallelism: false,
      }),
      project('browser', ['test/browser/**/*.test.ts'], { ...slow, fileParallelism: false }),
      project('long', ['test/{rig,kube,end-to-end,aws,ec2,install,release,takeover}/**/*.long.test.ts'], {
        ...slow,
        globalSetup: [controlPlane, awsEmulator],
        exclude: [],
        testTimeout: 1_200_000,
        maxConcurrency: 24,
      }),
      project('long-campaigns', ['test/campaigns/**/*.long.test.ts'], {
        ...slow,
        globalSetup: [controlPlane, awsEmulator],
        exclude: [],
        testTimeout: 1_200_000,
      }),
      // What is measured by the wall clock or over a long time wants a machine that does nothing else: `npm run soak`.
      project('quiet', ['test/{campaigns,browser}/**/*.quiet.test.ts'], {
        ...slow,
        globalSetup: [controlPlane, awsEmulator],
        exclude: [],
        testTimeout: 1_200_000,
        fileParallelism: false,
      }),
      // Property tests once more, with seeds of their own for this run.
      {
        resolve: { alias: { 'fast-check': freshFastCheck } },
        ...project('long-properties', withProperties(), { exclude: [], testTimeout: 600_000 }),
      },
      // Campaigns in virtual time need processors and nothing else.
      project('long-virtual', ['test/{scenario,planner}/**/*.long.test.ts'], {
        exclude: [],
        testTimeout: 1_500_000,
      }),
    ],
  },
});
