// The entries of scheduling/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { allocatableOverestimated } from './allocatable-overestimated.ts';
import { daemonsetOverheadIgnored } from './daemonset-overhead-ignored.ts';
import { labelWithoutKnownValues } from './label-without-known-values.ts';
import { launchRejectedByProvider } from './launch-rejected-by-provider.ts';
import { limitUnitMistake } from './limit-unit-mistake.ts';
import { memoryUnderestimated } from './memory-underestimated.ts';
import { noInstanceTypeFits } from './no-instance-type-fits.ts';
import { noUsableNodepool } from './no-usable-nodepool.ts';
import { poolLimitReached } from './pool-limit-reached.ts';
import { requestsMissingOverpacked } from './requests-missing-overpacked.ts';
import { spreadOverUnreachableDomain } from './spread-over-unreachable-domain.ts';
import { zoneLockedNoOffering } from './zone-locked-no-offering.ts';

export const scheduling: readonly Failure[] = [
  noInstanceTypeFits,
  zoneLockedNoOffering,
  spreadOverUnreachableDomain,
  poolLimitReached,
  limitUnitMistake,
  requestsMissingOverpacked,
  daemonsetOverheadIgnored,
  allocatableOverestimated,
  memoryUnderestimated,
  noUsableNodepool,
  labelWithoutKnownValues,
  launchRejectedByProvider,
];
