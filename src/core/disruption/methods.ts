// The methods in the order in which they are tried: what must go, then what costs nothing to remove, then what is out of
// date, then what can be packed better. The first that finds a command ends the round.

import type { Sliced } from '../../base/index.ts';
import { driftCommand, staticDriftCommands } from './drift.ts';
import { emptinessCommand } from './emptiness.ts';
import type { Asked, Method, MethodOutcome } from './method.ts';
import { multiNodeCommand } from './multi-node.ts';
import { repairCommand } from './repair.ts';
import type { Round } from './round.ts';
import { singleNodeCommand } from './single-node.ts';
import { stillCandidates, validateConsolidation, validateEmptiness } from './validation.ts';

const repair: Method = {
  name: 'Repair',
  reason: 'Unhealthy',
  consolidationType: '',
  refusalEvent: 'DisruptionBlocked',
  isOn: (round) => round.fleet.movable.repairs !== undefined,
  eligible: (round) => round.eligible.Unhealthy,
  decide: (round) => repairCommand(round),
};

const emptiness: Method = {
  name: 'Emptiness',
  reason: 'Empty',
  consolidationType: 'empty',
  refusalEvent: 'Unconsolidatable',
  eligible: (round) => round.eligible.Empty,
  *decide(round) {
    yield;
    return emptinessCommand(round);
  },
  validation: {
    *validate(later, command) {
      yield;
      return validateEmptiness(later, command);
    },
  },
};

const staticDrift: Method = {
  name: 'StaticDrift',
  reason: 'Drifted',
  consolidationType: '',
  refusalEvent: 'DisruptionBlocked',
  eligible: (round) => round.staticDrifted,
  *decide(round) {
    yield;
    return staticDriftCommands(round);
  },
};

const drift: Method = {
  name: 'Drift',
  reason: 'Drifted',
  consolidationType: '',
  refusalEvent: 'DisruptionBlocked',
  eligible: (round) => round.eligible.Drifted,
  decide: (round) => driftCommand(round),
};

/** Consolidation looks three times: when it decides, after a while, and once more at the nodes themselves. */
const consolidation = {
  reason: 'Underutilized',
  refusalEvent: 'Unconsolidatable',
  eligible: (round: Round) => round.eligible.Underutilized,
  validation: {
    validate: validateConsolidation,
    lastLook(last, command) {
      const still = stillCandidates(last, command);
      return typeof still === 'string' ? still : undefined;
    },
  },
} satisfies Partial<Method>;

const multiNode: Method = {
  ...consolidation,
  name: 'MultiNode',
  consolidationType: 'multi',
  limitMs: 60_000,
  decide: (round, asked) => multiNodeCommand(round, asked),
};

const singleNode: Method = {
  ...consolidation,
  name: 'SingleNode',
  consolidationType: 'single',
  limitMs: 180_000,
  decide: (round, asked) => singleNodeCommand(round, asked),
};

export const methods: readonly Method[] = [repair, emptiness, staticDrift, drift, multiNode, singleNode];

/** What disruption would start with, among these methods. */
export function* firstOutcome(
  round: Round,
  among: readonly Method[] = methods,
  asked: Asked = {},
): Sliced<MethodOutcome | undefined> {
  for (const method of among) {
    if (method.isOn?.(round) === false) continue;
    const outcome = yield* method.decide(round, asked);
    if (outcome.command !== undefined) return outcome;
  }
  return undefined;
}
