// LaunchesPaused: True while a check before launches found, twice, that no node of the class could be launched or join;
// absent otherwise. With it the class is not Ready, so that pools of it are left alone and say why.
import { conditionType } from '../../api/index.ts';
import { reasonOf, saidOf } from '../../failures/index.ts';
import type { LaunchVerdicts } from '../launch-checks/launch-verdicts.ts';
import type { Step } from './draft.ts';

const type = conditionType.launchesPaused;

/** The API server refuses longer ones, and the rest of the status with them. */
const longestMessage = 32_000;

export function launchesPausedStep(verdicts: LaunchVerdicts): Step {
  return async (draft) => {
    const uid = draft.nodeClass.metadata.uid ?? draft.nodeClass.metadata.name ?? '';
    const pause = verdicts.pauseOf(uid);
    if (pause !== undefined)
      draft.set({
        type,
        status: 'True',
        reason: reasonOf(pause.id),
        message: `Launches are paused: ${saidOf(pause)}`.slice(0, longestMessage),
      });
    else if (verdicts.hasLooked(uid)) draft.clear(type);
    return undefined;
  };
}
