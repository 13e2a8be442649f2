// Keeps a static pool from launching in circles: a claim that goes before its node registered is replaced after a wait
// that doubles from one second to one minute, until a node of the pool registers again. In memory only.

import { conditionType, isTrue, type NodeClaim } from '../../api/index.ts';
import { doubledMs } from '../../base/index.ts';

const waitsMs = { first: 1_000, most: 60_000 };

interface History {
  /** Claims made here whose end is not known yet. */
  outstanding: Set<string>;
  setbacks: number;
  notBeforeMs: number;
}

export class Setbacks {
  private readonly pools = new Map<string, History>();

  created(pool: string, claim: string): void {
    this.of(pool).outstanding.add(claim);
  }

  /** Looks at what became of the claims; returns how long to wait before making more. */
  waitMs(pool: string, claimOf: (name: string) => NodeClaim | undefined, nowMs: number): number {
    const record = this.of(pool);
    for (const name of record.outstanding) {
      const claim = claimOf(name);
      if (isTrue(claim?.status?.conditions, conditionType.registered)) {
        record.outstanding.delete(name);
        record.setbacks = 0;
        record.notBeforeMs = 0;
      } else if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) {
        record.outstanding.delete(name);
        // Those that fail together are one setback.
        if (nowMs < record.notBeforeMs) continue;
        record.notBeforeMs = nowMs + doubledMs(waitsMs, record.setbacks);
        record.setbacks += 1;
      }
    }
    return Math.max(0, record.notBeforeMs - nowMs);
  }

  private of(pool: string): History {
    let record = this.pools.get(pool);
    if (record === undefined) {
      record = { outstanding: new Set(), setbacks: 0, notBeforeMs: 0 };
      this.pools.set(pool, record);
    }
    return record;
  }
}
