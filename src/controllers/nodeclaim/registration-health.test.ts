import { describe, expect, test } from 'vitest';
import { RegistrationHealth } from './registration-health.ts';

/** The health after these outcomes: + registered, - failed. */
function after(outcomes: string): string {
  const health = new RegistrationHealth();
  for (const outcome of outcomes) health.record('pool', outcome === '+');
  return health.of('pool');
}

describe('the health of a NodePool by its last four launches', () => {
  test.each([
    ['', 'unknown'],
    ['+', 'healthy'],
    ['-', 'healthy'],
    ['--', 'unhealthy'],
    ['-+', 'healthy'],
    ['--+', 'unhealthy'],
    ['--++', 'unhealthy'],
    ['--+++', 'healthy'],
    ['--++-', 'unhealthy'],
    ['++++--', 'unhealthy'],
    ['--++++', 'healthy'],
  ])('after "%s" is %s', (outcomes, expected) => expect(after(outcomes)).toBe(expected));

  test('can be asked for with one more outcome without remembering it', () => {
    const health = new RegistrationHealth();
    health.record('pool', false);
    expect(health.after('pool', false)).toBe('unhealthy');
    expect(health.of('pool')).toBe('healthy');
  });

  test('starts from the condition of an earlier process: True is one success, False is two failures', () => {
    const health = new RegistrationHealth();
    health.prefill('good', 'True');
    health.prefill('bad', 'False');
    expect([health.of('good'), health.of('bad')]).toEqual(['healthy', 'unhealthy']);
  });

  test('is not overwritten by a condition once outcomes are known', () => {
    const health = new RegistrationHealth();
    health.record('pool', true);
    health.prefill('pool', 'False');
    expect(health.of('pool')).toBe('healthy');
  });
});
