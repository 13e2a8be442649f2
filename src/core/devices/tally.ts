// Devices that are given out: which ones as a whole, how much of those that are shared, and how much of the counters that
// the devices of a pool share.

import type { Device, DevicePool } from './device-pools.ts';

/** What is gone already, and how much of what is shared. */
export interface DeviceUse {
  /** By a claim of its own. */
  isTaken(device: Device): boolean;
  /** By anybody, so that its counters are counted. */
  isInUse(device: Device): boolean;
  consumedOf(device: Device, capacity: string): bigint;
  countedOf(pool: DevicePool, counter: string): bigint;
}

export interface Taken {
  readonly claim: string;
  readonly device: Device;
  /** Of a shared device: how much of each capacity. */
  readonly consumed: ReadonlyMap<string, bigint> | undefined;
}

export class Tally implements DeviceUse {
  private readonly exclusive = new Set<Device>();
  private readonly consumed = new Map<Device, Map<string, bigint>>();
  private readonly counted = new Map<DevicePool, Map<string, bigint>>();

  take({ device, consumed }: Pick<Taken, 'device' | 'consumed'>): void {
    const isFirst = !this.isInUse(device);
    if (consumed === undefined) this.exclusive.add(device);
    else {
      const own = this.consumed.get(device) ?? new Map<string, bigint>();
      this.consumed.set(device, own);
      for (const [name, amount] of consumed) own.set(name, (own.get(name) ?? 0n) + amount);
    }
    if (!isFirst) return;
    const counted = this.counted.get(device.pool) ?? new Map<string, bigint>();
    this.counted.set(device.pool, counted);
    for (const { counter, amount } of device.counters) counted.set(counter, (counted.get(counter) ?? 0n) + amount);
  }

  isTaken(device: Device): boolean {
    return this.exclusive.has(device);
  }

  isInUse(device: Device): boolean {
    return this.exclusive.has(device) || this.consumed.has(device);
  }

  consumedOf(device: Device, capacity: string): bigint {
    return this.consumed.get(device)?.get(capacity) ?? 0n;
  }

  countedOf(pool: DevicePool, counter: string): bigint {
    return this.counted.get(pool)?.get(counter) ?? 0n;
  }
}

abstract class Several {
  protected readonly parts: readonly DeviceUse[];

  constructor(parts: readonly DeviceUse[]) {
    this.parts = parts;
  }

  isTaken(device: Device): boolean {
    return this.parts.some((part) => part.isTaken(device));
  }
}

/** Several of them as one. */
export class Together extends Several implements DeviceUse {
  isInUse(device: Device): boolean {
    return this.parts.some((part) => part.isInUse(device));
  }

  consumedOf(device: Device, capacity: string): bigint {
    return this.parts.reduce((sum, part) => sum + part.consumedOf(device, capacity), 0n);
  }

  countedOf(pool: DevicePool, counter: string): bigint {
    return this.parts.reduce((sum, part) => sum + part.countedOf(pool, counter), 0n);
  }
}

/** One of them, unknown which: the most that any of them would mean. */
export class AnyOf extends Several implements DeviceUse {
  isInUse(device: Device): boolean {
    return this.parts.every((part) => part.isInUse(device));
  }

  consumedOf(device: Device, capacity: string): bigint {
    return most(this.parts.map((part) => part.consumedOf(device, capacity)));
  }

  countedOf(pool: DevicePool, counter: string): bigint {
    return most(this.parts.map((part) => part.countedOf(pool, counter)));
  }
}

function most(amounts: readonly bigint[]): bigint {
  return amounts.reduce((largest, amount) => (amount > largest ? amount : largest), 0n);
}
