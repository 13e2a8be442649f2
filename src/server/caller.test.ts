import { expect, test } from 'vitest';
import { jsonLog } from '../telemetry/index.ts';
import { asController, asLoop, callerFields } from './caller.ts';

test('every line of one reconcile carries its id, and every reconcile its own', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = jsonLog({
    level: 'info',
    commit: 'x',
    now: () => 0,
    surroundings: callerFields,
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  const reconcile = async (): Promise<void> => {
    log.info('begin');
    await Promise.resolve();
    log.info('end', { NodeClaim: { name: 'a' } });
  };
  await asController('nodeclaim.lifecycle', reconcile);
  await asController('nodeclaim.lifecycle', reconcile);
  log.info('outside');
  asLoop('provisioner', () => log.info('in a loop'));
  const ids = lines.map(({ reconcileID }) => reconcileID);
  expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(ids[1]).toBe(ids[0]);
  expect(ids[2]).not.toBe(ids[0]);
  expect(ids.slice(4)).toEqual([undefined, undefined]);
  expect(lines.map(({ controller }) => controller)).toEqual([
    ...Array.from({ length: 4 }, () => 'nodeclaim.lifecycle'),
    undefined,
    'provisioner',
  ]);
});
