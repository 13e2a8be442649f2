// Stories on a clock of their own, with scenes that only note what is done.
import { expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { type Kube, KubeError } from '../../ports/index.ts';
import { type Scenes, StoryTeller, stories } from './stories.ts';

function stage() {
  const done: string[] = [];
  const note = async (text: string): Promise<void> => void done.push(text);
  const kube = {
    create: () => note('guard created'),
    delete: async () => {
      done.push('guard deleted');
      throw new KubeError({ reason: 'NotFound', status: 404, message: 'not there' });
    },
  } as unknown as Kube;
  const scenes: Scenes = {
    kube,
    fault: (name, on) => note(`${name} ${on ? 'on' : 'off'}`),
    speed: (factor) => note(`speed ${factor}`),
    scale: async (workload, factor) => {
      done.push(`${workload} x${factor}`);
      return 10;
    },
    replicas: (workload, count) => note(`${workload} = ${count}`),
  };
  return { done, scenes };
}

test('every story is about a minute long, has four captions, and puts back what it changed', async () => {
  for (const [name, steps] of Object.entries(stories)) {
    const clock = new VirtualClock({ settle: () => new Promise((resolve) => setImmediate(resolve)) });
    const marks: string[] = [];
    const { done, scenes } = stage();
    const teller = new StoryTeller(clock, (message) => void marks.push(message));
    await teller.start(name, scenes);
    expect(teller.now).toMatchObject({ name, step: 1, steps: 4 });
    await clock.runFor(75_000);
    expect(marks).toHaveLength(4);
    expect(teller.now).toBeUndefined();
    expect(done.at(-1)).toBe('speed 1');
    const seconds = steps.reduce((sum, { afterSeconds }) => sum + afterSeconds, 0);
    expect(seconds).toBeGreaterThanOrEqual(40);
    expect(seconds).toBeLessThanOrEqual(60);
    for (const act of done.filter((each) => each.includes(' x'))) expect(done).toContain(`${act.split(' x')[0]} = 10`);
    for (const act of done.filter((each) => each.endsWith(' on'))) expect(done).toContain(act.replace(/ on$/, ' off'));
  }
});

test('a story that is ended puts back what it changed so far, and another one can begin', async () => {
  const clock = new VirtualClock({ settle: () => new Promise((resolve) => setImmediate(resolve)) });
  const { done, scenes } = stage();
  const teller = new StoryTeller(clock, () => undefined);
  await teller.start('lost zone', scenes);
  await teller.start('burst', scenes);
  expect(done.slice(0, 4)).toEqual(['speed 10', 'zone out on', 'zone out off', 'guard deleted']);
  expect(teller.now?.name).toBe('burst');
  await teller.end();
  expect(teller.now).toBeUndefined();
  expect(done).toContain('shop/web = 10');
});
