// Which instances some NodeClaim owns. Everything that speaks for an instance counts: claims as they are stored now, of
// any provider and however malformed, and those in the cache, which may know one that a broken listing left out.
import { type ControllerContext, claimNamesOf, storedClaim, storedClaims } from '../../controllers/index.ts';
import type { Instance, Node } from '../../ports/index.ts';

export class Owners {
  private readonly parts: ReadonlySet<string>;

  private constructor(providerIDs: readonly string[]) {
    this.parts = new Set(providerIDs.map(instancePart));
  }

  static async read(context: ControllerContext): Promise<Owners> {
    const stored = await storedClaims(context);
    const cached = context.cluster.claims.list();
    return new Owners([
      ...stored.flatMap(({ providerID }) => providerID ?? []),
      ...cached.flatMap(({ status }) => status?.providerID ?? []),
    ]);
  }

  own(providerID: string): boolean {
    return this.parts.has(instancePart(providerID));
  }

  /**
   * The claim that the instance's tag or its Node names, if it is there and not known to have another instance: one
   * whose status names none yet may be about to name this one.
   */
  static async named(
    context: ControllerContext,
    instance: Instance,
    nodes: readonly Node[],
  ): Promise<string | undefined> {
    const names = new Set([
      ...(instance.nodeClaim === undefined ? [] : [instance.nodeClaim]),
      ...nodes.flatMap(claimNamesOf),
    ]);
    for (const name of names) {
      const claim = await storedClaim(context, name);
      if (claim === undefined) continue;
      const other = claim.providerID;
      if (other === undefined || instancePart(other) === instancePart(instance.providerID)) return name;
    }
    return undefined;
  }
}

/** The id alone: the rest of a provider id is written in several ways. */
const instancePart = (providerID: string): string => /(?:^|\/)(i-[0-9a-z-]+)/.exec(providerID)?.[1] ?? providerID;
