// A class with the status that this controller would give it now: what its selectors find in the account. Reads only.
import { type EC2NodeClass, ec2NodeClassConditions } from '../../api/index.ts';
import { messageOf } from '../../base/index.ts';
import { Draft } from './draft.ts';
import { selectionSteps } from './node-class-controllers.ts';

export async function withSelection(
  nodeClass: EC2NodeClass,
  context: Parameters<typeof selectionSteps>[0],
  services: Parameters<typeof selectionSteps>[1],
): Promise<{ nodeClass: EC2NodeClass; problems: string[] }> {
  const conditions = ec2NodeClassConditions(context.settings.featureGates['ReservedCapacity'] === true);
  const draft = new Draft(nodeClass, conditions, context.clock.now());
  const problems: string[] = [];
  for (const step of selectionSteps(context, services)) {
    try {
      await step(draft);
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  return { nodeClass: draft.nodeClass, problems };
}
