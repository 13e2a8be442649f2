export { AlarmedTimers } from './alarmed-timers.ts';
export {
  addBit,
  type Bitset,
  bitset,
  fullBitset,
  hasBit,
  isEmptyBitset,
  keepCommon,
  membersOf,
  sharesBit,
} from './bitset.ts';
export { type AbortSignalLike, type Clock, sleepWith, type Timer } from './clock.ts';
export { conditionOf } from './conditions.ts';
export { within } from './deadline.ts';
export { type Doubling, doubledMs } from './doubling.ts';
export { isEqual, isIdentical } from './equality.ts';
export { type ErrorCode, errorCodes } from './error-codes.ts';
export { attempt, KerfError, type KerfErrorOptions, messageOf } from './errors.ts';
export { ExpiringMap } from './expiring-map.ts';
export { linearPattern } from './linear-pattern.ts';
export { mergePatchBetween } from './merge-patch.ts';
export { editDistance, nearestName } from './nearest-name.ts';
export { objectKey } from './object-key.ts';
export {
  addQuantities,
  compareQuantities,
  formatAmount,
  formatQuantity,
  parseQuantity,
  plainAmount,
  type Quantity,
  type QuantityFormat,
  quantityIn,
  quantityOf,
  tryParseQuantity,
} from './quantity.ts';
export { type RateLimit, RateLimiter } from './rate-limiter.ts';
export { type GuardedRequest, originRefusal, type Refusal, refusalOf } from './request-guard.ts';
export { isAtOrBefore } from './resource-version.ts';
export { seededRandom } from './seeded-random.ts';
export { shortList } from './short-list.ts';
export { atOnce, inSlices, type Sliced, sortInSlices } from './sliced.ts';
export {
  formatGoDuration,
  formatMicroTime,
  formatTime,
  goDurationProblem,
  parseGoDuration,
  parseGoDurationNs,
  parseTime,
} from './time.ts';
export { TimerQueue } from './timer-queue.ts';
export { utf8Bytes, utf8Text } from './utf8.ts';
export { VirtualClock, type VirtualClockOptions } from './virtual-clock.ts';
export { deepestYaml, yamlTooDeepAt } from './yaml-depth.ts';
