// What `kerf top` has read so far. Reading goes on beside the screen, one look at a time: keys answer at once, however long
// an answer takes, and what cannot be read is reported rather than the end, because a server may be back in a moment.
import { messageOf } from '../../base/index.ts';
import type { Seen } from './picture.ts';
import type { Source } from './source.ts';

/** Documents of nodes that were looked at before are forgotten. */
const mostDocuments = 16;

export class Feed {
  seen: Seen;
  /** Why what is shown is not current. */
  problem: string | undefined;
  private readonly source: Source;
  private readonly documents = new Map<string, object>();
  private isAsking = false;

  constructor(source: Source, seen: Seen) {
    this.source = source;
    this.seen = seen;
  }

  has(path: string): boolean {
    return this.documents.has(path);
  }

  document(path: string | undefined): object | undefined {
    return path === undefined ? undefined : this.documents.get(path);
  }

  /** Reads the nodes and this document again, unless that is under way. */
  ask(path: string | undefined): void {
    if (this.isAsking) return;
    this.isAsking = true;
    void this.read(path).finally(() => {
      this.isAsking = false;
    });
  }

  private async read(path: string | undefined): Promise<void> {
    try {
      this.seen = await this.source.read();
      if (path !== undefined) this.keep(path, await this.source.document(path));
      this.problem = undefined;
    } catch (error) {
      this.problem = `${messageOf(error)}; trying again`;
    }
  }

  private keep(path: string, document: object): void {
    this.documents.delete(path);
    this.documents.set(path, document);
    for (const oldest of this.documents.keys()) {
      if (this.documents.size <= mostDocuments) return;
      this.documents.delete(oldest);
    }
  }
}
