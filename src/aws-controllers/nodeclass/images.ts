// AMIsReady: the images the class selects.
import { conditionReason, conditionType } from '../../api/index.ts';
import type { Images } from '../../aws/index.ts';
import { KerfError } from '../../base/index.ts';
import { minuteMs, type Step } from './draft.ts';
import type { TellNotFound } from './not-found.ts';

const type = conditionType.amisReady;

const notFound = { reason: conditionReason.amiNotFound, message: 'AMISelector did not match any AMIs' };
const whatToCheck = 'an image must be available in this region, shared with this account, and of x86_64 or arm64';

export function imagesStep(images: Pick<Images, 'list'>, tell: TellNotFound): Step {
  return async (draft) => {
    const answer = await images.list(draft.nodeClass);
    if (answer.kind === 'unsupportedAlias') {
      draft.set({ type, status: 'False', reason: conditionReason.unsupportedAlias, message: answer.message });
      // Looking again gives the same until someone edits the class.
      throw new KerfError('AliasUnsupported', answer.message);
    }
    if (answer.images.length === 0) {
      draft.update({ amis: undefined });
      draft.set({ type, status: 'False', ...notFound });
      const terms = JSON.stringify(draft.nodeClass.spec.amiSelectorTerms);
      await tell(draft.nodeClass, notFound, async () => `looked for ${terms}; ${whatToCheck}`);
      return minuteMs;
    }
    draft.update({ amis: [...answer.images] });
    draft.set({ type, status: 'True' });
    return 5 * minuteMs;
  };
}
