// The price of an offering after an overlay: replaced, moved by an amount, or moved by a share; never below nothing.

export interface PriceChange {
  price?: string;
  priceAdjustment?: string;
}

export function adjustedPrice(price: number, change: PriceChange): number {
  if (change.price !== undefined) return Number(change.price);
  const adjustment = change.priceAdjustment ?? '';
  if (adjustment === '') return price;
  const isShare = adjustment.endsWith('%');
  const amount = Number(isShare ? adjustment.slice(0, -1) : adjustment);
  return Math.max(0, isShare ? price * (1 + amount / 100) : price + amount);
}
