// Nodes bought so far, the pods that are left, and the best end seen on the way.

import { type Filling, fits, type Kind, type Offer } from './pile.ts';

export class Purchase<O extends Offer> {
  readonly left: Float64Array;
  private readonly kinds: readonly Kind[];
  private readonly offers: readonly O[];
  /** By column: what all pods that are left need, and the most any offer has. */
  private readonly needed: Float64Array;
  private readonly largest: Float64Array;
  /** Pods that are left, and those of them with a say about their host. */
  private pods = 0;
  private withHostRules = 0;
  private readonly bought: Filling<O>[] = [];
  private price = 0;
  private ended: { readonly fillings: readonly Filling<O>[]; readonly price: number } | undefined;

  constructor(kinds: readonly Kind[], offers: readonly O[]) {
    this.kinds = kinds;
    this.offers = offers;
    this.left = Float64Array.from(kinds, ({ count }) => count);
    this.needed = new Float64Array(kinds[0]?.need.length ?? 0);
    this.largest = new Float64Array(this.needed.length);
    for (const { room } of offers) {
      for (let at = 0; at < room.length; at++)
        this.largest[at] = Math.max(this.largest[at] as number, room[at] as number);
    }
    kinds.forEach(({ count }, kind) => this.count(kind, count));
    this.tryToEnd();
  }

  get isOpen(): boolean {
    return this.pods > 0;
  }

  private count(kind: number, pods: number): void {
    const { need, host } = this.kinds[kind] as Kind;
    this.pods += pods;
    if (host !== undefined) this.withHostRules += pods;
    for (let at = 0; at < need.length; at++)
      this.needed[at] = (this.needed[at] as number) + pods * (need[at] as number);
  }

  /** As many copies as pods are left for; false if not even one. */
  buy(filling: Filling<O>, copies: number): boolean {
    let any = false;
    for (let copy = 0; copy < copies && isLeft(filling, this.left); copy++) {
      filling.kinds.forEach((kind, at) => {
        const count = filling.counts[at] as number;
        this.left[kind] = (this.left[kind] as number) - count;
        this.count(kind, -count);
      });
      this.bought.push(filling);
      this.price += filling.price;
      any = true;
    }
    if (any) this.tryToEnd();
    return any;
  }

  cheapest(): Filling<O>[] {
    return this.ended !== undefined && this.ended.price <= this.price ? [...this.ended.fillings] : this.bought;
  }

  /** Fractions hide that the last nodes stay half empty: one that takes all the rest may be the better end. */
  private tryToEnd(): void {
    // Sums of what is left carry dust; what is needed is added up anew before it is believed.
    if (this.pods === 0 || this.withHostRules > 0 || !fits(this.needed, this.largest)) return;
    const last = oneForAll(this.offers, this.kinds, this.left);
    if (last === undefined) return;
    const price = this.price + last.price;
    if (this.ended === undefined || price < this.ended.price) {
      this.ended = { fillings: [...this.bought, last], price };
    }
  }
}

export function isLeft({ kinds, counts }: Filling, left: Float64Array): boolean {
  return kinds.every((kind, at) => (counts[at] as number) <= (left[kind] as number));
}

/** The cheapest single node for everything that is left, if there is one. */
function oneForAll<O extends Offer>(
  offers: readonly O[],
  kinds: readonly Kind[],
  left: Float64Array,
): Filling<O> | undefined {
  const some = kinds.flatMap((_, kind) => ((left[kind] as number) > 0 ? [kind] : []));
  if (some.length === 0 || some.some((kind) => kinds[kind]?.host !== undefined)) return undefined;
  const total = new Float64Array(kinds[0]?.need.length ?? 0);
  for (const kind of some) {
    const { need } = kinds[kind] as Kind;
    for (let at = 0; at < total.length; at++)
      total[at] = (total[at] as number) + (need[at] as number) * (left[kind] as number);
  }
  let best: O | undefined;
  for (const offer of offers) {
    if (best !== undefined && offer.price >= best.price) continue;
    if (fits(total, offer.room) && some.every((kind) => offer.kinds.includes(kind))) best = offer;
  }
  if (best === undefined) return undefined;
  return { offer: best, price: best.price, kinds: some, counts: some.map((kind) => left[kind] as number) };
}
