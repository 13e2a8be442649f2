// providers.ssm.invalidation: an image that `latest` stood for and that is deprecated now has a successor; forgetting the
// parameter makes the next look ask for it, instead of waiting a day.
import type { Images } from '../aws/index.ts';
import { again, type Controller } from '../controllers/index.ts';

const everyMs = 30 * 60_000;

export function parameterInvalidationController(images: Pick<Images, 'forgetDeprecated'>): Controller {
  return {
    name: 'providers.ssm.invalidation',
    sources: [],
    startKeys: ['parameters'],
    concurrency: 1,
    async reconcile() {
      await images.forgetDeprecated();
      return again(everyMs);
    },
  };
}
