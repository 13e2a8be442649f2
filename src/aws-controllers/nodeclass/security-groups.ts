// SecurityGroupsReady: the security groups the class selects; instances get all of them.
import { conditionReason, conditionType } from '../../api/index.ts';
import type { SecurityGroups } from '../../aws/index.ts';
import { minuteMs, type Step } from './draft.ts';
import type { TellNotFound } from './not-found.ts';

const type = conditionType.securityGroupsReady;

const notFound = {
  reason: conditionReason.securityGroupsNotFound,
  message: 'SecurityGroupSelector did not match any SecurityGroups',
};

export function securityGroupsStep(groups: Pick<SecurityGroups, 'list' | 'nearMisses'>, tell: TellNotFound): Step {
  return async (draft) => {
    const found = await groups.list(draft.nodeClass);
    if (found.length === 0) {
      draft.update({ securityGroups: undefined });
      draft.set({ type, status: 'False', ...notFound });
      await tell(draft.nodeClass, notFound, () => groups.nearMisses(draft.nodeClass));
      return minuteMs;
    }
    draft.update({ securityGroups: [...found] });
    draft.set({ type, status: 'True' });
    return 5 * minuteMs;
  };
}
