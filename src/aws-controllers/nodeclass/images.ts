// AMIsReady: the images the class selects.
import { conditionReason, conditionType } from '../../api/index.ts';
import type { Images } from '../../aws/index.ts';
import { KerfError } from '../../base/index.ts';
import { minuteMs, type Step } from './draft.ts';

const type = conditionType.amisReady;

export function imagesStep(images: Pick<Images, 'list'>): Step {
  return async (draft) => {
    const answer = await images.list(draft.nodeClass);
    if (answer.kind === 'unsupportedAlias') {
      draft.set({ type, status: 'False', reason: conditionReason.unsupportedAlias, message: answer.message });
      // Looking again gives the same until somebody edits the class.
      throw new KerfError('AliasUnsupported', answer.message);
    }
    if (answer.images.length === 0) {
      draft.update({ amis: undefined });
      draft.set({
        type,
        status: 'False',
        reason: conditionReason.amiNotFound,
        message: 'AMISelector did not match any AMIs',
      });
      return minuteMs;
    }
    draft.update({ amis: [...answer.images] });
    draft.set({ type, status: 'True' });
    return 5 * minuteMs;
  };
}
