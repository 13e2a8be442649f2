// PlacementGroupReady: the placement group the class names, if it names one.
import { conditionReason, conditionType } from '../../api/index.ts';
import type { PlacementGroups } from '../../aws/index.ts';
import type { Step } from './draft.ts';
import type { TellNotFound } from './not-found.ts';

const type = conditionType.placementGroupReady;

const whatToDo = 'create it in this region, or correct spec.placementGroupSelector';

export function placementGroupStep(groups: Pick<PlacementGroups, 'resolve'>, tell: TellNotFound): Step {
  return async (draft) => {
    const answer = await groups.resolve(draft.nodeClass);
    switch (answer.kind) {
      case 'none':
      case 'resolved':
        draft.set({ type, status: 'True' });
        return undefined;
      case 'notFound': {
        const { id, name } = draft.nodeClass.spec.placementGroupSelector ?? {};
        const message = `Placement group "${id ?? name ?? ''}" not found`;
        const notFound = { reason: conditionReason.placementGroupNotFound, message };
        draft.set({ type, status: 'False', ...notFound });
        await tell(draft.nodeClass, notFound, async () => whatToDo);
        return undefined;
      }
      case 'failed':
        draft.set({
          type,
          status: 'False',
          reason: conditionReason.placementGroupResolutionFailed,
          message: 'Failed to resolve placement group',
        });
        throw answer.error;
    }
  };
}
