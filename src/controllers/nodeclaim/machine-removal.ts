// Takes the machine of a claim down and says whether it is gone. The provider is asked at most every five seconds per
// machine, however often claim and node change meanwhile: the answer takes a while to change, and calls are counted. Each
// time the claim is read anew: a machine goes only while its claim is stored and being deleted, whatever caches say (they
// may be behind, or the API server may have been restored from a backup).
import type { NodeClaim } from '../../api/index.ts';
import { type Cloud, isCloudError } from '../../ports/index.ts';
import type { ControllerContext } from '../context.ts';
import { type Stored, storedClaim } from '../ownership/stored.ts';

const askAgainMs = 5_000;
/** A cache that disagrees with what is stored catches up sooner. */
const unprovenMs = 10_000;

export type Removal = { isGone: true } | { isGone: false; againMs: number };

export class MachineRemoval {
  private readonly context: Stored & Pick<ControllerContext, 'log'>;
  private readonly cloud: Cloud;
  private readonly clock: ControllerContext['clock'];
  /** When each machine was last asked to go, until it is gone. */
  private readonly askedMs = new Map<string, number>();

  constructor(context: Stored & Pick<ControllerContext, 'cloud' | 'clock' | 'log'>) {
    const { cloud, clock } = context;
    this.context = context;
    this.cloud = cloud;
    this.clock = clock;
  }

  /** `claim` carries the provider id. */
  async remove(claim: NodeClaim): Promise<Removal> {
    const providerID = claim.status?.providerID ?? '';
    const askedMs = this.askedMs.get(providerID);
    const leftMs = askedMs === undefined ? 0 : askedMs + askAgainMs - this.clock.elapsed();
    if (leftMs > 0) return { isGone: false, againMs: leftMs };
    const doubt = await this.doubtAbout(claim);
    if (doubt !== undefined) {
      const { name } = claim.metadata;
      this.context.log.info('keeping instance for now', {
        'provider-id': providerID,
        NodeClaim: { name },
        reason: doubt,
      });
      return { isGone: false, againMs: unprovenMs };
    }
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

  /** Why what is stored does not say that the machine should go. */
  private async doubtAbout({ metadata: { name = '', uid } }: NodeClaim): Promise<string | undefined> {
    const stored = await storedClaim(this.context, name);
    // Nothing owns the machine any more: its collection needs proof of its own.
    if (stored === undefined) return 'its NodeClaim is not stored any more';
    if (stored.uid !== uid) return 'another NodeClaim has taken that name';
    return stored.isDeleting ? undefined : 'its NodeClaim as it is stored is not being deleted';
  }
}
