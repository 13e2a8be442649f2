// Objects reach the model on two ways: the watch, and the answer to a write of our own. The answer is usually first, so
// what the watch brings afterwards may be older, and an answer may come after the watch reported that the object is gone.
// This tells news from such echoes, so that the model never goes back in time. Unless the watch itself did: an object that
// it shows again (after a wrong listing, after it could not be parsed) or as it once was (after a restored backup) is so.
import { isAtOrBefore } from '../base/index.ts';
import type { KubeObject } from '../ports/index.ts';

/** An answer is late by a request's time, not by thousands of other deletions. */
const mostRemembered = 10_000;

export class Recency {
  private readonly gone = new Set<string>();
  /** Set back and not taken yet. */
  private readonly setBack = new Set<string>();

  /** Whether the model should take `object` in place of `present`. Versions that cannot be compared count as news. */
  isNews(object: KubeObject, present: KubeObject | undefined): boolean {
    const { uid, resourceVersion } = object.metadata;
    if (uid !== undefined && this.setBack.delete(uid)) return true;
    if (uid !== undefined && this.gone.has(uid)) return false;
    if (present === undefined || present.metadata.uid !== uid) return true;
    return !isAtOrBefore(resourceVersion, present.metadata.resourceVersion);
  }

  /** The watch shows an object that it did not show before: if it was gone, it is back. */
  noteShown({ metadata: { uid } }: KubeObject): void {
    if (uid !== undefined) this.gone.delete(uid);
  }

  /** The watch shows an object in an older version than before: the next one taken is this. */
  noteSetBack({ metadata: { uid } }: KubeObject): void {
    if (uid !== undefined) this.setBack.add(uid);
  }

  noteGone({ metadata: { uid } }: KubeObject): void {
    if (uid === undefined) return;
    this.gone.add(uid);
    if (this.gone.size <= mostRemembered) return;
    const [oldest] = this.gone;
    if (oldest !== undefined) this.gone.delete(oldest);
  }
}
