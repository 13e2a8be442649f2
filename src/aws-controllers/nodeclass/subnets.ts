// SubnetsReady: the subnets the class selects, those with most free addresses first.
import { conditionReason, conditionType } from '../../api/index.ts';
import type { Subnets } from '../../aws/index.ts';
import { minuteMs, type Step } from './draft.ts';

const type = conditionType.subnetsReady;

export function subnetsStep(subnets: Pick<Subnets, 'list'>): Step {
  return async (draft) => {
    const found = await subnets.list(draft.nodeClass);
    if (found.length === 0) {
      draft.update({ subnets: undefined });
      draft.set({
        type,
        status: 'False',
        reason: conditionReason.subnetsNotFound,
        message: 'SubnetSelector did not match any Subnets',
      });
      return minuteMs;
    }
    draft.update({
      subnets: found.map(({ id, zone, zoneID }) => (zoneID === undefined ? { id, zone } : { id, zone, zoneID })),
    });
    draft.set({ type, status: 'True' });
    return minuteMs;
  };
}
