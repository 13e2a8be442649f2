// Where uids and generated names come from. Both are drawn from one counter under a seed, so a run that makes the same
// calls in the same order gets the same ids to the byte, and a saved cluster goes on where it stopped.

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

export interface Identity {
  /** How many draws were made; part of the saved state. */
  drawn: number;
  uid(): string;
  /** Five letters and digits that spell no words, as the API server appends to `generateName`. */
  suffix(): string;
}

/** Mixes seed and counter into 32 well-spread bits (the finaliser of MurmurHash3 over a Weyl sequence). */
function mix(seed: number, counter: number, lane: number): number {
  let bits = (seed ^ Math.imul(counter, 0x9e3779b1) ^ Math.imul(lane + 1, 0x85ebca77)) | 0;
  for (let round = 0; round < 2; round += 1) {
    bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
    bits ^= bits >>> 16;
    bits = (bits + Math.imul(counter, 0x27d4eb2f)) | 0;
  }
  return bits >>> 0;
}

export function createIdentity(seed: number): Identity {
  const hex = (bits: number): string => bits.toString(16).padStart(8, '0');
  return {
    drawn: 0,
    uid() {
      this.drawn += 1;
      const text = [0, 1, 2, 3].map((lane) => hex(mix(seed, this.drawn, lane))).join('');
      const variant = ((Number.parseInt(text.charAt(16), 16) & 3) | 8).toString(16);
      return `${text.slice(0, 8)}-${text.slice(8, 12)}-4${text.slice(13, 16)}-${variant}${text.slice(17, 20)}-${text.slice(20)}`;
    },
    suffix() {
      this.drawn += 1;
      let out = '';
      for (let lane = 0; lane < 5; lane += 1) {
        out += suffixAlphabet[mix(seed, this.drawn, lane + 4) % suffixAlphabet.length] as string;
      }
      return out;
    },
  };
}
