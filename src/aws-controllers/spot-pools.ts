// The NodePools of ours that may launch spot: those that must hear of interruptions.
import { capacityType, label, type NodePool } from '../api/index.ts';
import type { ControllerContext } from '../controllers/index.ts';
import { poolAllows } from './pool-allows.ts';

export function isSpotPool({ isManaged }: Pick<ControllerContext, 'isManaged'>, pool: NodePool): boolean {
  return (
    pool.metadata.deletionTimestamp === undefined &&
    isManaged(pool.spec.template.spec.nodeClassRef) &&
    poolAllows(pool, label.capacityType, capacityType.spot)
  );
}
