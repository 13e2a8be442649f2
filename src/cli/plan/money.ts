// Prices for people. A month has 730 hours, as in the cloud's own calculators.

const hoursPerMonth = 730;

/** `0.0834`: four decimals, enough to tell the smallest types apart. */
export function perHour(price: number): string {
  return amount(price, 4);
}

/** `1,234.56` */
export function perMonth(pricePerHour: number): string {
  return amount(pricePerHour * hoursPerMonth, 2);
}

function amount(value: number, decimals: number): string {
  // A sum of prices is a hair off: 0.48194999999999996 is 0.48195, and rounds as that.
  const exact = Math.round(value * 1e9) / 1e9;
  return exact.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** `$0.4200/h ($306.60 a month)` */
export function price(pricePerHour: number): string {
  return `$${perHour(pricePerHour)}/h ($${perMonth(pricePerHour)} a month)`;
}
