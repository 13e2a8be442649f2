// The memory nodes really had. The estimate errs on the small side; once a node of a type has joined with the images a
// class selects, its own figure is better. Other images may keep more or less: it counts for that list of images only.
import { type Clock, ExpiringMap } from '../../base/index.ts';

const rememberMs = 60 * 24 * 3_600_000;

export class DiscoveredMemory {
  private readonly bytes: ExpiringMap<string, number>;
  private changes = 0;

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.bytes = new ExpiringMap(clock, rememberMs);
  }

  /** Rises with every figure that changed. */
  get version(): number {
    return this.changes;
  }

  of(instanceType: string, images: string): number | undefined {
    return this.bytes.get(`${instanceType} ${images}`);
  }

  /** Machines of one type differ a little: the smallest ever seen counts. */
  learn(instanceType: string, images: string, memoryBytes: number): void {
    const key = `${instanceType} ${images}`;
    const known = this.bytes.get(key);
    if (known !== undefined && memoryBytes > known) return;
    this.bytes.set(key, memoryBytes);
    if (known !== memoryBytes) this.changes += 1;
  }
}
