// Offerings that could not be launched lately. They count as unavailable until their time is over, and reasons name them:
// a pod that only waits for the next try should read that, not that no instance type fits.

import { parseTime } from '../../base/index.ts';
import type { FailedOffering } from '../snapshot.ts';

export class FailedOfferings {
  private readonly byOffering = new Map<string, FailedOffering>();

  constructor(failed: readonly FailedOffering[], nowMs: number) {
    for (const each of failed) {
      const isOver = each.until !== undefined && (parseTime(each.until) ?? Number.POSITIVE_INFINITY) <= nowMs;
      if (!isOver) this.byOffering.set(keyOf(each.instanceType, each.zone, each.capacityType), each);
    }
  }

  of(instanceType: string, zone: string, capacityType: string): FailedOffering | undefined {
    return this.byOffering.size === 0 ? undefined : this.byOffering.get(keyOf(instanceType, zone, capacityType));
  }
}

function keyOf(...parts: string[]): string {
  return parts.join('\n');
}

const mostNamed = 3;

/** By zone and reason: `m5.large and m5.xlarge in us-east-1a (spot) until 04:05: insufficient capacity; …`. */
export function failedText(failed: readonly FailedOffering[]): string {
  const groups = new Map<string, FailedOffering[]>();
  for (const each of failed) {
    const key = `${each.zone}\n${each.reason ?? ''}`;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [each]);
    else known.push(each);
  }
  const texts = [...groups.values()].map((group) => {
    const [{ zone, reason }] = group as [FailedOffering, ...FailedOffering[]];
    const types = unique(group.map(({ instanceType }) => instanceType));
    const named =
      types.length <= mostNamed ? types.join(', ') : `${types.length} instance types, ${types[0]} among them,`;
    const until = group.map((each) => each.until ?? '').reduce((left, right) => (left > right ? left : right));
    const capacityTypes = unique(group.map(({ capacityType }) => capacityType)).join(', ');
    return `${named} in ${zone} (${capacityTypes})${until === '' ? '' : ` until ${until}`}${reason ? `: ${reason}` : ''}`;
  });
  const left = texts.length - mostNamed;
  return `${texts.slice(0, mostNamed).join('; ')}${left > 0 ? `; and in ${left} more zones` : ''}`;
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort();
}
