// The order in which new nodes are offered a pod: fewest pods first. Among equals, the one that most lately took a pod
// comes first, and a node just created comes last: the order that repeated stable sorting by pod count gives, kept up to
// date with two pointer changes per placement instead of a sort.
//
// Nodes stand on shelves, one per distinct state of their labels. What a pod's labels, taints and zones rule out, they
// rule out for a whole shelf, so only the shelves in question are walked, merged by the common order.

interface Bucket {
  head: number;
  tail: number;
}

const none = -1;

export class ClaimOrder {
  /** Shelf → pod count → the nodes there. */
  private readonly shelves: Bucket[][] = [];
  private readonly shelfSizes: number[] = [];
  private readonly shelfOf: number[] = [];
  private readonly next: number[] = [];
  private readonly previous: number[] = [];
  private readonly podCount: number[] = [];
  private readonly position: number[] = [];
  private readonly closed: boolean[] = [];
  private frontPosition = 0;
  private backPosition = 0;

  /** A new node with its first pod. Nodes are numbered 0, 1, 2 …; so are shelves. */
  append(claim: number, shelf: number): void {
    this.podCount[claim] = 1;
    this.position[claim] = ++this.backPosition;
    this.closed[claim] = false;
    this.shelfOf[claim] = shelf;
    const bucket = this.bucket(shelf, 1);
    this.shelfSizes[shelf] = this.sizeOf(shelf) + 1;
    this.next[claim] = none;
    this.previous[claim] = bucket.tail;
    if (bucket.tail === none) bucket.head = claim;
    else this.next[bucket.tail] = claim;
    bucket.tail = claim;
  }

  /** The node took one more pod, which may have moved it to another shelf. */
  increment(claim: number, shelf: number): void {
    this.unlink(claim);
    const count = (this.podCount[claim] as number) + 1;
    this.podCount[claim] = count;
    this.position[claim] = --this.frontPosition;
    this.shelfOf[claim] = shelf;
    const bucket = this.bucket(shelf, count);
    this.shelfSizes[shelf] = this.sizeOf(shelf) + 1;
    this.previous[claim] = none;
    this.next[claim] = bucket.head;
    if (bucket.head === none) bucket.tail = claim;
    else this.previous[bucket.head] = claim;
    bucket.head = claim;
  }

  /** The node can take nothing that is left to place; it is not offered again. */
  close(claim: number): void {
    this.unlink(claim);
    this.closed[claim] = true;
  }

  isClosed(claim: number): boolean {
    return this.closed[claim] as boolean;
  }

  isEmpty(shelf: number): boolean {
    return this.sizeOf(shelf) === 0;
  }

  first(shelf: number): number {
    return this.firstFrom(shelf, 1);
  }

  after(claim: number): number {
    const next = this.next[claim] as number;
    return next === none ? this.firstFrom(this.shelfOf[claim] as number, (this.podCount[claim] as number) + 1) : next;
  }

  /** For sorting: negative if `left` is offered pods before `right`. */
  compare(left: number, right: number): number {
    return (
      (this.podCount[left] as number) - (this.podCount[right] as number) ||
      (this.position[left] as number) - (this.position[right] as number)
    );
  }

  private sizeOf(shelf: number): number {
    return this.shelfSizes[shelf] ?? 0;
  }

  private firstFrom(shelf: number, count: number): number {
    const buckets = this.shelves[shelf] ?? [];
    for (let at = count; at < buckets.length; at++) {
      const { head } = buckets[at] as Bucket;
      if (head !== none) return head;
    }
    return none;
  }

  private bucket(shelf: number, count: number): Bucket {
    while (this.shelves.length <= shelf) this.shelves.push([]);
    const buckets = this.shelves[shelf] as Bucket[];
    while (buckets.length <= count) buckets.push({ head: none, tail: none });
    return buckets[count] as Bucket;
  }

  private unlink(claim: number): void {
    const shelf = this.shelfOf[claim] as number;
    this.shelfSizes[shelf] = this.sizeOf(shelf) - 1;
    const bucket = this.bucket(shelf, this.podCount[claim] as number);
    const next = this.next[claim] as number;
    const previous = this.previous[claim] as number;
    if (previous === none) bucket.head = next;
    else this.next[previous] = next;
    if (next === none) bucket.tail = previous;
    else this.previous[next] = previous;
  }
}
