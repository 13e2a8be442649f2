// Another provider's instance types, offered by the simulated one: its machines with nothing behind them. Whoever builds
// the cluster brings the types; they keep their own labels and get those of the simulated provider beside them.
import { awsGroup, awsWellKnownLabels, kwokLabel } from '../../../api/names.ts';
import type { InstanceTypeSpec, ProviderFacts } from '../../../core/index.ts';
import { kwokProviderFacts } from './provider-facts.ts';

export interface BorrowedCatalogue {
  catalogue: readonly InstanceTypeSpec[];
  facts: ProviderFacts;
}

/** EC2's types (names such as `m5.large`, labels of the AWS provider). */
export function borrowedEc2Catalogue(types: readonly InstanceTypeSpec[]): BorrowedCatalogue {
  const facts = kwokProviderFacts(awsWellKnownLabels);
  return {
    catalogue: types.map(withSimulatedLabels),
    facts: { ...facts, restrictedLabelDomains: [...(facts.restrictedLabelDomains ?? []), awsGroup] },
  };
}

function withSimulatedLabels(type: InstanceTypeSpec): InstanceTypeSpec {
  const [family = type.name, size = String(type.capacity['cpu'])] = type.name.split('.');
  const values: [key: string, value: string][] = [
    [kwokLabel.instanceFamily, family],
    [kwokLabel.instanceSize, size],
    [kwokLabel.instanceCpu, String(type.capacity['cpu'])],
    [kwokLabel.instanceMemory, String(type.capacity['memory'])],
  ];
  return {
    ...type,
    requirements: [
      ...type.requirements,
      ...values.map(([key, value]) => ({ key, operator: 'In' as const, values: [value] })),
    ],
  };
}
