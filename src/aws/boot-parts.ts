// What a machine is given at its first boot, and the image and volumes it boots from: the class, the claim and the cluster
// put together, in the shape launches ask for.
import type { Log } from '../ports/index.ts';
import { blockDeviceRequests, blockDevicesOf } from './images/block-devices.ts';
import { imageFor } from './images/images-for.ts';
import type { BootParts } from './launch-templates/launch-plan.ts';
import { type ClusterFacts, type UserDataRequest, userDataInput } from './user-data/input.ts';
import { userDataFor } from './user-data/user-data.ts';

/** What nodes must know about the cluster. `serviceCidr` is filled in by whoever needs it first. */
export interface NodeFacts extends ClusterFacts {
  ipFamily: 'ipv4' | 'ipv6';
  resolveServiceCidr(): Promise<void>;
}

export interface BootPartsOptions {
  region: string;
  clusterName: string;
  reservedCapacity: boolean;
  cluster: NodeFacts;
  log: Log;
}

export function bootPartsOf({ region, clusterName, reservedCapacity, cluster, log }: BootPartsOptions): BootParts {
  return {
    region,
    clusterName,
    isIpv6: cluster.ipFamily === 'ipv6',
    reservedCapacity,
    imageFor: (nodeClass, type) => imageFor(type, nodeClass.status?.amis ?? [])?.id,
    blockDevicesOf: (nodeClass) => blockDeviceRequests(blockDevicesOf(nodeClass)),
    bootOf({ nodeClass, claim, capacityType, pods, reserved }) {
      const request: UserDataRequest = {
        nodeClass,
        claim: { ...claim.spec, labels: claim.metadata.labels },
        cluster,
        maxPods: pods,
        reserved,
        capacityType,
        onIgnored: (keys) =>
          log.error('ignoring settings of user data', keys.join(', '), {
            EC2NodeClass: { name: nodeClass.metadata.name },
          }),
      };
      const { family, kubelet, labels, taints, raid0, custom } = userDataInput(request);
      const { name, endpoint, caBundle, dnsIp } = cluster;
      return {
        // Nothing of the claim but what reaches the text: claims that differ in the types they allow share a template.
        // The range of services is the same for as long as the cluster lives. The images' names tell Bottlerocket's
        // version, which decides about one of its settings.
        inputs: {
          family,
          kubelet,
          labels,
          taints,
          raid0,
          custom,
          cluster: { name, endpoint, caBundle, dnsIp },
          amis: family === 'Bottlerocket' ? nodeClass.status?.amis : undefined,
        },
        render: async () => {
          if (family === 'AL2023') await cluster.resolveServiceCidr();
          return Buffer.from(userDataFor(request)).toString('base64');
        },
      };
    },
  };
}
