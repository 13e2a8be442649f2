// The cloud as one replica reaches it: answers come late, never, throttled, or without the machines that were launched a
// moment ago. What reaches the cloud is reported to the judge at the moment it takes effect.
import type { Clock } from '../../../src/base/index.ts';
import { type Cloud, CloudError, cloudWith } from '../../../src/ports/index.ts';
import type { MachineRoom } from './machine-room.ts';

export type CloudMood = 'well' | 'late' | 'stalled' | 'throttled' | 'forgetful' | 'empty' | 'denying' | 'away';

/** How long a listing may miss a new machine. */
const forgetfulMs = 60_000;
/** Every client gives up on a call by then. */
const deadlineMs = 120_000;

export class CloudDoor {
  mood: CloudMood = 'well';
  requests = 0;
  private readonly room: MachineRoom;
  private readonly clock: Clock;
  private readonly random: () => number;

  constructor(room: MachineRoom, clock: Clock, random: () => number) {
    this.room = room;
    this.clock = clock;
    this.random = random;
  }

  /** `onDelete` hears the provider id when the call arrives, before the machine ends. */
  cloud(onDelete: (providerID: string) => void): Cloud {
    const cloud = this.room.cloud();
    const call = async <T>(carryOut: () => Promise<T>): Promise<T> => {
      this.requests += 1;
      const { mood } = this;
      if (mood === 'away') throw new Error('connect ECONNREFUSED');
      if (mood === 'throttled' && this.random() < 0.5) throw new Error('RequestLimitExceeded');
      if (mood === 'late') await this.clock.sleep(this.random() * 25_000);
      if (mood === 'stalled' && this.random() < 0.5) {
        // Carried out, or not; the caller never hears.
        const isCarriedOut = this.random() < 0.5;
        if (isCarriedOut) await carryOut().catch(() => {});
        await this.clock.sleep(deadlineMs);
        throw new Error('the call took longer than its deadline');
      }
      return carryOut();
    };
    const isVisible = (launchedMs: number): boolean =>
      this.mood !== 'forgetful' || this.clock.now() - launchedMs > forgetfulMs;
    return cloudWith(cloud, {
      create: (claim, options) => call(() => cloud.create(claim, options)),
      get: (providerID, options) =>
        call(async () => {
          const machine = this.room.machines.get(providerID);
          if (this.mood === 'denying') throw new CloudError('notFound', providerID);
          if (machine !== undefined && !isVisible(machine.launchedMs)) throw new CloudError('notFound', providerID);
          return cloud.get(providerID, options);
        }),
      list: () =>
        call(async () =>
          this.mood === 'empty' || this.mood === 'denying'
            ? []
            : this.room
                .alive()
                .filter(({ launchedMs }) => isVisible(launchedMs))
                .map(({ instance }) => instance),
        ),
      delete: (claim, options) =>
        call(async () => {
          const machine = this.room.machines.get(claim.status?.providerID ?? '');
          if (machine !== undefined && !isVisible(machine.launchedMs)) throw new CloudError('notFound', 'not yet seen');
          if (machine?.isTerminated === false) onDelete(machine.instance.providerID);
          return cloud.delete(claim, options);
        }),
    });
  }
}
