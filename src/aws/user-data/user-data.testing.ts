// A request for user data as a launch makes it, for tests that look at one part of the text.
import type { EC2NodeClass } from '../../api/index.ts';
import { nodeClass } from '../node-class.testing.ts';
import type { UserDataRequest } from './input.ts';

export type Family = NonNullable<EC2NodeClass['spec']['amiFamily']>;

export const cluster: UserDataRequest['cluster'] = {
  name: 'test-cluster',
  endpoint: 'https://test-cluster',
  caBundle: 'Y2EtYnVuZGxl',
  dnsIp: '10.0.100.10',
  serviceCidr: '10.100.0.0/16',
};

export function requestOf(
  amiFamily: Family,
  spec: Partial<EC2NodeClass['spec']> = {},
  over: Partial<UserDataRequest> = {},
): UserDataRequest {
  return {
    nodeClass: nodeClass({ amiFamily, amiSelectorTerms: [{ id: 'ami-1' }], ...spec }),
    claim: { labels: { team: 'a', 'karpenter.sh/nodepool': 'default' } },
    cluster,
    maxPods: 110,
    capacityType: 'on-demand',
    ...over,
  };
}

/** Every kubelet setting at once. */
export const fullKubelet: NonNullable<EC2NodeClass['spec']['kubelet']> = {
  clusterDNS: ['10.0.10.100', '10.0.10.101'],
  maxPods: 20,
  podsPerCore: 4,
  systemReserved: { memory: '1Gi', cpu: '100m' },
  kubeReserved: { cpu: '200m', 'ephemeral-storage': '3Gi' },
  evictionHard: { 'memory.available': '5%', 'nodefs.available': '1Gi' },
  evictionSoft: { 'memory.available': '10%' },
  evictionSoftGracePeriod: { 'memory.available': '90s' },
  evictionMaxPodGracePeriod: 60,
  imageGCHighThresholdPercent: 80,
  imageGCLowThresholdPercent: 50,
  cpuCFSQuota: false,
};
