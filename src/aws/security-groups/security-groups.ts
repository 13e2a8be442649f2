// Which security groups a class selects: one question per tag term, one for all ids, one for all names.
import { DescribeSecurityGroupsCommand, type EC2Client, type Filter } from '@aws-sdk/client-ec2';
import type { EC2NodeClass } from '../../api/index.ts';
import { type Clock, ExpiringMap } from '../../base/index.ts';
import { generationKey } from '../generation-key.ts';
import { nearMisses } from '../near-misses.ts';
import { allPages } from '../paging.ts';
import { tagFilters } from '../tag-filters.ts';

export interface FoundSecurityGroup {
  id: string;
  name?: string;
}

const pageSize = 500;

export class SecurityGroups {
  private readonly ec2: EC2Client;
  private readonly found: ExpiringMap<string, FoundSecurityGroup[]>;

  /** `refreshMs`: setting `securityGroupRefreshInterval`. */
  constructor({ ec2, clock, refreshMs }: { ec2: EC2Client; clock: Clock; refreshMs: number }) {
    this.ec2 = ec2;
    this.found = new ExpiringMap(clock, refreshMs);
  }

  /** By id. */
  async list(nodeClass: Pick<EC2NodeClass, 'metadata' | 'spec'>): Promise<readonly FoundSecurityGroup[]> {
    const key = generationKey(nodeClass);
    const known = this.found.get(key);
    if (known !== undefined) return known;
    const byId = new Map<string, FoundSecurityGroup>();
    for (const filters of securityGroupQueries(nodeClass.spec.securityGroupSelectorTerms)) {
      const pages = allPages((next) =>
        this.ec2.send(new DescribeSecurityGroupsCommand({ Filters: filters, MaxResults: pageSize, ...next })),
      );
      for await (const { SecurityGroups: groups = [] } of pages) {
        for (const { GroupId: id, GroupName: name } of groups) {
          if (id !== undefined) byId.set(id, name === undefined ? { id } : { id, name });
        }
      }
    }
    const groups = [...byId.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
    this.found.set(key, groups);
    return groups;
  }

  /** What carries the tags of terms that find nothing, with other values. */
  nearMisses({ spec }: Pick<EC2NodeClass, 'spec'>): Promise<string | undefined> {
    return nearMisses('security group', spec.securityGroupSelectorTerms, async (Filters) => {
      const { SecurityGroups: found = [] } = await this.ec2.send(
        new DescribeSecurityGroupsCommand({ Filters, MaxResults: pageSize }),
      );
      return found.map(({ Tags }) => Tags);
    });
  }
}

/** An id beside other fields counts alone, and so does a name beside tags. */
export function securityGroupQueries(terms: EC2NodeClass['spec']['securityGroupSelectorTerms']): Filter[][] {
  const ids = terms.flatMap(({ id }) => id ?? []);
  const names = terms.filter(({ id }) => id === undefined).flatMap(({ name }) => name ?? []);
  const byTags = terms.filter(({ id, name }) => id === undefined && name === undefined);
  return [
    ...(ids.length === 0 ? [] : [[{ Name: 'group-id', Values: ids }]]),
    ...(names.length === 0 ? [] : [[{ Name: 'group-name', Values: names }]]),
    ...byTags.map(({ tags }) => tagFilters(tags)),
  ];
}
