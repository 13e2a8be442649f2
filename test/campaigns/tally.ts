// What a campaign did, counted by name: histories, injected faults by kind, calls that were judged. Printed at its end, so
// that a green run says how much it has seen; a campaign that met nothing proves nothing.

export class Tally {
  private readonly counts = new Map<string, number>();

  add(what: string, count = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }

  of(what: string): number {
    return this.counts.get(what) ?? 0;
  }

  /** The counts whose names begin so, together. */
  sum(prefix: string): number {
    return [...this.counts].reduce((sum, [name, count]) => sum + (name.startsWith(prefix) ? count : 0), 0);
  }

  merge(other: Tally): void {
    for (const [what, count] of other.counts) this.add(what, count);
  }

  print(campaign: string): void {
    const lines = [...this.counts].sort(([left], [right]) => left.localeCompare(right));
    console.log(`${campaign}: ${lines.map(([what, count]) => `${count} ${what}`).join(', ')}`);
  }
}
