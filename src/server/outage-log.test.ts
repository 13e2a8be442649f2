import { expect, test } from 'vitest';
import { KubeError, type Log } from '../ports/index.ts';
import { outageLog } from './outage-log.ts';

function bench() {
  let nowMs = 0;
  const lines: string[] = [];
  const inner: Log = {
    debug: (message) => void lines.push(`debug ${message}`),
    info: (message, fields) => void lines.push(`info ${message} ${JSON.stringify(fields ?? {})}`),
    error: (message, _error, fields) => void lines.push(`error ${message} ${JSON.stringify(fields ?? {})}`),
    with: () => inner,
  };
  const outage = outageLog(inner, { now: () => nowMs });
  const pass = (ms: number): void => void (nowMs += ms);
  return { ...outage, lines, pass };
}
const unreachable = new KubeError({ status: 0, reason: 'Transport', message: 'connect ECONNREFUSED' });

test('an outage is one line, summaries at growing intervals, and one line at its end', () => {
  const { log, answered, lines, pass } = bench();
  for (let second = 0; second < 60; second += 1) {
    for (const what of ['pods', 'nodes', 'leases']) log.error(`cannot follow ${what}`, unreachable);
    pass(1_000);
  }
  answered();
  answered();
  expect(lines).toEqual([
    'error cannot follow pods {}',
    'error API server is still unreachable {"seconds":10,"failures":31}',
    'error API server is still unreachable {"seconds":30,"failures":91}',
    'info API server is reachable again {"seconds":60,"failures":180}',
  ]);
});

test('a single failed request is one line, and other errors are not held back', () => {
  const { log, answered, lines } = bench();
  log.error('cannot follow pods', unreachable);
  log.error('cannot write', new KubeError({ status: 409, reason: 'Conflict', message: 'no' }));
  answered();
  expect(lines).toEqual(['error cannot follow pods {}', 'error cannot write {}']);
});

test('a server that refuses the same again and again is written down once, then at growing intervals', () => {
  const { log, lines, pass } = bench();
  const refused = new KubeError({ status: 404, reason: 'NotFound', message: 'not found' });
  for (let second = 0; second < 60; second += 1) {
    for (const resource of ['pods', 'nodes']) log.error('cannot follow resource', refused, { resource });
    pass(1_000);
  }
  expect(lines.filter((line) => line.includes('pods'))).toEqual([
    'error cannot follow resource {"resource":"pods"}',
    'error cannot follow resource {"resource":"pods","repeated":10}',
    'error cannot follow resource {"resource":"pods","repeated":20}',
  ]);
  expect(lines).toHaveLength(6);
  pass(300_000);
  log.error('cannot follow resource', refused, { resource: 'pods' });
  expect(lines.at(-1)).toBe('error cannot follow resource {"resource":"pods"}');
});
