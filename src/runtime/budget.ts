// Runs work that someone else wrote, for so long and no longer. The event loop waits for it, so it is ended from outside,
// in the middle of whatever it does: a loop, a regular expression that backtracks without end, a string that doubles.
// The end comes by the wall clock. On a starved machine that says nothing about the work, so work that hardly computed is
// tried again, a few times.
import { threadCpuUsage } from 'node:process';
import { createContext, Script } from 'node:vm';

const surroundings: { work: () => unknown } = createContext({ work: () => undefined }) as never;
const script = new Script('work()');
const mostTries = 3;

export type Budgeted<T> = { kind: 'done'; value: T } | { kind: 'late' };

/** The work has no effects but its result: it may be ended anywhere. Costs a tenth of a millisecond by itself. */
export function withinBudget<T>(budgetMs: number, work: () => T): Budgeted<T> {
  for (let tries = 1; ; tries++) {
    const startedMs = computedMs();
    const result = tryOnce(budgetMs, work);
    if (result.kind === 'done' || tries === mostTries || computedMs() - startedMs > budgetMs / 2) return result;
  }
}

function tryOnce<T>(budgetMs: number, work: () => T): Budgeted<T> {
  surroundings.work = work;
  try {
    return { kind: 'done', value: script.runInContext(surroundings, { timeout: budgetMs }) as T };
  } catch (thrown) {
    if ((thrown as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return { kind: 'late' };
    throw thrown;
  } finally {
    surroundings.work = () => undefined;
  }
}

function computedMs(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}
