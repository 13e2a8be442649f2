// What could not be launched lately: as on EC2, such an offering is left alone for three minutes.
import { label } from '../../api/index.ts';
import { type Clock, formatTime } from '../../base/index.ts';
import type { FailedOffering, LaunchOption } from '../../core/index.ts';

const rememberedMs = 180_000;
/** More than a catalogue has in the zones of a cluster. */
const most = 10_000;

export class FailedLaunches {
  private readonly clock: Pick<Clock, 'now'>;
  private readonly entries = new Map<string, { failed: FailedOffering; untilMs: number }>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.clock = clock;
  }

  add({ instanceType, offering }: LaunchOption, reason: string): void {
    const valueOf = (key: string): string =>
      offering.requirements.find((requirement) => requirement.key === key)?.values?.[0] ?? '';
    const [zone, capacityType] = [valueOf(label.zone), valueOf(label.capacityType)];
    const key = `${instanceType.name} ${zone} ${capacityType}`;
    const untilMs = this.clock.now() + rememberedMs;
    const failed = { instanceType: instanceType.name, zone, capacityType, until: formatTime(untilMs), reason };
    this.entries.delete(key);
    if (this.entries.size < most) this.entries.set(key, { failed, untilMs });
  }

  list(): FailedOffering[] {
    for (const [key, { untilMs }] of this.entries) if (untilMs <= this.clock.now()) this.entries.delete(key);
    return [...this.entries.values()].map(({ failed }) => failed);
  }
}
