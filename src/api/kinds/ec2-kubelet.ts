// Kubelet settings of an EC2NodeClass. Those named here change what fits on a node, or when it evicts, and are checked at
// admission. Any other field of the kubelet's configuration is kept as it was written, whatever version of Kubernetes it
// belongs to; the controller checks those (kubelet-configuration.ts) and says so in the status.
import {
  flag,
  int32,
  integerOrText,
  listOf,
  mapOf,
  object,
  optional,
  quantityPattern,
  rule,
  rules,
  text,
} from '../schema/build.ts';
import type { ValidationRule } from '../schema/structural.ts';
import { goDuration } from './patterns.ts';

const reservable = ['cpu', 'memory', 'ephemeral-storage', 'pid'];

const signals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
];

const quoted = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(',');

const keysAmong = (field: string, names: readonly string[]): ValidationRule =>
  rule(`self.all(k, k in [${quoted(names)}])`, `valid keys for ${field} are [${quoted(names)}]`);

const reserved = (field: string, description: string) =>
  optional(
    mapOf(description, text('An amount, or an expression that gives one for each instance type.'), {
      ...rules(
        keysAmong(field, reservable),
        rule("self.all(k, !self[k].startsWith('-'))", `${field} value cannot be a negative resource quantity`),
      ),
    }),
  );

/** A share of up to 100 %, or a quantity, or nothing. */
const threshold = `^(([0-9]{1,2}([.][0-9]+)?|100([.]0+)?)%|${quantityPattern.slice(1, -1)}|)$`;

const eviction = (field: string, description: string) =>
  optional(mapOf(description, text('A share or an amount.', { pattern: threshold }), rules(keysAmong(field, signals))));

/** Every key of one map must be in the other. */
const paired = (field: string, other: string): ValidationRule =>
  rule(
    `!has(self.${field}) || self.${field}.all(k, has(self.${other}) && k in self.${other})`,
    `${field} OwnerKey does not have a matching ${other}`,
  );

const percent = (description: string) => optional(int32(description, { minimum: 0, maximum: 100 }));

export const kubelet = () =>
  object(
    'Settings of the kubelet.',
    {
      clusterDNS: optional(listOf('Addresses of the cluster DNS.', text('An address.'))),
      maxPods: optional(
        integerOrText('Most pods on a node, or an expression that gives it for each instance type.', {
          minimum: 0,
          maximum: 2_147_483_647,
        }),
      ),
      podsPerCore: optional(int32('Most pods per CPU.', { minimum: 0 })),
      systemReserved: reserved('systemReserved', 'Resources kept for the system.'),
      kubeReserved: reserved('kubeReserved', 'Resources kept for Kubernetes.'),
      evictionHard: eviction('evictionHard', 'Thresholds that evict at once.'),
      evictionSoft: eviction('evictionSoft', 'Thresholds that evict after a grace period.'),
      evictionSoftGracePeriod: optional(
        mapOf(
          'Grace period of each soft threshold.',
          text('A duration.', { pattern: goDuration }),
          rules(keysAmong('evictionSoftGracePeriod', signals)),
        ),
      ),
      evictionMaxPodGracePeriod: optional(int32('Most seconds a pod gets when a soft threshold evicts it.')),
      imageGCHighThresholdPercent: percent('Disk use that starts the removal of images.'),
      imageGCLowThresholdPercent: percent('Disk use at which the removal stops.'),
      cpuCFSQuota: optional(flag('Whether CPU limits are enforced.')),
    },
    {
      'x-kubernetes-preserve-unknown-fields': true,
      ...rules(
        rule(
          '!has(self.imageGCHighThresholdPercent) || !has(self.imageGCLowThresholdPercent) || ' +
            'self.imageGCHighThresholdPercent > self.imageGCLowThresholdPercent',
          'imageGCHighThresholdPercent must be greater than imageGCLowThresholdPercent',
        ),
        paired('evictionSoft', 'evictionSoftGracePeriod'),
        paired('evictionSoftGracePeriod', 'evictionSoft'),
      ),
    },
  );
