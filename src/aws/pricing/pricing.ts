// What machines cost. Starts from the figures that ship with the project, so that nothing waits for AWS; what AWS says
// later is laid over them, and a failed or partial answer takes nothing away.
//
// Spot prices are per zone. Until AWS first reported any, the built-in on-demand price stands in; from then on a type without a price in
// a zone is unavailable as spot there.
import { DescribeSpotPriceHistoryCommand, type EC2Client } from '@aws-sdk/client-ec2';
import type { PricingClient } from '@aws-sdk/client-pricing';
import type { Clock } from '../../base/index.ts';
import { KerfError, messageOf } from '../../base/index.ts';
import type { Log } from '../../ports/index.ts';
import { type BuiltInTables, builtInPrices, builtInTables } from '../instance-types/built-in-tables.ts';
import type { Prices } from '../instance-types/context.ts';
import { allPages } from '../paging.ts';
import { onDemandPrices } from './on-demand-prices.ts';

export interface PricingOptions {
  ec2: EC2Client;
  pricing: PricingClient;
  clock: Clock;
  log: Log;
  region: string;
  /** There is no way to the pricing service from a network without the internet (setting `isolatedVPC`). */
  isolatedVpc: boolean;
  tables: BuiltInTables;
}

const spotProducts = ['Linux/UNIX', 'Linux/UNIX (Amazon VPC)'];
const spotPageSize = 2_000;

export class Pricing implements Prices {
  private readonly options: PricingOptions;
  private readonly onDemandByType: Map<string, number>;
  private readonly builtIn: Readonly<Record<string, number>>;
  private readonly spotByPool = new Map<string, Map<string, number>>();
  private isSpotKnown = false;
  private changes = 0;

  constructor(options: PricingOptions) {
    this.options = options;
    this.builtIn = builtInPrices(options.tables, options.region);
    this.onDemandByType = new Map(Object.entries(this.builtIn));
  }

  /** Rises whenever a price changed. */
  get version(): number {
    return this.changes;
  }

  onDemand(instanceType: string): number | undefined {
    return this.onDemandByType.get(instanceType);
  }

  spot(instanceType: string, zone: string): number | undefined {
    return this.isSpotKnown ? this.spotByPool.get(instanceType)?.get(zone) : this.builtIn[instanceType];
  }

  /** Both kinds, each on its own: one that fails does not keep the other from being brought up to date. */
  async refresh(): Promise<void> {
    const results = await Promise.allSettled([this.refreshOnDemand(), this.refreshSpot()]);
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    if (errors.length > 1) {
      const why = [...new Set(errors.map(messageOf))].join('; ');
      throw new AggregateError(errors, `neither on-demand nor spot prices could be read: ${why}`);
    }
    if (errors.length === 1) throw errors[0];
  }

  private async refreshOnDemand(): Promise<void> {
    const { pricing, region, isolatedVpc, log } = this.options;
    // GovCloud has no pricing service.
    if (isolatedVpc || region.startsWith('us-gov-')) return;
    const prices = await onDemandPrices(pricing, region);
    let isChanged = false;
    for (const [type, price] of prices) {
      if (this.onDemandByType.get(type) === price) continue;
      this.onDemandByType.set(type, price);
      isChanged = true;
    }
    if (!isChanged) return;
    this.changes += 1;
    log.debug('updated on-demand pricing', { 'instance-type-count': this.onDemandByType.size });
  }

  private async refreshSpot(): Promise<void> {
    const { ec2, clock, log } = this.options;
    const prices: [type: string, zone: string, price: number][] = [];
    const pages = allPages((next) =>
      ec2.send(
        new DescribeSpotPriceHistoryCommand({
          StartTime: new Date(clock.now()),
          ProductDescriptions: spotProducts,
          MaxResults: spotPageSize,
          ...next,
        }),
      ),
    );
    for await (const { SpotPriceHistory = [] } of pages) {
      for (const { InstanceType, AvailabilityZone, SpotPrice, Timestamp } of SpotPriceHistory) {
        const price = Number.parseFloat(SpotPrice ?? '');
        if (Timestamp === undefined || InstanceType === undefined || AvailabilityZone === undefined) continue;
        if (Number.isFinite(price)) prices.push([InstanceType, AvailabilityZone, price]);
      }
    }
    if (prices.length === 0) {
      throw new KerfError('NoSpotPrices', `EC2 lists no spot prices for ${this.options.region}`, {
        retryable: true,
      });
    }
    let isChanged = !this.isSpotKnown;
    this.isSpotKnown = true;
    for (const [type, zone, price] of prices) {
      let zones = this.spotByPool.get(type);
      if (zones === undefined) this.spotByPool.set(type, (zones = new Map()));
      if (zones.get(zone) === price) continue;
      zones.set(zone, price);
      isChanged = true;
    }
    if (!isChanged) return;
    this.changes += 1;
    log.debug('updated spot pricing', { 'instance-type-count': this.spotByPool.size });
  }
}

/** Prices as AWS has them now, for someone who asks once; both lists or an error. */
export async function livePricing(
  options: Pick<PricingOptions, 'ec2' | 'pricing' | 'clock' | 'log' | 'region'>,
): Promise<Prices> {
  const { ec2, pricing, clock, log, region } = options;
  const prices = new Pricing({ ec2, pricing, clock, log, region, isolatedVpc: false, tables: await builtInTables() });
  await prices.refresh();
  return prices;
}
