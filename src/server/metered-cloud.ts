// A Cloud whose calls are counted and timed, per controller that made them.
import type { Clock } from '../base/index.ts';
import { type Cloud, cloudWith, isCloudError, type Metrics } from '../ports/index.ts';
import { callerName } from './caller.ts';

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
    const of = { controller: callerName(), method, provider: cloud.name };
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
