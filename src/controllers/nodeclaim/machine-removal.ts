// Takes the machine of a claim down and says whether it is gone. The provider is asked at most every five seconds per
// machine, however often claim and node change meanwhile: the answer takes a while to change, and calls are counted. Each
// time the claim is read anew: a machine goes only while its claim is stored and being deleted, whatever caches say (they
// may be behind, or the API server may have been restored from a backup), and while no other claim that stays names it.
import type { NodeClaim } from '../../api/index.ts';
import { type Cloud, isCloudError } from '../../ports/index.ts';
import type { ControllerContext } from '../context.ts';
import { claimNamesOf, type Stored, storedClaim } from '../ownership/stored.ts';

const askAgainMs = 5_000;
/** A cache that disagrees with what is stored catches up sooner. */
const unprovenMs = 10_000;

export type Removal = { isGone: true } | { isGone: false; againMs: number };

export class MachineRemoval {
  private readonly context: Stored & Pick<ControllerContext, 'cluster' | 'log'>;
  private readonly cloud: Cloud;
  private readonly clock: ControllerContext['clock'];
  /** When each machine was last asked to go, until it is gone. */
  private readonly askedMs = new Map<string, number>();

  constructor(context: Stored & Pick<ControllerContext, 'cloud' | 'clock' | 'cluster' | 'log'>) {
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
    const kept = await this.kept(claim);
    if (kept !== undefined) return kept;
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

  /** When to ask again, if what is stored does not say that the machine of the claim, and its Node, should go. */
  async kept(claim: NodeClaim): Promise<Extract<Removal, { isGone: false }> | undefined> {
    const reason = await this.doubtAbout(claim);
    if (reason === undefined) return undefined;
    const { name } = claim.metadata;
    this.context.log.info('keeping instance for now', {
      'provider-id': claim.status?.providerID,
      NodeClaim: { name },
      reason,
    });
    return { isGone: false, againMs: unprovenMs };
  }

  private async doubtAbout({ metadata: { name = '', uid }, status }: NodeClaim): Promise<string | undefined> {
    const sharing = this.context.cluster.claims
      .filedUnder(status?.providerID ?? '')
      .find(({ metadata }) => metadata.uid !== uid && metadata.deletionTimestamp === undefined);
    if (sharing !== undefined) return `NodeClaim ${sharing.metadata.name} names it, too, and is not being deleted`;
    const hidden = await this.hiddenOwner(name, status?.providerID ?? '');
    if (hidden !== undefined) return `its Node belongs to NodeClaim ${hidden}, which is not being deleted`;
    const stored = await storedClaim(this.context, name);
    // Nothing owns the machine any more: its collection needs proof of its own.
    if (stored === undefined) return 'its NodeClaim is not stored any more';
    if (stored.uid !== uid) return 'another NodeClaim has taken that name';
    return stored.isDeleting ? undefined : 'its NodeClaim as it is stored is not being deleted';
  }

  /** Another claim that the machine's Node names, that stays and is in no cache, because it cannot be parsed for example. */
  private async hiddenOwner(name: string, providerID: string): Promise<string | undefined> {
    const owners = new Set(this.context.cluster.nodes.filedUnder(providerID).flatMap(claimNamesOf));
    for (const each of owners) {
      const owner = each === name ? undefined : await storedClaim(this.context, each);
      if (owner?.providerID === providerID && !owner.isDeleting) return each;
    }
    return undefined;
  }
}
