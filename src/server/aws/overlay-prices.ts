// Instance types without a price of EC2's to which a NodeOverlay gives one: previews can be launched that way. Read again
// every five minutes; the same set comes back while nothing changed, because lists of types are kept by it.
import { conditionType, label } from '../../api/index.ts';
import { type Clock, conditionOf } from '../../base/index.ts';
import { type ControllerContext, nodeOverlays } from '../../controllers/index.ts';

const everyMs = 5 * 60_000;
const none: ReadonlySet<string> = new Set();

export function overlayPrices(clock: Clock, contextOf: () => ControllerContext | undefined): () => ReadonlySet<string> {
  let known = none;
  let readMs = Number.NEGATIVE_INFINITY;
  return () => {
    const context = contextOf();
    if (context?.settings.featureGates['NodeOverlay'] !== true) return none;
    if (clock.elapsed() - readMs < everyMs) return known;
    readMs = clock.elapsed();
    const found = new Set(pricedTypes(context));
    if (found.size !== known.size || [...found].some((type) => !known.has(type))) known = found;
    return known;
  };
}

function* pricedTypes(context: ControllerContext): Generator<string> {
  for (const { spec, status } of context.cacheOf(nodeOverlays).values()) {
    const [only, ...others] = spec.requirements ?? [];
    const isValid = conditionOf(status?.conditions, conditionType.validationSucceeded)?.status === 'True';
    if (!isValid || spec.price === undefined || only === undefined || others.length > 0) continue;
    if (only.key === label.instanceType && only.operator === 'In') yield* only.values ?? [];
  }
}
