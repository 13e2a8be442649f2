// What user data is made from, once the class, the claim and the cluster have been put together: everything a node needs
// to know to join. One builder per family of images turns it into text.
import { isIP, isIPv6 } from 'node:net';
import {
  type EC2NodeClass,
  kubeletExpressions,
  label,
  type NodeClaim,
  type StaticKubelet,
  staticKubelet,
  taint,
} from '../../api/index.ts';
import { formatGoDuration, KerfError, parseGoDuration } from '../../base/index.ts';
import { sameTaint } from '../../core/index.ts';
import { type AmiFamily, amiFamilyOf } from '../instance-types/ami-family.ts';
import type { ReservedAmounts } from '../launch-templates/launch-plan.ts';

export type KubeletSpec = StaticKubelet;
export type NodeTaint = NonNullable<NodeClaim['spec']['taints']>[number];

export interface ClusterFacts {
  name: string;
  endpoint: string;
  /** Base64 of the certificates in PEM. */
  caBundle?: string | undefined;
  /** Address of the cluster's DNS service. */
  dnsIp?: string | undefined;
  /** Addresses of services; only AL2023 asks for them. */
  serviceCidr?: string | undefined;
}

export interface UserDataRequest {
  nodeClass: Pick<EC2NodeClass, 'metadata' | 'spec' | 'status'>;
  claim: { labels?: Record<string, string> | undefined } & Pick<NodeClaim['spec'], 'taints' | 'startupTaints'>;
  cluster: ClusterFacts;
  /** Pods the node takes, unless the class says it. */
  maxPods: number;
  capacityType: string;
  /** What the class gives as expressions, for the types this is for. */
  reserved?: ReservedAmounts;
  /** Receives settings of the user's that had to be left out. */
  onIgnored?(keys: string[]): void;
}

export interface UserDataInput extends Omit<UserDataRequest, 'claim' | 'maxPods' | 'capacityType' | 'reserved'> {
  family: AmiFamily;
  kubelet: KubeletSpec;
  taints: readonly NodeTaint[];
  labels: Readonly<Record<string, string>>;
  raid0: boolean;
  /** What the user wrote, as it is; empty if it is nothing but blanks. */
  custom: string;
}

/** Domains whose labels a kubelet may not give to its own node; registration adds them later. */
const forbiddenDomains = ['kubernetes.io', 'k8s.io', 'node-restriction.kubernetes.io'];

function isForbidden(key: string): boolean {
  const slash = key.indexOf('/');
  const domain = slash < 0 ? '' : key.slice(0, slash);
  return forbiddenDomains.some((each) => domain === each || domain.endsWith(`.${each}`));
}

export function userDataInput(request: UserDataRequest): UserDataInput {
  const { nodeClass, claim, cluster, maxPods, capacityType } = request;
  const { spec } = nodeClass;
  const family = amiFamilyOf(spec);
  const labels = {
    ...claim.labels,
    [label.capacityType]: capacityType,
    ...(family === 'Custom' ? {} : { [label.doNotSyncTaints]: 'true' }),
  };
  const taints = [...(claim.taints ?? []), ...(claim.startupTaints ?? [])];
  if (!taints.some((each) => sameTaint(each, taint.unregistered))) taints.push({ ...taint.unregistered });
  const kubelet = withAmounts(spec.kubelet ?? {}, request.reserved ?? {});
  const hasDns = (kubelet.clusterDNS ?? []).length > 0;
  for (const address of kubelet.clusterDNS ?? []) refuseUnlessAddress(address);
  return {
    ...request,
    family,
    kubelet: {
      ...kubelet,
      maxPods: kubelet.maxPods ?? maxPods,
      ...(hasDns || cluster.dnsIp === undefined ? {} : { clusterDNS: [cluster.dnsIp] }),
    },
    taints,
    labels: Object.fromEntries(sorted(labels).filter(([key]) => !isForbidden(key))),
    raid0: spec.instanceStorePolicy === 'RAID0',
    custom: (spec.userData ?? '').trim() === '' ? '' : (spec.userData ?? ''),
  };
}

/** Without a value for each expression no node is booted: it would keep less for the system than its class asks for. */
function withAmounts(kubelet: NonNullable<EC2NodeClass['spec']['kubelet']>, reserved: ReservedAmounts): KubeletSpec {
  const complete = staticKubelet(kubelet);
  for (const { field, resource } of kubeletExpressions(kubelet)) {
    if (field === 'maxPods') continue;
    const amount = reserved[field]?.[resource];
    if (amount === undefined) {
      const message = `cannot boot nodes: the expression in spec.kubelet.${field}[${resource}] gives no amount for the instance type`;
      throw new KerfError('UserDataInvalid', message);
    }
    complete[field] = { ...complete[field], [resource]: amount };
  }
  return complete;
}

/** It becomes an argument of a script that runs as root. */
function refuseUnlessAddress(text: string): void {
  if (isIP(text) !== 0) return;
  const message = `cannot boot nodes with spec.kubelet.clusterDNS ${JSON.stringify(text)}: it is not an IP address; write one like 10.100.0.10`;
  throw new KerfError('UserDataInvalid', message);
}

/** Entries in the order of their keys: the same input always gives the same bytes. */
export const sorted = <T>(map: Readonly<Record<string, T>> | undefined): [string, T][] =>
  Object.entries(map ?? {}).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));

/** Grace periods as Go prints them, `90s` being `1m30s`. */
export function gracePeriods(kubelet: KubeletSpec): Record<string, string> | undefined {
  const periods = kubelet.evictionSoftGracePeriod;
  if (periods === undefined) return undefined;
  return Object.fromEntries(
    sorted(periods).map(([signal, text]) => [signal, formatGoDuration(parseGoDuration(text) ?? 0)]),
  );
}

export const isIpv6Cluster = ({ kubelet }: UserDataInput): boolean => isIPv6(kubelet.clusterDNS?.[0] ?? '');
