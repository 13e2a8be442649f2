// The timers a clock has yet to run: a binary heap by due time, then by the order in which they were set. Both clocks
// (virtual and real) are built on it, so they keep the promises of src/base/clock.ts in the same way.
//
// Promise: a disposed timer leaves the heap no later than when it would have been due, and never runs.
import type { Timer } from './clock.ts';

interface Entry {
  dueMs: number;
  order: number;
  task: (() => void) | undefined;
}

const isBefore = (a: Entry, b: Entry): boolean => a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);

export class TimerQueue {
  private readonly heap: Entry[] = [];
  private order = 0;

  add(dueMs: number, task: () => void): Timer {
    const entry: Entry = { dueMs, order: this.order++, task };
    this.heap.push(entry);
    this.raise(this.heap.length - 1);
    return {
      dispose: () => {
        entry.task = undefined;
      },
    };
  }

  /** When the earliest live timer is due; undefined if there is none. */
  nextDueMs(): number | undefined {
    while (this.heap[0] !== undefined && this.heap[0].task === undefined) this.removeFirst();
    return this.heap[0]?.dueMs;
  }

  /** Takes the earliest timer if it is due by `nowMs`. */
  takeDue(nowMs: number): { dueMs: number; task: () => void } | undefined {
    const dueMs = this.nextDueMs();
    if (dueMs === undefined || dueMs > nowMs) return undefined;
    const { task } = this.removeFirst();
    return task === undefined ? undefined : { dueMs, task };
  }

  private removeFirst(): Entry {
    const first = this.heap[0] as Entry;
    const last = this.heap.pop() as Entry;
    if (last !== first) {
      this.heap[0] = last;
      this.lower(0);
    }
    return first;
  }

  private raise(start: number): void {
    const { heap } = this;
    let at = start;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(heap[at] as Entry, heap[parent] as Entry)) return;
      this.swap(at, parent);
      at = parent;
    }
  }

  private lower(start: number): void {
    const { heap } = this;
    let at = start;
    for (;;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && isBefore(heap[child] as Entry, heap[least] as Entry)) least = child;
      }
      if (least === at) return;
      this.swap(at, least);
      at = least;
    }
  }

  private swap(a: number, b: number): void {
    const { heap } = this;
    const entry = heap[a] as Entry;
    heap[a] = heap[b] as Entry;
    heap[b] = entry;
  }
}
