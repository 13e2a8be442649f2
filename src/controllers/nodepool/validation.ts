// nodepool.validation: what admission cannot see, as a condition that says everything that is wrong at once.
import { conditionReason, conditionType, joinErrors, nodePoolProblems } from '../../api/index.ts';
import { done } from '../../runtime/index.ts';
import type { Controller, ControllerContext } from '../context.ts';
import { providerLabelPolicy } from '../label-policy.ts';
import { writePoolCondition } from './pool-conditions.ts';
import { poolController } from './pool-controller.ts';

export function validationController(context: ControllerContext): Controller {
  const policy = providerLabelPolicy(context.cloud.facts);
  return poolController('nodepool.validation', context, async (pool) => {
    const problems = nodePoolProblems(pool.spec, policy);
    await writePoolCondition(
      context,
      pool,
      problems.length === 0
        ? { type: conditionType.validationSucceeded, status: 'True' }
        : {
            type: conditionType.validationSucceeded,
            status: 'False',
            reason: conditionReason.nodePoolValidationFailed,
            message: joinErrors(problems),
          },
    );
    return done;
  });
}
