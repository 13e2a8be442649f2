import type { Sample } from './flatness.ts';

export function held(): Promise<Sample>;
