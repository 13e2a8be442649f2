// A Cloud whose calls are counted and timed, per controller that made them. Which controller is calling is known from the
// surroundings of the call, so that no controller has to say it.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../base/index.ts';
import { type Cloud, cloudWith, isCloudError, type Metrics } from '../ports/index.ts';

const caller = new AsyncLocalStorage<string>();

/** Runs `work` as the named controller. */
export function asController<T>(name: string, work: () => T): T {
  return caller.run(name, work);
}

export function meteredCloud(cloud: Cloud, metrics: Metrics, clock: Clock): Cloud {
  const labels = ['controller', 'method', 'provider'];
  const durations = metrics.histogram({
    name: 'karpenter_cloudprovider_duration_seconds',
    help: 'How long calls to the provider took.',
    labels,
  });
  const errors = metrics.counter({
    name: 'karpenter_cloudprovider_errors_total',
    help: 'Calls to the provider that failed.',
    labels: [...labels, 'error'],
  });
  const metered = async <T>(method: string, call: () => Promise<T>): Promise<T> => {
    const of = { controller: caller.getStore() ?? '', method, provider: cloud.name };
    const startedMs = clock.now();
    try {
      return await call();
    } catch (error) {
      errors.add({ ...of, error: isCloudError(error) ? error.metricName : '' });
      throw error;
    } finally {
      durations.observe((clock.now() - startedMs) / 1000, of);
    }
  };
  return cloudWith(cloud, {
    create: (claim, options) => metered('Create', () => cloud.create(claim, options)),
    delete: (claim, options) => metered('Delete', () => cloud.delete(claim, options)),
    get: (providerID, options) => metered('Get', () => cloud.get(providerID, options)),
    list: (options) => metered('List', () => cloud.list(options)),
    instanceTypes: (pool, options) => metered('GetInstanceTypes', () => cloud.instanceTypes(pool, options)),
    driftReason: (claim, options) => metered('IsDrifted', () => cloud.driftReason(claim, options)),
  });
}
