import { expect, test } from 'vitest';
import { KubernetesVersion } from '../aws/index.ts';
import { recordedLog } from '../controllers/testing/records.testing.ts';
import { openAwsBench } from './aws-bench.testing.ts';
import { versionController } from './version.ts';

test('the version is looked up at start and every five minutes, and a failure keeps the last one', async () => {
  const answers = ['1.33', '1.34'];
  const version = new KubernetesVersion(async () => {
    const answer = answers.shift();
    if (answer === undefined) throw new Error('away');
    return answer;
  }, recordedLog());
  const bench = await openAwsBench({ controllers: () => [versionController(version)] });
  expect(version.current).toBe('1.33');
  await bench.run(4 * 60_000);
  expect(version.current).toBe('1.33');
  await bench.run(2 * 60_000);
  expect(version.current).toBe('1.34');
  await bench.run(10 * 60_000);
  expect(version.current).toBe('1.34');
  await bench.close();
});
