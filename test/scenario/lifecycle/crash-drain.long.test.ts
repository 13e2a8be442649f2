// Every single write takes a quarter of an hour; KERF_KILL_EVERY=1 asks for that.
import { expect, test } from 'vitest';
import { killedAtEveryWrite, nodesGo } from './crash.ts';

const story = nodesGo(20);
const nth = Number(process.env['KERF_KILL_EVERY'] ?? 3);

test(`${story.name}, and the controllers are killed at one write in ${nth}: nothing is lost, nothing left over`, async () => {
  const { writes, problems } = await killedAtEveryWrite(story, nth);
  expect(problems).toEqual([]);
  expect(writes).toBeGreaterThan(200);
});
