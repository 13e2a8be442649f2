// SubnetsReady: the subnets the class selects, those with most free addresses first.
import { conditionReason, conditionType } from '../../api/index.ts';
import type { Subnets } from '../../aws/index.ts';
import { minuteMs, type Step } from './draft.ts';
import type { TellNotFound } from './not-found.ts';

const type = conditionType.subnetsReady;

const notFound = {
  reason: conditionReason.subnetsNotFound,
  message: 'SubnetSelector did not match any Subnets',
};

export function subnetsStep(subnets: Pick<Subnets, 'list' | 'nearMisses'>, tell: TellNotFound): Step {
  return async (draft) => {
    const found = await subnets.list(draft.nodeClass);
    if (found.length === 0) {
      draft.update({ subnets: undefined });
      draft.set({ type, status: 'False', ...notFound });
      await tell(draft.nodeClass, notFound, () => subnets.nearMisses(draft.nodeClass));
      return minuteMs;
    }
    draft.update({
      subnets: found.map(({ id, zone, zoneID }) => (zoneID === undefined ? { id, zone } : { id, zone, zoneID })),
    });
    draft.set({ type, status: 'True' });
    return minuteMs;
  };
}
