// The price below which no plan for the same pods can be: HiGHS solves the relaxation that the planner's core describes.
// The solver is WebAssembly and loaded only when asked for; in the bundled command its binary is part of the file.
import type { default as highs } from 'highs';
import { atOnce, KerfError } from '../../base/index.ts';
import {
  configurationBound,
  indexSnapshot,
  type LinearProgram,
  type Plan,
  priceRelaxation,
  relaxationOf,
  type Snapshot,
  type World,
} from '../../core/index.ts';
import { solverBinary } from './solver-binary.ts';

/** Node has it, the types of Node without a browser do not. */
const webAssembly = (globalThis as unknown as { WebAssembly: WebAssemblyLike }).WebAssembly;
interface WebAssemblyLike {
  instantiate(binary: Uint8Array, imports: object): Promise<{ instance: object }>;
}

type LoadHighs = typeof highs.default;

/** The package's declared way to hand over the binary is not wired up in its build; the loader's own hook is. */
async function loadSolver(): Promise<Awaited<ReturnType<LoadHighs>>> {
  const [{ default: load }, binary] = await Promise.all([import('highs'), solverBinary()]);
  const options = {
    instantiateWasm(imports: object, receive: (instance: object) => void): void {
      void webAssembly.instantiate(binary, imports).then(({ instance }) => receive(instance));
    },
  };
  // The types describe the CommonJS form of the package; what is imported is the function itself.
  return (load as unknown as LoadHighs)(options as Parameters<LoadHighs>[0]);
}

/** USD per hour, for the pods the plan places on new or existing nodes. */
export async function lowerBoundPerHour(input: Snapshot | World, plan: Plan): Promise<number> {
  const world = 'workload' in input ? input : indexSnapshot(input);
  const placed = new Set([...plan.newNodes, ...plan.existingNodes].flatMap(({ pods }) => pods));
  if (placed.size === 0) return 0;
  const relaxation = relaxationOf(world, placed);
  const byRoom = await linearBound(priceRelaxation(relaxation), plan);
  const byFillings = atOnce(configurationBound(relaxation, byRoom));
  return Math.max(byFillings, byRoom);
}

async function linearBound(program: LinearProgram, plan: Plan): Promise<number> {
  const highs = await loadSolver();
  const numCols = program.cost.length;
  const numRows = program.rowLower.length;
  return highs.withModel(
    {
      numCols,
      numRows,
      colCost: program.cost,
      colLower: program.cost.map(() => 0),
      colUpper: program.upper,
      rowLower: program.rowLower,
      rowUpper: program.rowUpper,
      matrix: {
        format: 'csc',
        numCols,
        numRows,
        starts: program.starts,
        indices: program.rows,
        values: program.values,
      },
    },
    (model) => {
      model.options.set({ output_flag: false });
      model.run();
      if (model.getModelStatus() !== highs.constants.modelStatus.optimal) {
        throw new KerfError(
          'BoundNotFound',
          `cannot compute the lower bound of ${plan.pods} pods: the solver ended with status ${model.getModelStatus()}; plan without --bound`,
        );
      }
      // The solver is right to about seven digits; a bound must not be above the truth.
      return Math.max(0, model.getObjectiveValue() * (1 - 1e-6));
    },
  );
}
