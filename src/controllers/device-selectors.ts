// Device selectors are expressions that users of a namespace write, and we run them on our event loop. An API server of
// Kubernetes refuses costly ones; we do not rely on it. What could be costly runs on a budget, and an expression that once
// exceeded it is not run again.
import { compileDeviceSelector, type DeviceFacts } from '../api/index.ts';
import { withinBudget } from '../runtime/index.ts';

type Compiled = ReturnType<typeof compileDeviceSelector>;

/** Honest selectors take microseconds. */
const budgetMs = 25;
/** What Kubernetes takes. */
const longestExpression = 10 * 1024;
const mostRemembered = 1_000;

/** Called on strings and numbers of a device, these take no longer than the text they stand in. */
const cheap = new Set(
  'has int uint double string bool size startsWith endsWith contains quantity isQuantity compareTo isGreaterThan isLessThan asInteger semver isSemver major minor patch orValue optMap'.split(
    ' ',
  ),
);

const condemned = new Set<string>();

/** `compileDeviceSelector` for untrusted expressions. */
export function compileUntrustedSelector(expression: string): Compiled {
  const late = {
    error: `the selector ${expression.slice(0, 200)} takes too long: write one that looks at fewer things`,
  };
  if (expression.length > longestExpression)
    return {
      error: `a selector of ${expression.length} characters is longer than the ${longestExpression} Kubernetes takes`,
    };
  if (condemned.has(expression)) return late;
  const compiled = compileDeviceSelector(expression);
  if (typeof compiled !== 'function' || isCheap(expression)) return compiled;
  return (device: DeviceFacts) => {
    if (condemned.has(expression)) return late;
    const result = withinBudget(budgetMs, () => compiled(device));
    if (result.kind === 'done') return result.value;
    if (condemned.size >= mostRemembered) condemned.clear();
    condemned.add(expression);
    return late;
  };
}

/** Nothing in it repeats anything. */
function isCheap(expression: string): boolean {
  return [...expression.matchAll(/([A-Za-z_]\w*)\s*\(/g)].every(([, name = '']) => cheap.has(name));
}
