// EC2NodeClass: settings of the kubelet.
import { accept, type CorpusCase, each, reject, shown, underRule } from './case.ts';
import { ec2Class } from './objects.ts';

const kubelet = (fields: object) => ec2Class({ kubelet: fields });
const signals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
];
const all = (value: string): Record<string, string> => Object.fromEntries(signals.map((signal) => [signal, value]));
const one = (value: unknown) => ({ 'memory.available': value });
/** Soft thresholds and their grace periods need each other. */
const soft = (value: unknown) => ({ evictionSoft: one(value), evictionSoftGracePeriod: one('1m') });

export const ec2KubeletCases: CorpusCase[] = [
  ...underRule(
    'kubelet',
    accept('kubelet: nothing set', kubelet({})),
    accept(
      'kubelet: plain fields',
      kubelet({
        clusterDNS: ['10.0.0.10'],
        maxPods: 0,
        podsPerCore: 0,
        evictionMaxPodGracePeriod: 60,
        cpuCFSQuota: false,
      }),
    ),
    ...each(['maxPods', 'podsPerCore'], (field) =>
      reject(
        `kubelet: negative ${field}`,
        kubelet({ [field]: -1 }),
        `spec.kubelet.${field}`,
        'should be greater than or equal to 0',
      ),
    ),
    reject(
      'kubelet: maxPods beyond 32 bits',
      kubelet({ maxPods: 3_000_000_000 }),
      'spec.kubelet.maxPods',
      'should be less than or equal to 2147483647',
    ),
    accept('kubelet: maxPods as an expression', kubelet({ maxPods: 'min(110, vcpus * 20)' })),
    accept(
      'kubelet: fields we do not interpret are kept',
      kubelet({ registryPullQPS: 10, logging: { format: 'json' } }),
      {
        stored: { 'spec.kubelet.registryPullQPS': 10, 'spec.kubelet.logging.format': 'json' },
      },
    ),
    accept('kubelet: fields of a future version are kept', kubelet({ notYet: { deep: [1, { a: 'b' }] } }), {
      stored: { 'spec.kubelet.notYet.deep': [1, { a: 'b' }] },
    }),
  ),
  ...underRule(
    'reserved resources',
    ...['systemReserved', 'kubeReserved'].flatMap((field) => [
      accept(
        `${field}: all`,
        kubelet({ [field]: { cpu: '100m', memory: '1Gi', 'ephemeral-storage': '5Gi', pid: '1000' } }),
      ),
      reject(
        `${field}: another resource`,
        kubelet({ [field]: { gpu: '1' } }),
        `spec.kubelet.${field}`,
        `valid keys for ${field} are ['cpu','memory','ephemeral-storage','pid']`,
      ),
      reject(
        `${field}: negative`,
        kubelet({ [field]: { cpu: '-100m' } }),
        `spec.kubelet.${field}`,
        `${field} value cannot be a negative resource quantity`,
      ),
      accept(`${field}: an expression`, kubelet({ [field]: { cpu: 'max(60, vcpus * 30)' } })),
      reject(
        `${field}: a number`,
        kubelet({ [field]: { cpu: 1 } }),
        `spec.kubelet.${field}.cpu`,
        'must be of type string',
      ),
    ]),
  ),
  ...underRule(
    'eviction thresholds',
    accept('evictionHard: all signals', kubelet({ evictionHard: all('5%') })),
    accept('evictionSoft: all signals', kubelet({ evictionSoft: all('5%'), evictionSoftGracePeriod: all('1m') })),
    ...each(['0%', '5%', '99.99%', '5.123%', '100%', '100.0%', '100.00%', '5Gi', '100Mi', '1.5', ''], (value) =>
      accept(`evictionHard ${shown(value)}`, kubelet({ evictionHard: one(value) })),
    ),
    ...each(['5%', '1Gi'], (value) => accept(`evictionSoft ${value}`, kubelet(soft(value)))),
    ...each(['5%3', '110%', '110GB', '101%', '100.1%', 'x'], (value) =>
      reject(
        `evictionHard ${value}`,
        kubelet({ evictionHard: one(value) }),
        'spec.kubelet.evictionHard.memory.available',
        'should match',
      ),
    ),
    ...each(['5%3', '110%', '110GB'], (value) =>
      reject(
        `evictionSoft ${value}`,
        kubelet(soft(value)),
        'spec.kubelet.evictionSoft.memory.available',
        'should match',
      ),
    ),
    ...each(['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod'], (field) =>
      reject(
        `${field}: another signal`,
        kubelet({ [field]: { 'memory.left': '5m' } }),
        `spec.kubelet.${field}`,
        `valid keys for ${field} are ['memory.available',`,
      ),
    ),
  ),
  ...underRule(
    'eviction grace periods',
    ...each(['1m', '1m30s', '90s', '500ms', '1.5h', '0', '+0', '-1m', '.5s'], (value) =>
      accept(`grace ${value}`, kubelet({ evictionSoft: one('5%'), evictionSoftGracePeriod: one(value) })),
    ),
    ...each(['soon', '5', '1d'], (value) =>
      reject(
        `grace ${value}`,
        kubelet({ evictionSoft: one('5%'), evictionSoftGracePeriod: one(value) }),
        'spec.kubelet.evictionSoftGracePeriod.memory.available',
        'should match',
      ),
    ),
    reject(
      'evictionSoft without a grace period',
      kubelet({ evictionSoft: one('5%') }),
      'spec.kubelet',
      'evictionSoft OwnerKey does not have a matching evictionSoftGracePeriod',
    ),
    reject(
      'evictionSoft with the grace period of another signal',
      kubelet({ evictionSoft: one('5%'), evictionSoftGracePeriod: { 'pid.available': '1m' } }),
      'spec.kubelet',
      'evictionSoft OwnerKey does not have',
    ),
    reject(
      'a grace period without evictionSoft',
      kubelet({ evictionSoftGracePeriod: one('1m') }),
      'spec.kubelet',
      'evictionSoftGracePeriod OwnerKey does not have a matching evictionSoft',
    ),
    accept('no soft thresholds at all', kubelet({ evictionSoft: {}, evictionSoftGracePeriod: {} })),
  ),
  ...underRule(
    'image garbage collection',
    accept('high alone', kubelet({ imageGCHighThresholdPercent: 50 })),
    accept('low alone', kubelet({ imageGCLowThresholdPercent: 50 })),
    accept('high above low', kubelet({ imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 49 })),
    ...each([50, 60], (low) =>
      reject(
        `high 50 and low ${low}`,
        kubelet({ imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: low }),
        'spec.kubelet',
        'imageGCHighThresholdPercent must be greater than imageGCLowThresholdPercent',
      ),
    ),
    reject(
      'high 101',
      kubelet({ imageGCHighThresholdPercent: 101 }),
      'spec.kubelet.imageGCHighThresholdPercent',
      'should be less than or equal to 100',
    ),
    reject(
      'low -1',
      kubelet({ imageGCLowThresholdPercent: -1 }),
      'spec.kubelet.imageGCLowThresholdPercent',
      'should be greater than or equal to 0',
    ),
  ),
];
