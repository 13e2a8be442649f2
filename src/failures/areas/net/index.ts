// The entries of net/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { clusterDnsUnreachableFromNode } from './cluster-dns-unreachable-from-node.ts';
import { discoveryTagMissing } from './discovery-tag-missing.ts';
import { discoveryTagNotClusterScoped } from './discovery-tag-not-cluster-scoped.ts';
import { maxPodsAboveIpCapacity } from './max-pods-above-ip-capacity.ts';
import { securityGroupsForPodsSlowStart } from './security-groups-for-pods-slow-start.ts';
import { subnetAddressesExhausted } from './subnet-addresses-exhausted.ts';
import { trunkEniReducesDensity } from './trunk-eni-reduces-density.ts';

export const net: readonly Failure[] = [
  maxPodsAboveIpCapacity,
  trunkEniReducesDensity,
  subnetAddressesExhausted,
  securityGroupsForPodsSlowStart,
  clusterDnsUnreachableFromNode,
  discoveryTagMissing,
  discoveryTagNotClusterScoped,
];
