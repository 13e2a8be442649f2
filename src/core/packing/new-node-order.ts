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

export class NewNodeOrder {
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
  append(newNode: number, shelf: number): void {
    this.podCount[newNode] = 1;
    this.position[newNode] = ++this.backPosition;
    this.closed[newNode] = false;
    this.shelfOf[newNode] = shelf;
    const bucket = this.bucket(shelf, 1);
    this.shelfSizes[shelf] = this.sizeOf(shelf) + 1;
    this.next[newNode] = none;
    this.previous[newNode] = bucket.tail;
    if (bucket.tail === none) bucket.head = newNode;
    else this.next[bucket.tail] = newNode;
    bucket.tail = newNode;
  }

  /** The node took one more pod, which may have moved it to another shelf. */
  increment(newNode: number, shelf: number): void {
    this.unlink(newNode);
    const count = (this.podCount[newNode] as number) + 1;
    this.podCount[newNode] = count;
    this.position[newNode] = --this.frontPosition;
    this.shelfOf[newNode] = shelf;
    const bucket = this.bucket(shelf, count);
    this.shelfSizes[shelf] = this.sizeOf(shelf) + 1;
    this.previous[newNode] = none;
    this.next[newNode] = bucket.head;
    if (bucket.head === none) bucket.tail = newNode;
    else this.previous[bucket.head] = newNode;
    bucket.head = newNode;
  }

  /** The node can take nothing that is left to place; it is not offered again. */
  close(newNode: number): void {
    this.unlink(newNode);
    this.closed[newNode] = true;
  }

  isClosed(newNode: number): boolean {
    return this.closed[newNode] as boolean;
  }

  isEmpty(shelf: number): boolean {
    return this.sizeOf(shelf) === 0;
  }

  first(shelf: number): number {
    return this.firstFrom(shelf, 1);
  }

  after(newNode: number): number {
    const next = this.next[newNode] as number;
    return next === none
      ? this.firstFrom(this.shelfOf[newNode] as number, (this.podCount[newNode] as number) + 1)
      : next;
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

  private unlink(newNode: number): void {
    const shelf = this.shelfOf[newNode] as number;
    this.shelfSizes[shelf] = this.sizeOf(shelf) - 1;
    const bucket = this.bucket(shelf, this.podCount[newNode] as number);
    const next = this.next[newNode] as number;
    const previous = this.previous[newNode] as number;
    if (previous === none) bucket.head = next;
    else this.next[previous] = next;
    if (next === none) bucket.tail = previous;
    else this.previous[next] = previous;
  }
}
