// Our own token bucket per API. EC2 gives every account and region one bucket per action; a controller that empties it
// starves everybody else in the account, so ours are no larger than the published ones. An answer that says "slow down"
// halves the rate of that action; every success gives a tenth of it back.
import { type AbortSignalLike, type Clock, type RateLimit, RateLimiter } from '../../base/index.ts';

const unlimited: RateLimit = { qps: 0, burst: 0 };

/** Published for EC2 (reads, writes and some actions of their own); for the others, half of the default quotas. */
const limits: Record<string, RateLimit> = {
  'EC2 Describe': { qps: 20, burst: 100 },
  EC2: { qps: 5, burst: 50 },
  'EC2 CreateTags': { qps: 10, burst: 100 },
  'EC2 TerminateInstances': { qps: 5, burst: 100 },
  IAM: { qps: 5, burst: 20 },
  SSM: { qps: 20, burst: 40 },
  EKS: { qps: 5, burst: 10 },
  Pricing: { qps: 5, burst: 10 },
};

const throttles = new Set([
  'RequestLimitExceeded',
  'Throttling',
  'ThrottlingException',
  'ThrottledException',
  'TooManyRequestsException',
  'RequestThrottled',
  'RequestThrottledException',
  'SlowDown',
  'BandwidthLimitExceeded',
  'EC2ThrottledException',
  'PriorRequestNotComplete',
]);

export function isThrottle(error: unknown): boolean {
  return error instanceof Error && throttles.has(error.name);
}

/** Never slower than this part of the normal rate: a storm must end by itself. */
const slowestShare = 0.1;

export class RateLimits {
  private readonly clock: Clock;
  private readonly buckets = new Map<string, { limiter: RateLimiter; share: number; normal: RateLimit }>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Resolves when the call may be made. */
  take(service: string, action: string, signal?: AbortSignalLike): Promise<void> {
    return this.bucketOf(service, action).limiter.take(signal);
  }

  slowDown(service: string, action: string): void {
    this.changeShare(service, action, (share) => Math.max(slowestShare, share / 2));
  }

  speedUp(service: string, action: string): void {
    this.changeShare(service, action, (share) => Math.min(1, share * 1.1));
  }

  /** Calls per second that are allowed now; 0 for no limit. */
  rateOf(service: string, action: string): number {
    const { normal, share } = this.bucketOf(service, action);
    return normal.qps * share;
  }

  private changeShare(service: string, action: string, change: (share: number) => number): void {
    const bucket = this.bucketOf(service, action);
    const share = change(bucket.share);
    if (share === bucket.share) return;
    bucket.share = share;
    bucket.limiter.setRate(bucket.normal.qps * share);
  }

  private bucketOf(service: string, action: string) {
    const key = `${service} ${action}`;
    let bucket = this.buckets.get(key);
    if (bucket === undefined) {
      const kind = /^(Describe|Get|List)/.test(action) ? `${service} Describe` : service;
      const normal = limits[key] ?? limits[kind] ?? limits[service] ?? unlimited;
      bucket = { limiter: new RateLimiter(normal, this.clock), share: 1, normal };
      this.buckets.set(key, bucket);
    }
    return bucket;
  }
}
