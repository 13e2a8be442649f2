// Takes the machine of a claim down and says whether it is gone. The provider is asked at most every five seconds per
// machine, however often claim and node change meanwhile: the answer takes a while to change, and calls are counted.
import type { NodeClaim } from '../../api/index.ts';
import { type Cloud, isCloudError } from '../../ports/index.ts';
import type { ControllerContext } from '../context.ts';

const askAgainMs = 5_000;

export type Removal = { isGone: true } | { isGone: false; againMs: number };

export class MachineRemoval {
  private readonly cloud: Cloud;
  private readonly clock: ControllerContext['clock'];
  /** When each machine was last asked to go, until it is gone. */
  private readonly askedMs = new Map<string, number>();

  constructor({ cloud, clock }: Pick<ControllerContext, 'cloud' | 'clock'>) {
    this.cloud = cloud;
    this.clock = clock;
  }

  /** `claim` carries the provider id. */
  async remove(claim: NodeClaim): Promise<Removal> {
    const providerID = claim.status?.providerID ?? '';
    const askedMs = this.askedMs.get(providerID);
    const leftMs = askedMs === undefined ? 0 : askedMs + askAgainMs - this.clock.elapsed();
    if (leftMs > 0) return { isGone: false, againMs: leftMs };
    try {
      await this.cloud.delete(claim);
      this.askedMs.set(providerID, this.clock.elapsed());
      return { isGone: false, againMs: askAgainMs };
    } catch (error) {
      if (!isCloudError(error, 'notFound')) throw error;
      this.askedMs.delete(providerID);
      return { isGone: true };
    }
  }
}
