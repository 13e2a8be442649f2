import { expect, test } from 'vitest';
import { jsonLog, type LogLevel } from './json-log.ts';

function capture(level: LogLevel = 'info') {
  const lines: Record<string, unknown>[] = [];
  let now = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
  const log = jsonLog({
    level,
    commit: 'abc1234',
    now: () => now,
    write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  return { log, lines, pass: (ms: number) => (now += ms) };
}

test('at level debug a line says where it was written, otherwise not', () => {
  const lines: string[] = [];
  const log = (level: 'debug' | 'info') =>
    jsonLog({ level, commit: 'x', now: () => 0, write: (line) => lines.push(line) });
  log('debug').info('here');
  log('debug').with({ a: 1 }).error('there', new Error('no'));
  log('info').info('somewhere');
  const callers = lines.map((line) => (JSON.parse(line) as { caller?: string }).caller);
  expect(callers).toEqual([
    expect.stringMatching(/^telemetry\/json-log\.test\.ts:\d+$/),
    expect.stringMatching(/^telemetry\/json-log\.test\.ts:\d+$/),
    undefined,
  ]);
});

test('a line has level, time, logger, message, commit and the fields in that order', () => {
  const { log, lines } = capture();
  log.with({ controller: 'nodeclaim.lifecycle' }).info('launched nodeclaim', { NodeClaim: { name: 'default-abc' } });
  expect(JSON.stringify(lines[0])).toBe(
    '{"level":"INFO","time":"2026-01-02T03:04:05.006Z","logger":"controller","message":"launched nodeclaim",' +
      '"commit":"abc1234","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"default-abc"}}',
  );
});

test('an error line without an error has no such field', () => {
  const { log, lines } = capture();
  log.error('ignoring nodepool, not ready', undefined, { NodePool: { name: 'default' } });
  expect(lines[0]).toMatchObject({ level: 'ERROR', NodePool: { name: 'default' } });
  expect(lines[0]).not.toHaveProperty('error');
});

test('lines below the level are left out', () => {
  const { log, lines } = capture('error');
  log.info('quiet');
  log.error('loud', new Error('no room'));
  expect(lines).toMatchObject([{ level: 'ERROR', error: 'no room' }]);
});

test('per second and message the first hundred lines pass, then every hundredth', () => {
  const { log, lines, pass } = capture();
  for (let i = 0; i < 350; i += 1) log.info('could not schedule pod');
  expect(lines).toHaveLength(102);
  pass(1000);
  log.info('could not schedule pod');
  expect(lines).toHaveLength(103);
});
