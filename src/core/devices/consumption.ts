// How much of a shared device a request takes. What is not asked for is the default, or all there is; amounts are rounded
// up to what the device can give: one of its values, or a step of its range.

import type { DeviceCapacity } from '../kube/device-objects.ts';
import { amountOf, type Device } from './device-pools.ts';

/** By capacity name; undefined if the device cannot give that much of something. */
export function consumptionOf(device: Device, asked: ReadonlyMap<string, bigint>): Map<string, bigint> | undefined {
  for (const name of asked.keys()) if (!Object.hasOwn(device.capacity, name)) return undefined;
  const taken = new Map<string, bigint>();
  for (const [name, capacity] of Object.entries(device.capacity)) {
    const amount = rounded(capacity, asked.get(name));
    if (amount === undefined || amount > amountOf(capacity.value)) return undefined;
    taken.set(name, amount);
  }
  return taken;
}

function rounded({ value, requestPolicy }: DeviceCapacity, asked: bigint | undefined): bigint | undefined {
  if (asked === undefined) {
    return amountOf(requestPolicy?.default ?? value);
  }
  if (requestPolicy?.validValues !== undefined && requestPolicy.validValues.length > 0) {
    const enough = requestPolicy.validValues.map(amountOf).filter((candidate) => candidate >= asked);
    return enough.length === 0
      ? undefined
      : enough.reduce((least, candidate) => (candidate < least ? candidate : least));
  }
  const range = requestPolicy?.validRange;
  if (range === undefined) return asked;
  const least = range.min === undefined ? 0n : amountOf(range.min);
  if (asked <= least) return least;
  const step = range.step === undefined ? 0n : amountOf(range.step);
  const amount = step > 0n ? least + ((asked - least + step - 1n) / step) * step : asked;
  return range.max !== undefined && amount > amountOf(range.max) ? undefined : amount;
}
