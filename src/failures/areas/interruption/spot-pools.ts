// Where spot capacity is in use: pools that name it, and nodes that are spot.
import type { Evidence } from '../../evidence.ts';
import { listAt, textAt, textsAt } from '../../fields.ts';
import { labelsOf, type Stored } from '../../objects.ts';

const capacityType = 'karpenter.sh/capacity-type';

export function usersOfSpot({ objects }: Evidence): Stored[] {
  const pools = [...objects.of('NodePool'), ...objects.of('Provisioner')].filter(({ object, kind }) => {
    const path = kind === 'NodePool' ? ['spec', 'template', 'spec', 'requirements'] : ['spec', 'requirements'];
    return listAt(object, ...path).some((one) => textAt(one, 'key') === capacityType && allowsSpot(one));
  });
  const nodes = objects.of('Node').filter(({ object }) => textAt(labelsOf(object), capacityType) === 'spot');
  return [...pools, ...nodes];
}

function allowsSpot(requirement: unknown): boolean {
  const operator = textAt(requirement, 'operator');
  const isNamed = textsAt(requirement, 'values').includes('spot');
  return operator === 'In' ? isNamed : operator === 'NotIn' ? !isNamed : false;
}
