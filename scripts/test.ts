// `npm test`: every suite that needs a real component, and the checks beside them. `--long` runs the long campaigns instead.
// Components are built first; a suite whose component this machine cannot provide is left out with a note, except in CI,
// where nothing may be skipped.
import { randomInt } from 'node:crypto';
import { type ComponentName, missingPartOf, mustHaveEverything } from '../test/setup/components.ts';
import { longTasks, testTasks } from './suites.ts';
import { runTasks } from './tasks.ts';

const isLong = process.argv.includes('--long');
const wanted = isLong ? longTasks : testTasks;
if (isLong) {
  // One for all processes of this run, so that it can be played again.
  process.env['KERF_BASE_SEED'] ??= String(randomInt(1, 1_000_000_000));
  console.log(`KERF_BASE_SEED=${process.env['KERF_BASE_SEED']}`);
}
const missing = new Map<ComponentName, string>();
for (const name of new Set(wanted.flatMap((task) => task.needs ?? []))) {
  const reason = await missingPartOf(name, (line) => console.log(line));
  if (reason !== undefined) missing.set(name, reason);
}
if (missing.size > 0 && mustHaveEverything()) {
  for (const reason of missing.values()) console.error(reason);
  console.log(`0 passed, ${missing.size} failed`);
  process.exit(1);
}
const lacks = (name: ComponentName): boolean => missing.has(name);
const skipped = wanted.filter((task) => task.needs?.some(lacks));
const notes = skipped.map((task) => {
  const reasons = (task.needs ?? []).filter(lacks).map((name) => missing.get(name));
  return `NOT RUN: ${task.name}: ${reasons.join('; ')}`;
});
process.exit(
  (await runTasks(
    wanted.filter((task) => !skipped.includes(task)),
    notes,
  ))
    ? 0
    : 1,
);
