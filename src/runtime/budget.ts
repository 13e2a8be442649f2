// Runs work that someone else wrote, for so long and no longer. The event loop waits for it, so it is ended from outside,
// in the middle of whatever it does: a loop, a regular expression that backtracks without end, a string that doubles.
import { createContext, Script } from 'node:vm';

const surroundings: { work: () => unknown } = createContext({ work: () => undefined }) as never;
const script = new Script('work()');

export type Budgeted<T> = { kind: 'done'; value: T } | { kind: 'late' };

/** The work has no effects but its result: it may be ended anywhere. Costs a tenth of a millisecond by itself. */
export function withinBudget<T>(budgetMs: number, work: () => T): Budgeted<T> {
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
