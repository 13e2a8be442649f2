// The entries of disruption/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { budgetZeroInForce } from './budget-zero-in-force.ts';
import { consolidationThrash } from './consolidation-thrash.ts';
import { constraintsPreventConsolidation } from './constraints-prevent-consolidation.ts';
import { doNotDisruptBlocks } from './do-not-disrupt-blocks.ts';
import { notConsolidatingUnexplained } from './not-consolidating-unexplained.ts';
import { pdbBlocks } from './pdb-blocks.ts';

export const disruption: readonly Failure[] = [
  pdbBlocks,
  doNotDisruptBlocks,
  constraintsPreventConsolidation,
  notConsolidatingUnexplained,
  budgetZeroInForce,
  consolidationThrash,
];
