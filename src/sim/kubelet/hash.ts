// A number from a name: what differs from pod to pod (addresses, how long a start takes) is the same in every run.

/** FNV-1a, 32 bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** Uniform in [0, 1), the same for the same text. */
export const fractionOf = (text: string): number => hashOf(text) / 0x1_0000_0000;

/** An address that looks like one of a pod or node network; nothing is routed, so a rare repeat does no harm. */
export function addressOf(text: string, network: number): string {
  const hash = hashOf(text);
  return `10.${network + (hash >>> 29)}.${(hash >>> 8) & 0xff}.${1 + (hash % 254)}`;
}
