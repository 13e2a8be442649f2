// Which templates a launch needs: types share one when they boot the same image, with as many EFA interfaces, telling the
// kubelet the same number of pods, and into the same reservation. Everything else about a launch is the same for all.
import { annotation, awsLabel, type EC2NodeClass, kubeletExpressions, type NodeClaim } from '../../api/index.ts';
import type { InstanceTypeSpec, OfferingSpec } from '../../core/index.ts';
import type { Candidate, ReservationFacts } from '../fleet/candidates.ts';
import { reservationOf } from '../fleet/candidates.ts';
import { efaDriver } from '../instance-types/devices.ts';
import type { LaunchTemplateSpec } from './launch-template.ts';

export const efaResource = 'vpc.amazonaws.com/efa';
/** Asked for by pods that run Nitro enclaves: today's name, and that of Karpenter 1.14. */
const enclaveResources = ['eks.amazonaws.com/nitro-sandbox', 'eks.amazonaws.com/nip-slots'];

export interface LaunchWish {
  nodeClass: EC2NodeClass;
  claim: NodeClaim;
  candidates: readonly Candidate[];
  /** Names of every type the claim may be, also of those that are not sold as this capacity type. */
  allTypes: readonly string[];
  capacityType: string;
  tenancy: string;
  placementGroup: { id: string; strategy: string } | undefined;
  tags: Readonly<Record<string, string>>;
}

/** What a node is given at its first boot. */
export interface BootWish {
  nodeClass: EC2NodeClass;
  claim: NodeClaim;
  capacityType: string;
  imageId: string;
  pods: number;
  /** Amounts that the class gives as expressions, worked out for the types of the template. */
  reserved: ReservedAmounts;
}

export type ReservedAmounts = Partial<Record<'kubeReserved' | 'systemReserved', Record<string, string>>>;

export interface Boot {
  /** Everything the user data is rendered from, for the template's name. */
  inputs: unknown;
  /** In base64. */
  render(): string | Promise<string>;
}

/** What other parts of the provider know about booting a machine of a class. */
export interface BootParts {
  region: string;
  clusterName: string;
  isIpv6: boolean;
  /** Feature gate. */
  reservedCapacity: boolean;
  /** The image a class boots a type from; undefined when none fits. */
  imageFor(nodeClass: EC2NodeClass, type: InstanceTypeSpec): string | undefined;
  blockDevicesOf(nodeClass: EC2NodeClass): LaunchTemplateSpec['blockDevices'];
  bootOf(wish: BootWish): Boot;
}

export interface PlannedTemplate {
  spec: LaunchTemplateSpec;
  render: Boot['render'];
  candidates: Candidate[];
}

export function plannedTemplates(wish: LaunchWish, parts: BootParts): PlannedTemplate[] {
  const groups = new Map<string, { first: TemplateKey; candidates: Candidate[] }>();
  for (const { type, offerings } of wish.candidates) {
    const imageId = parts.imageFor(wish.nodeClass, type);
    if (imageId === undefined) continue;
    for (const [reservation, own] of byReservation(offerings)) {
      const first: TemplateKey = {
        imageId,
        efaCount: efaCountOf(wish, type),
        pods: podsOf(type),
        reserved: reservedOf(wish, type),
        reservation,
      };
      const key = JSON.stringify(first);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { first, candidates: [{ type, offerings: own }] });
      else group.candidates.push({ type, offerings: own });
    }
  }
  return [...groups.values()].map(({ first, candidates }) => {
    const { inputs, render } = parts.bootOf({ ...wish, ...first });
    return { spec: specOf(wish, first, parts, inputs), render, candidates };
  });
}

interface TemplateKey {
  imageId: string;
  efaCount: number;
  pods: number;
  reserved: ReservedAmounts;
  reservation: ReservationFacts | undefined;
}

function specOf(wish: LaunchWish, key: TemplateKey, parts: BootParts, userDataInputs: unknown): LaunchTemplateSpec {
  const { nodeClass, placementGroup } = wish;
  const { spec, status, metadata } = nodeClass;
  const partition = partitionOf(wish);
  return {
    clusterName: parts.clusterName,
    nodeClassName: metadata.name ?? '',
    region: parts.region,
    imageId: key.imageId,
    instanceProfile: status?.instanceProfile ?? '',
    securityGroupIds: (status?.securityGroups ?? []).map(({ id }) => id),
    userDataInputs,
    blockDevices: parts.blockDevicesOf(nodeClass),
    isIpv6: parts.isIpv6,
    metadataOptions: spec.metadataOptions,
    detailedMonitoring: spec.detailedMonitoring ?? false,
    associatePublicIpAddress: spec.associatePublicIPAddress,
    ipPrefixCount: spec.ipPrefixCount,
    networkInterfaces: spec.networkInterfaces ?? [],
    efaCount: key.efaCount,
    connectionTracking: spec.connectionTracking,
    cpuOptions: spec.cpuOptions,
    enclave: hasEnclave(wish),
    tenancy: wish.tenancy,
    placementGroup:
      placementGroup === undefined
        ? undefined
        : { id: placementGroup.id, ...(partition === undefined ? {} : { partition: Number(partition) }) },
    capacityType: wish.capacityType,
    reservation: key.reservation,
    reservedCapacity: parts.reservedCapacity,
    tags: wish.tags,
  };
}

/** The partition a claim insists on: the first in text order of those it names. */
export function partitionOf({
  claim,
  placementGroup,
}: Pick<LaunchWish, 'claim' | 'placementGroup'>): string | undefined {
  if (placementGroup?.strategy !== 'partition') return undefined;
  const { requirements } = claim.spec;
  const named = requirements.find(({ key, operator }) => key === awsLabel.placementGroupPartition && operator === 'In');
  return named?.values?.toSorted()[0];
}

export function requested(claim: NodeClaim, resource: string): boolean {
  const amount = claim.spec.resources?.requests?.[resource];
  return amount !== undefined && String(amount) !== '0';
}

/** The class decides; where it says nothing, a claim that names the resource does, whatever the amount. */
function hasEnclave({ nodeClass, claim }: LaunchWish): boolean {
  const requests = claim.spec.resources?.requests ?? {};
  return nodeClass.spec.enclaveOptions?.enabled ?? enclaveResources.some((resource) => resource in requests);
}

function efaCountOf({ claim, nodeClass }: LaunchWish, { capacity }: InstanceTypeSpec): number {
  if ((nodeClass.spec.networkInterfaces ?? []).length > 0) return 0;
  const drivers = claim.metadata.annotations?.[annotation.requestedDraDrivers]?.split(',') ?? [];
  return requested(claim, efaResource) || drivers.includes(efaDriver) ? Number(capacity[efaResource] ?? 0) : 0;
}

/** The planner counted with them: a node is configured with the same. */
function reservedOf({ nodeClass }: LaunchWish, { overhead }: InstanceTypeSpec): ReservedAmounts {
  const reserved: ReservedAmounts = {};
  for (const { field, resource } of kubeletExpressions(nodeClass.spec.kubelet ?? {})) {
    const amount = field === 'maxPods' ? undefined : overhead?.[field]?.[resource];
    if (field !== 'maxPods' && amount !== undefined)
      reserved[field] = { ...reserved[field], [resource]: String(amount) };
  }
  return reserved;
}

const podsOf = ({ capacity }: InstanceTypeSpec): number => Number(capacity['pods'] ?? 0);

/** Offerings outside reservations stay together; each reservation stands alone. */
function byReservation(offerings: readonly OfferingSpec[]): [ReservationFacts | undefined, OfferingSpec[]][] {
  const groups = new Map<string, [ReservationFacts | undefined, OfferingSpec[]]>();
  for (const offering of offerings) {
    const reservation = reservationOf(offering);
    const group = groups.get(reservation?.id ?? '');
    if (group === undefined) groups.set(reservation?.id ?? '', [reservation, [offering]]);
    else group[1].push(offering);
  }
  return [...groups.values()];
}
