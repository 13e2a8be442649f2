import { expect, test } from 'vitest';
import { killedAtEveryWrite, nodesGo } from './crash.ts';

const story = nodesGo(20);

test(`${story.name}, and the controllers are killed at every single write: nothing is lost, nothing left over`, async () => {
  const { writes, problems } = await killedAtEveryWrite(story);
  expect(problems).toEqual([]);
  expect(writes).toBeGreaterThan(200);
});
