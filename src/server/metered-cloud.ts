// A Cloud whose calls are counted and timed, per controller that made them.
import { label, type NodeClaim } from '../api/index.ts';
import type { Clock } from '../base/index.ts';
import { type Cloud, cloudWith, isCloudError, type Metrics } from '../ports/index.ts';
import { callerName } from './caller.ts';

const poolOf = ({ metadata }: NodeClaim): string => metadata.labels?.[label.nodePool] ?? '';

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
    labels: [...labels, 'error', 'nodepool'],
  });
  const metered = async <T>(method: string, nodepool: string, call: () => Promise<T>): Promise<T> => {
    const of = { controller: callerName(), method, provider: cloud.name };
    const startedMs = clock.elapsed();
    try {
      return await call();
    } catch (error) {
      errors.add({ ...of, error: (isCloudError(error) && error.metricName) || 'unknown', nodepool });
      throw error;
    } finally {
      durations.observe((clock.elapsed() - startedMs) / 1000, of);
    }
  };
  const reboot = cloud.reboot?.bind(cloud);
  return cloudWith(cloud, {
    ...(reboot === undefined
      ? {}
      : { reboot: (claim, id, options) => metered('Reboot', poolOf(claim), () => reboot(claim, id, options)) }),
    create: (claim, options) => metered('Create', poolOf(claim), () => cloud.create(claim, options)),
    delete: (claim, options) => metered('Delete', poolOf(claim), () => cloud.delete(claim, options)),
    get: (providerID, options) => metered('Get', '', () => cloud.get(providerID, options)),
    list: (options) => metered('List', '', () => cloud.list(options)),
    instanceTypes: (pool, options) =>
      metered('GetInstanceTypes', pool?.metadata.name ?? '', () => cloud.instanceTypes(pool, options)),
    driftReason: (claim, options) => metered('IsDrifted', poolOf(claim), () => cloud.driftReason(claim, options)),
  });
}
