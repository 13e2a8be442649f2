import { expect, test } from 'vitest';
import type { Pod } from '../../ports/index.ts';
import { runTimeOf } from './run-time.ts';

const pod = (spec: object, annotations: Record<string, string> = {}): Pod =>
  ({ metadata: { name: 'a', annotations }, spec }) as Pod;
const job = (command: string[], annotations?: Record<string, string>): Pod =>
  pod({ restartPolicy: 'Never', containers: [{ name: 'main', command }] }, annotations);

test('pods that are restarted always run until they are deleted', () => {
  expect(runTimeOf(pod({ containers: [{ name: 'main', command: ['sleep', '5'] }] }), 1)).toBeUndefined();
});

test.each([
  [['sleep', '5'], 5_000],
  [['sh', '-c', 'echo hi; sleep 2m; echo bye'], 120_000],
  [['sh', '-c', 'sleep 0.5'], 500],
  [['sh', '-c', 'echo asleep'], 7_000],
])('%j says how long it runs', (command, runMs) => {
  expect(runTimeOf(job(command), 7_000)).toEqual({ runMs, exitCode: 0 });
});

test('an annotation counts more than the command', () => {
  const annotations = { 'pod-complete.stage.kwok.x-k8s.io/delay': '90s' };
  expect(runTimeOf(job(['sleep', '5'], annotations), 1)?.runMs).toBe(90_000);
});

test('an annotation that is not a duration counts as none', () => {
  const annotations = { 'pod-complete.stage.kwok.x-k8s.io/delay': 'soon' };
  expect(runTimeOf(job(['sleep', '5'], annotations), 1)?.runMs).toBe(5_000);
});

test('the longest of several containers counts', () => {
  const containers = [
    { name: 'a', args: ['sleep', '3'] },
    { name: 'b', args: ['sleep', '9'] },
  ];
  expect(runTimeOf(pod({ restartPolicy: 'OnFailure', containers }), 1)?.runMs).toBe(9_000);
});

test.each([
  [['sh', '-c', 'sleep 1; exit 3'], 3],
  [['false'], 1],
  [['/bin/false'], 1],
  [['sh', '-c', 'exit 0'], 0],
  [['echo', 'falsely'], 0],
])('%j ends with exit code %i', (command, exitCode) => {
  expect(runTimeOf(job(command), 1)?.exitCode).toBe(exitCode);
});
