// zonalshift: follows the shifts that ARC applies to the cluster, and tells every NodePool that could use a zone when it
// closes and when it opens again. Offerings of a closed zone are unavailable; that is decided where offerings are made.
import { awsLabel, label, type NodePool } from '../../api/index.ts';
import type { FollowedZonalShifts } from '../../aws/index.ts';
import { aboutPool, again, type Controller, type ControllerContext } from '../../controllers/index.ts';
import { poolAllows } from '../pool-allows.ts';

const name = 'zonalshift';
const everyMs = 30_000;

export interface ZoneOfClass {
  zone: string;
  zoneId: string;
}

export interface ZonalShiftOptions {
  shifts: FollowedZonalShifts;
  /** Zones that the pool's node class has subnets in. */
  zonesOf(pool: NodePool): readonly ZoneOfClass[];
}

export function zonalShiftController(context: ControllerContext, { shifts, zonesOf }: ZonalShiftOptions): Controller {
  const { cluster, recorder, isManaged } = context;
  const log = context.log.with({ controller: name });
  let known = new Set<string>();

  const affected = (zoneId: string): { pool: NodePool; zone: string }[] =>
    cluster.nodePools
      .list()
      .filter(({ spec }) => isManaged(spec.template.spec.nodeClassRef))
      .flatMap((pool) => {
        const found = zonesOf(pool).find((each) => each.zoneId === zoneId);
        return found !== undefined && canUse(pool, found) ? [{ pool, zone: found.zone }] : [];
      });

  const tell = (zoneId: string, isStart: boolean): void => {
    for (const { pool, zone } of affected(zoneId)) {
      recorder.publish({
        subject: aboutPool(pool),
        type: isStart ? 'Warning' : 'Normal',
        reason: isStart ? 'ZonalShiftActive' : 'ZonalShiftCleared',
        message: isStart
          ? `Zonal shift detected: offerings in zone ${zone} (${zoneId}) are unavailable for this NodePool`
          : `Zonal shift cleared: offerings in zone ${zone} (${zoneId}) are available again for this NodePool`,
        // Reported on change only; a zone that closes again soon is news.
        dedupeMs: 0,
      });
    }
    log.info(isStart ? 'zonal shift active' : 'zonal shift cleared', { 'zone-id': zoneId });
  };

  return {
    name,
    sources: [],
    startKeys: ['all'],
    concurrency: 1,
    async reconcile() {
      await shifts.refresh();
      const now = new Set(shifts.shiftedZones());
      for (const zoneId of now) if (!known.has(zoneId)) tell(zoneId, true);
      for (const zoneId of known) if (!now.has(zoneId)) tell(zoneId, false);
      known = now;
      return again(everyMs);
    },
  };
}

function canUse(pool: NodePool, { zone, zoneId }: ZoneOfClass): boolean {
  return poolAllows(pool, label.zone, zone) && poolAllows(pool, awsLabel.zoneId, zoneId);
}
