// The labels a node of an instance type can have, as requirements. Every key the provider registers is present: one
// without a value says DoesNotExist, so that "has no GPU" can be asked for.

import { awsLabel, label } from '../../api/names.ts';
import type { RequirementSpec } from '../../core/index.ts';
import { amiFamilies, operatingSystemOf } from './ami-family.ts';
import type { CapacityReservation, InstanceTypeContext } from './context.ts';
import { architectureOf, type InstanceTypeInfo } from './instance-type-info.ts';

/** `c6gn.xlarge` → c, 6; `u-6tb1.56xlarge` → u, 1; `u7i-12tb.224xlarge` → u, 7. */
const scheme = /^([a-z]+)(?:-[0-9]+tb)?([0-9]+).*\./;

/** Adds a label, or says that the type has none. */
type AddLabel = (key: string, value: string | number | boolean | undefined) => void;

function kebab(text: string | undefined): string | undefined {
  return text?.toLowerCase().replaceAll(' ', '-');
}

/** Everything but zones, capacity types and reservations, which depend on where and how the type is offered. */
function addTypeLabels(info: InstanceTypeInfo, context: InstanceTypeContext, add: AddLabel): void {
  const [family, size] = splitName(info.InstanceType);
  const [, category, generation] = scheme.exec(info.InstanceType) ?? [];
  const ebs = info.EbsInfo;
  const storage = info.InstanceStorageInfo;
  const hasNvme = storage !== undefined && storage.NvmeSupport !== 'unsupported';
  add(awsLabel.instanceCategory, category);
  add(awsLabel.instanceGeneration, generation);
  add(awsLabel.instanceFamily, family);
  add(awsLabel.instanceSize, size);
  add(awsLabel.instanceCapabilityFlex, family.includes('-flex'));
  add(awsLabel.instanceCpu, info.VCpuInfo.DefaultVCpus);
  add(awsLabel.instanceCpuManufacturer, kebab(info.ProcessorInfo?.Manufacturer));
  add(
    awsLabel.instanceCpuSustainedClockSpeedMhz,
    Math.round((info.ProcessorInfo?.SustainedClockSpeedInGhz ?? 0) * 1000),
  );
  add(awsLabel.instanceMemory, info.MemoryInfo.SizeInMiB);
  add(
    awsLabel.instanceEbsBandwidth,
    ebs?.EbsOptimizedSupport === 'default' ? ebs.EbsOptimizedInfo?.MaximumBandwidthInMbps : undefined,
  );
  add(awsLabel.instanceNetworkBandwidth, context.bandwidthMbps[info.InstanceType]);
  add(awsLabel.instanceHypervisor, info.Hypervisor ?? '');
  add(awsLabel.instanceEncryptionInTransitSupported, info.NetworkInfo?.EncryptionInTransitSupported ?? false);
  add(awsLabel.instanceLocalNvme, hasNvme ? storage.TotalSizeInGB : undefined);
}

function addGpuLabels(info: InstanceTypeInfo, add: AddLabel): void {
  const gpus = info.GpuInfo?.Gpus ?? [];
  const gpu = gpus.length === 1 ? gpus[0] : undefined;
  add(awsLabel.instanceGpuName, kebab(gpu?.Name));
  add(awsLabel.instanceGpuManufacturer, kebab(gpu?.Manufacturer));
  add(awsLabel.instanceGpuCount, gpu === undefined ? undefined : (gpu.Count ?? 0));
  add(awsLabel.instanceGpuMemory, gpu?.MemoryInfo?.SizeInMiB);
}

/** A Neuron device counts as AWS's own; other accelerators only where EC2 lists no Neuron device at all. */
function addAcceleratorLabels(info: InstanceTypeInfo, add: AddLabel): void {
  const neuron = info.NeuronInfo?.NeuronDevices;
  const list = neuron ?? info.InferenceAcceleratorInfo?.Accelerators ?? [];
  const device = list.length === 1 ? list[0] : undefined;
  const manufacturer = neuron === undefined ? kebab(device?.Manufacturer) : 'aws';
  add(awsLabel.instanceAcceleratorName, kebab(device?.Name));
  add(awsLabel.instanceAcceleratorManufacturer, device === undefined ? undefined : manufacturer);
  add(awsLabel.instanceAcceleratorCount, device === undefined ? undefined : (device.Count ?? 0));
}

/** Zones of the class in which EC2 offers the type, in order. */
export function zonesOfType(info: InstanceTypeInfo, context: InstanceTypeContext): string[] {
  const offered = context.zonesOfType[info.InstanceType] ?? [];
  return context.classZones.map((zone) => zone.zone).filter((zone) => offered.includes(zone));
}

/** `on-demand` and `spot`, as far as EC2 sells the type so. */
export function purchasableCapacityTypes(info: InstanceTypeInfo): ('on-demand' | 'spot')[] {
  return (info.SupportedUsageClasses ?? ['on-demand']).filter((usage) => usage === 'on-demand' || usage === 'spot');
}

export type RequirementBuilder = (info: InstanceTypeInfo) => RequirementSpec[];

/** Equal requirements of different types are one object: a catalogue has tens of thousands, few of them distinct. */
class Shared {
  private readonly known = new Map<string, Map<string | number | boolean | undefined, RequirementSpec>>();

  of(key: string, value: string | number | boolean | undefined): RequirementSpec {
    return this.found(key, value) ?? this.keep(key, value, oneOf(key, value === undefined ? [] : [String(value)]));
  }

  ofList(key: string, values: string[]): RequirementSpec {
    const id = values.length === 0 ? undefined : values.join();
    return this.found(key, id) ?? this.keep(key, id, oneOf(key, values));
  }

  private found(key: string, id: string | number | boolean | undefined): RequirementSpec | undefined {
    return this.known.get(key)?.get(id);
  }

  private keep(key: string, id: string | number | boolean | undefined, requirement: RequirementSpec): RequirementSpec {
    const ofKey = this.known.get(key) ?? new Map<string | number | boolean | undefined, RequirementSpec>();
    this.known.set(key, ofKey.set(id, requirement));
    return requirement;
  }
}

/** What is the same for every class: most labels of a type. Made once per type, for all classes that are ever listed. */
const labelsByTable = new WeakMap<InstanceTypeContext['bandwidthMbps'], WeakMap<InstanceTypeInfo, RequirementSpec[]>>();
const sharedLabels = new Shared();

function labelsOf(info: InstanceTypeInfo, context: InstanceTypeContext): RequirementSpec[] {
  let ofTypes = labelsByTable.get(context.bandwidthMbps);
  if (ofTypes === undefined) labelsByTable.set(context.bandwidthMbps, (ofTypes = new WeakMap()));
  let labels = ofTypes.get(info);
  if (labels === undefined) {
    const made: RequirementSpec[] = [];
    const add: AddLabel = (key, value) => void made.push(sharedLabels.of(key, value));
    addTypeLabels(info, context, add);
    addGpuLabels(info, add);
    addAcceleratorLabels(info, add);
    ofTypes.set(info, (labels = made));
  }
  return labels;
}

export function requirementBuilder(context: InstanceTypeContext): RequirementBuilder {
  const shared = new Shared();
  const family = amiFamilies[context.amiFamily];
  const group = context.placementGroup;
  const sameForAll = [
    oneOf(label.region, [context.region]),
    oneOf(label.windowsBuild, family.windowsBuild === undefined ? [] : [family.windowsBuild]),
    oneOf(awsLabel.instanceTenancy, ['default', 'dedicated']),
    oneOf(awsLabel.placementGroupId, group === undefined ? [] : [group.id]),
    oneOf(awsLabel.placementGroupPartition, partitionsOf(context)),
    oneOf(awsLabel.nitroSandbox, context.enclaves ? ['true'] : []),
  ];
  return (info) => {
    const architecture = architectureOf(info);
    const zones = zonesOfType(info, context);
    const reservations = context.reservations.filter(({ instanceType }) => instanceType === info.InstanceType);
    const capacityTypes = purchasableCapacityTypes(info);
    const distinct = (valueOf: (reservation: CapacityReservation) => string): string[] =>
      [...new Set(reservations.map(valueOf))].sort();
    return [
      shared.of(label.instanceType, info.InstanceType),
      shared.of(label.arch, architecture),
      shared.of(label.os, operatingSystemOf(context.amiFamily, architecture)),
      shared.ofList(label.zone, zones),
      shared.ofList(awsLabel.zoneId, zoneIdsOf(zones, context)),
      shared.ofList(label.capacityType, reservations.length === 0 ? capacityTypes : [...capacityTypes, 'reserved']),
      shared.ofList(
        awsLabel.capacityReservationId,
        distinct(({ id }) => id),
      ),
      shared.ofList(
        awsLabel.capacityReservationType,
        distinct(({ type }) => type),
      ),
      shared.ofList(
        awsLabel.capacityReservationInterruptible,
        distinct(({ interruptible }) => String(interruptible)),
      ),
      ...labelsOf(info, context),
      ...sameForAll,
    ];
  };
}

function zoneIdsOf(zones: string[], context: InstanceTypeContext): string[] {
  return context.classZones.flatMap(({ zone, zoneId }) =>
    zoneId !== undefined && zones.includes(zone) ? [zoneId] : [],
  );
}

/** Partition numbers of the class's placement group, as text. */
export function partitionsOf(context: InstanceTypeContext): string[] {
  const count = context.placementGroup?.partitions ?? 0;
  return Array.from({ length: count }, (_, index) => String(index + 1));
}

export function oneOf(key: string, values: string[]): RequirementSpec {
  return values.length === 0 ? { key, operator: 'DoesNotExist' } : { key, operator: 'In', values };
}

function splitName(name: string): [family: string, size: string] {
  const dot = name.indexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1)];
}
