// The Kube port for a leader: writes are refused, and those under way ended, once its term is over. Reads pass, because
// looking harms no one. Every controller that must act alone writes through this.
import type { AbortSignalLike } from '../base/index.ts';
import { type CallOptions, type Kube, KubeError } from '../ports/index.ts';

export interface Term {
  /** Computed from the clock, not from timers that may be late. */
  isLeader(): boolean;
  /** Aborted at the end of the term, for whoever wants writes under way ended too. */
  signal?: AbortSignal;
}

export function fencedKube(kube: Kube, term: Term): Kube {
  /** Runs a write with the call's own signal and the term's. */
  const write = <O extends CallOptions, R>(options: O | undefined, call: (options: O) => Promise<R>): Promise<R> => {
    if (!term.isLeader() || term.signal?.aborted) {
      return Promise.reject(
        new KubeError({ status: 0, reason: 'NotLeader', message: 'refused to write: this process no longer leads' }),
      );
    }
    const signal = both(term.signal, options?.signal);
    return call({ ...options, ...(signal === undefined ? {} : { signal }) } as O);
  };
  return {
    get: (resource, ref, options) => kube.get(resource, ref, options),
    list: (resource, options) => kube.list(resource, options),
    watch: (resource, options) => kube.watch(resource, options),
    create: (resource, object, options) => write(options, (fenced) => kube.create(resource, object, fenced)),
    replace: (resource, object, options) => write(options, (fenced) => kube.replace(resource, object, fenced)),
    patch: (resource, ref, patch, options) => write(options, (fenced) => kube.patch(resource, ref, patch, fenced)),
    delete: (resource, ref, options) => write(options, (fenced) => kube.delete(resource, ref, fenced)),
    evict: (ref, options) => write(options, (fenced) => kube.evict(ref, fenced)),
    bind: (ref, node, options) => write(options, (fenced) => kube.bind(ref, node, fenced)),
  };
}

function both(term: AbortSignal | undefined, own: AbortSignalLike | undefined): AbortSignalLike | undefined {
  // In rooms that know the platform a signal is always the platform's.
  return own === undefined || term === undefined ? (own ?? term) : AbortSignal.any([term, own as AbortSignal]);
}
