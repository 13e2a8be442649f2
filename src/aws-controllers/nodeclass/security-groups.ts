// SecurityGroupsReady: the security groups the class selects; instances get all of them.
import { conditionReason, conditionType } from '../../api/index.ts';
import type { SecurityGroups } from '../../aws/index.ts';
import { minuteMs, type Step } from './draft.ts';

const type = conditionType.securityGroupsReady;

export function securityGroupsStep(groups: Pick<SecurityGroups, 'list'>): Step {
  return async (draft) => {
    const found = await groups.list(draft.nodeClass);
    if (found.length === 0) {
      draft.update({ securityGroups: undefined });
      draft.set({
        type,
        status: 'False',
        reason: conditionReason.securityGroupsNotFound,
        message: 'SecurityGroupSelector did not match any SecurityGroups',
      });
      return minuteMs;
    }
    draft.update({ securityGroups: [...found] });
    draft.set({ type, status: 'True' });
    return 5 * minuteMs;
  };
}
