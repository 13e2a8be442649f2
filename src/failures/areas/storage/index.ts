// The entries of storage/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { attachLimitRaceAtRegistration } from './attach-limit-race-at-registration.ts';
import { inTreeDriverLimitsUnknown } from './in-tree-driver-limits-unknown.ts';

export const storage: readonly Failure[] = [inTreeDriverLimitsUnknown, attachLimitRaceAtRegistration];
