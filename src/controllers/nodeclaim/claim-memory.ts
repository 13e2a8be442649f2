// What a controller remembers about single claims, until they go. By name, so that whoever hears only that a claim is gone can
// forget it; and by UID, so that a claim made again under that name is not taken for its predecessor.
import type { NodeClaim } from '../../api/index.ts';

export class ClaimMemory<T> {
  private readonly kept = new Map<string, { uid: string | undefined; value: T }>();

  get({ metadata: { name = '', uid } }: NodeClaim): T | undefined {
    const known = this.kept.get(name);
    return known?.uid === uid ? known?.value : undefined;
  }

  set({ metadata: { name = '', uid } }: NodeClaim, value: T): void {
    this.kept.set(name, { uid, value });
  }

  forget(name: string): void {
    this.kept.delete(name);
  }

  /** For those who are not woken when a claim goes. */
  forgetAllBut(isThere: (name: string) => boolean): void {
    for (const name of this.kept.keys()) if (!isThere(name)) this.kept.delete(name);
  }

  get size(): number {
    return this.kept.size;
  }
}
