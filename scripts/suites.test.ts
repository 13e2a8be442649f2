// A test file that no suite runs is always green.
import { globSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import config from '../vitest.config.ts';
import { checkTasks, longTasks, testTasks } from './suites.ts';

interface Project {
  test: { name: string; include: string[]; exclude: string[] };
}
const projects = (config as { test: { projects: Project[] } }).test.projects
  .map((project) => project.test)
  // Runs tests of other suites once more, with other seeds.
  .filter(({ name }) => name !== 'long-properties');
// `quiet` is `npm run soak`: its figures mean something only on a machine that does nothing else.
const runBy = new Set(['quiet', ...[...checkTasks, ...testTasks, ...longTasks].flatMap(({ command }) => command)]);
const matches = (file: string, globs: string[]): boolean => globs.some((glob) => matchesGlob(file, glob));

test('every test file is run by exactly one suite', () => {
  const files = globSync('{src,scripts,test}/**/*.test.ts');
  expect(files.length).toBeGreaterThan(200);
  const wrong = files.filter((file) => {
    const homes = projects.filter(({ include, exclude }) => matches(file, include) && !matches(file, exclude));
    return homes.length !== 1 || !homes.every(({ name }) => runBy.has(name));
  });
  expect(wrong).toEqual([]);
});
