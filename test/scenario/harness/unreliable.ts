// An API server that has a bad day: some calls are refused (conflict, too many requests, internal error), and of some the
// answer is lost although they were carried out. Watches are left alone; the reflector's own tests cut those.
import { type Kube, KubeError } from '../../../src/ports/index.ts';

const refusals = [
  { status: 409, reason: 'Conflict', message: 'the object has been modified' },
  { status: 429, reason: 'TooManyRequests', message: 'the server is busy' },
  { status: 500, reason: 'InternalError', message: 'the server failed' },
];

/** `rate` of the calls fail, half of them after they were carried out. */
export function unreliable(kube: Kube, rate: number, random: () => number): Kube {
  const call = async <T>(carryOut: () => Promise<T>): Promise<T> => {
    if (random() >= rate) return carryOut();
    if (random() < 0.5) {
      await carryOut();
      throw new KubeError({ status: 0, reason: 'Transport', message: 'the answer was lost' });
    }
    throw new KubeError(refusals[Math.floor(random() * refusals.length)] ?? { status: 500, reason: '', message: '' });
  };
  return {
    get: (resource, ref, options) => call(() => kube.get(resource, ref, options)),
    list: (resource, options) => kube.list(resource, options),
    watch: (resource, options) => kube.watch(resource, options),
    create: (resource, object, options) => call(() => kube.create(resource, object, options)),
    replace: (resource, object, options) => call(() => kube.replace(resource, object, options)),
    patch: (resource, ref, patch, options) => call(() => kube.patch(resource, ref, patch, options)),
    delete: (resource, ref, options) => call(() => kube.delete(resource, ref, options)),
    evict: (ref, options) => call(() => kube.evict(ref, options)),
    bind: (ref, node, options) => call(() => kube.bind(ref, node, options)),
  };
}
