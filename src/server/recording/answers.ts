// What is asked of a snapshot, and answered from it alone: once when it is decided, and again when it is replayed.
import { type Clock, inSlices } from '../../base/index.ts';
import { compileUntrustedSelector } from '../../controllers/index.ts';
import { type Plan, planSnapshotInSlices, Round, type Snapshot } from '../../core/index.ts';
import type { Question } from './recording-lines.ts';

/** As it is compared: without how long it took. */
export function planResult(plan: Plan): object {
  const { solveMs: _, ...rest } = plan;
  return rest;
}

export async function answerTo(clock: Clock, question: Question, snapshot: Snapshot): Promise<object> {
  if (question.what === 'plan') {
    const options = { compileDeviceSelector: compileUntrustedSelector };
    return planResult(await inSlices(clock, planSnapshotInSlices(snapshot, options)));
  }
  const round = await inSlices(clock, Round.inSlices(snapshot, { compileDeviceSelector: compileUntrustedSelector }));
  const wanted = new Set(question.nodeClaims);
  const members = round.fleet.members.filter(({ machine }) => wanted.has(machine.claim?.metadata.name ?? ''));
  // As the decision itself looks: only consolidation spares nodes that are not quiet.
  const options = { sparesRestless: question.reason === 'Underutilized' };
  const simulation = await inSlices(clock, round.whatIf.simulateInSlices(members, options));
  const errors = simulation.errors();
  const { nodes } = simulation.finish();
  return {
    nodeClaims: members.map(({ machine }) => machine.claim?.metadata.name ?? '').sort(),
    newNodes: nodes,
    existingNodes: simulation.placements(),
    withoutPlace: errors,
  };
}
