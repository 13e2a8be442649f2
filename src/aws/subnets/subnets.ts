// Which subnets a class selects: one question per tag term and one for all ids, the union by id. An answer is believed
// for the refresh interval, for the class as it is written now: an edited class asks again at once.
import { DescribeSubnetsCommand, type EC2Client, type Filter, type Subnet } from '@aws-sdk/client-ec2';
import type { EC2NodeClass } from '../../api/index.ts';
import { type Clock, ExpiringMap } from '../../base/index.ts';
import { generationKey } from '../generation-key.ts';
import { nearMisses } from '../near-misses.ts';
import { allPages } from '../paging.ts';
import { tagFilters } from '../tag-filters.ts';
import type { SubnetAddresses } from './subnet-addresses.ts';

export interface FoundSubnet {
  id: string;
  zone: string;
  zoneID?: string;
  freeAddresses: number;
}

export interface SubnetsOptions {
  ec2: EC2Client;
  clock: Clock;
  /** Setting `subnetRefreshInterval`. */
  refreshMs: number;
  addresses: SubnetAddresses;
}

const pageSize = 500;

export class Subnets {
  private readonly options: SubnetsOptions;
  private readonly found: ExpiringMap<string, FoundSubnet[]>;

  constructor(options: SubnetsOptions) {
    this.options = options;
    this.found = new ExpiringMap(options.clock, options.refreshMs);
  }

  /** Those with most free addresses first, equals by id. */
  async list(nodeClass: Pick<EC2NodeClass, 'metadata' | 'spec'>): Promise<readonly FoundSubnet[]> {
    const key = generationKey(nodeClass);
    const known = this.found.get(key);
    if (known !== undefined) return known;
    const byId = new Map<string, FoundSubnet>();
    for (const filters of subnetQueries(nodeClass.spec.subnetSelectorTerms)) {
      for (const subnet of await this.describe(filters)) byId.set(subnet.id, subnet);
    }
    const subnets = [...byId.values()].sort(
      (left, right) => right.freeAddresses - left.freeAddresses || (left.id < right.id ? -1 : 1),
    );
    this.options.addresses.observe(subnets);
    this.found.set(key, subnets);
    return subnets;
  }

  /** What carries the tags of terms that find nothing, with other values. */
  nearMisses({ spec }: Pick<EC2NodeClass, 'spec'>): Promise<string | undefined> {
    return nearMisses('subnet', spec.subnetSelectorTerms, async (Filters) => {
      const { Subnets: found = [] } = await this.options.ec2.send(
        new DescribeSubnetsCommand({ Filters, MaxResults: pageSize }),
      );
      return found.map(({ Tags }) => Tags);
    });
  }

  private async describe(filters: Filter[]): Promise<FoundSubnet[]> {
    const { ec2 } = this.options;
    const pages = allPages((next) =>
      ec2.send(new DescribeSubnetsCommand({ Filters: filters, MaxResults: pageSize, ...next })),
    );
    const subnets: FoundSubnet[] = [];
    for await (const page of pages) for (const subnet of page.Subnets ?? []) subnets.push(...read(subnet));
    return subnets;
  }
}

/** Filters of every question the terms need. Where a term has an id, the id alone counts. */
export function subnetQueries(terms: EC2NodeClass['spec']['subnetSelectorTerms']): Filter[][] {
  const ids = terms.flatMap(({ id }) => id ?? []);
  const byTags = terms.filter(({ id }) => id === undefined).map(({ tags }) => tagFilters(tags));
  return [...(ids.length === 0 ? [] : [[{ Name: 'subnet-id', Values: ids }]]), ...byTags];
}

function read({ SubnetId: id, AvailabilityZone: zone, AvailabilityZoneId, AvailableIpAddressCount }: Subnet) {
  if (id === undefined || zone === undefined) return [];
  const subnet: FoundSubnet = { id, zone, freeAddresses: AvailableIpAddressCount ?? 0 };
  return [AvailabilityZoneId === undefined ? subnet : { ...subnet, zoneID: AvailabilityZoneId }];
}
