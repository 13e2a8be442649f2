// One instance type of the simulated provider, from the few facts a catalogue gives about it.
import { kwokLabel, label } from '../../../api/names.ts';
import type { InstanceTypeSpec, OfferingSpec, RequirementSpec, ResourceQuantities } from '../../../core/index.ts';

export interface SimulatedType {
  name: string;
  architecture: string;
  operatingSystems: string[];
  resources: ResourceQuantities;
  offerings: OfferingSpec[];
}

/** What the kubelet of a simulated machine keeps for itself. */
const kubeReserved = { cpu: '100m', memory: '10Mi' } as const;
/** The kubelet's own default, for catalogues that say nothing about pods. */
const defaultPods = '110';

/** The size part of a name such as `m5.xlarge`. */
const awsStyleSize = /^[a-z0-9-]+\.([a-z0-9-]+)$/;

export function simulatedType(type: SimulatedType): InstanceTypeSpec {
  const cpu = String(type.resources['cpu'] ?? '0');
  return {
    name: type.name,
    requirements: [
      oneOf(label.instanceType, [type.name]),
      oneOf(label.arch, [type.architecture]),
      oneOf(label.os, type.operatingSystems),
      oneOf(label.zone, valuesIn(type.offerings, label.zone)),
      oneOf(label.capacityType, valuesIn(type.offerings, label.capacityType)),
      // For names of no known shape the size is the cpu count, so that numeric operators work on it.
      oneOf(kwokLabel.instanceSize, [awsStyleSize.exec(type.name)?.[1] ?? cpu]),
      oneOf(kwokLabel.instanceFamily, [familyOf(type.name)]),
      oneOf(kwokLabel.instanceCpu, [cpu]),
      oneOf(kwokLabel.instanceMemory, [String(type.resources['memory'] ?? '0')]),
    ],
    capacity: { pods: defaultPods, ...type.resources },
    overhead: { kubeReserved },
    offerings: type.offerings,
  };
}

/** The name up to its first dot or dash, else its first character. */
function familyOf(name: string): string {
  const end = name.search(/[.-]/);
  return end < 0 ? name.slice(0, 1) : name.slice(0, end);
}

/** Distinct values the offerings have for a key, in their order. */
function valuesIn(offerings: readonly OfferingSpec[], key: string): string[] {
  const values = new Set<string>();
  for (const { requirements } of offerings) {
    for (const requirement of requirements) {
      if (requirement.key === key) for (const value of requirement.values ?? []) values.add(value);
    }
  }
  return [...values];
}

function oneOf(key: string, values: string[]): RequirementSpec {
  return values.length === 0 ? { key, operator: 'DoesNotExist' } : { key, operator: 'In', values };
}
