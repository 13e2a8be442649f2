// Storage that drivers keep account of (CSIStorageCapacity): kube-scheduler puts a pod with an unbound claim only where a
// driver says that a volume of that size fits. A node that is still coming up may publish its storage yet, and so may one
// that is not there: only complete nodes are judged.

import { compareQuantities, tryParseQuantity } from '../../base/index.ts';
import type { ClusterObjects } from '../kube/cluster-objects.ts';
import { selectorMatch } from '../kube/label-selector.ts';
import type { CSIStorageCapacity } from '../kube/objects.ts';
import type { Machine } from '../nodes/machines.ts';
import { driverOf } from './pod-volumes.ts';

/** Whether an unbound claim, by `namespace/name`, finds storage on the machine; undefined where all do. */
export function storageOn(objects: ClusterObjects, machine: Machine): ((claim: string) => boolean) | undefined {
  const counting = [...objects.csiDrivers.values()].some(({ spec }) => spec?.storageCapacity === true);
  const { node } = machine;
  if (!counting || node === undefined || !machine.initialized) return undefined;
  const labels = node.metadata.labels ?? {};
  const reachable = objects.storageCapacities.filter(({ nodeTopology }) => selectorMatch(nodeTopology)(labels));
  return (key) => {
    const claim = objects.volumeClaims.get(key);
    if (claim === undefined || (claim.spec?.volumeName ?? '') !== '') return true;
    const driver = driverOf(objects, claim);
    if (driver === undefined || objects.csiDrivers.get(driver)?.spec?.storageCapacity !== true) return true;
    const size = claim.spec?.resources?.requests?.['storage'];
    if (size === undefined) return true;
    const storageClass = claim.spec?.storageClassName;
    return reachable.some((capacity) => capacity.storageClassName === storageClass && holds(capacity, size));
  };
}

function holds({ capacity, maximumVolumeSize }: CSIStorageCapacity, size: string | number): boolean {
  const [most, wanted] = [maximumVolumeSize ?? capacity, size].map((each) =>
    each === undefined ? undefined : tryParseQuantity(each),
  );
  return most !== undefined && wanted !== undefined && compareQuantities(most, wanted) >= 0;
}
