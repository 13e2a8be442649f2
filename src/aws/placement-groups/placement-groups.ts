// The placement group a class selects. It is not part of the class's status, so it is remembered here, where launches and
// instance types look it up; when EC2 cannot be asked, what was resolved last still counts.
import { DescribePlacementGroupsCommand, type EC2Client, type PlacementGroup } from '@aws-sdk/client-ec2';
import type { EC2NodeClass } from '../../api/index.ts';
import { type Clock, ExpiringMap } from '../../base/index.ts';

export interface ResolvedPlacementGroup {
  id: string;
  name: string;
  /** `cluster`, `partition`, `spread`. */
  strategy: string;
  /** Of a partition group. */
  partitions?: number;
  /** Of a spread group. */
  spreadLevel?: 'rack' | 'host';
}

export type PlacementGroupAnswer =
  | { kind: 'none' }
  | { kind: 'resolved'; group: ResolvedPlacementGroup }
  | { kind: 'notFound' }
  /** EC2 could not be asked. `group` is what it said before. */
  | { kind: 'failed'; error: unknown; group?: ResolvedPlacementGroup };

type Selector = NonNullable<EC2NodeClass['spec']['placementGroupSelector']>;

const queryTtlMs = 60_000;
const resolvedTtlMs = 24 * 3_600_000;

export class PlacementGroups {
  private readonly ec2: EC2Client;
  private readonly answers: ExpiringMap<string, ResolvedPlacementGroup | 'notFound'>;
  private readonly resolved: ExpiringMap<string, ResolvedPlacementGroup>;
  /** Selectors that EC2 answered about since this process started, be it that there is no such group. */
  private readonly lookedUp = new Set<string>();

  constructor({ ec2, clock }: { ec2: EC2Client; clock: Clock }) {
    this.ec2 = ec2;
    this.answers = new ExpiringMap(clock, queryTtlMs);
    this.resolved = new ExpiringMap(clock, resolvedTtlMs);
  }

  async resolve({ spec }: Pick<EC2NodeClass, 'spec'>): Promise<PlacementGroupAnswer> {
    const selector = spec.placementGroupSelector;
    if (selector === undefined) return { kind: 'none' };
    const key = keyOf(selector);
    let answer = this.answers.get(key);
    if (answer === undefined) {
      try {
        answer = await this.ask(selector);
      } catch (error) {
        const group = this.resolved.get(key);
        return group === undefined ? { kind: 'failed', error } : { kind: 'failed', error, group };
      }
      this.answers.set(key, answer);
      this.lookedUp.add(key);
    }
    if (answer === 'notFound') {
      this.resolved.delete(key);
      return { kind: 'notFound' };
    }
    this.resolved.set(key, answer);
    return { kind: 'resolved', group: answer };
  }

  /** What was resolved for the class, without asking EC2. */
  known({ spec }: Pick<EC2NodeClass, 'spec'>): ResolvedPlacementGroup | undefined {
    return spec.placementGroupSelector === undefined
      ? undefined
      : this.resolved.get(keyOf(spec.placementGroupSelector));
  }

  /** False while `known` only says nothing because EC2 was not asked yet: after a start, the class's status is older than we. */
  isLookedUp({ spec }: Pick<EC2NodeClass, 'spec'>): boolean {
    return spec.placementGroupSelector === undefined || this.lookedUp.has(keyOf(spec.placementGroupSelector));
  }

  private async ask(selector: Selector): Promise<ResolvedPlacementGroup | 'notFound'> {
    try {
      const { PlacementGroups: groups = [] } = await this.ec2.send(
        new DescribePlacementGroupsCommand({
          Filters: [{ Name: 'state', Values: ['available'] }],
          ...(selector.id === undefined ? { GroupNames: [selector.name ?? ''] } : { GroupIds: [selector.id] }),
        }),
      );
      return groups[0] === undefined ? 'notFound' : read(groups[0]);
    } catch (error) {
      // EC2 refuses a name or an id it does not know instead of answering with an empty list.
      if (error instanceof Error && error.name.startsWith('InvalidPlacementGroup')) return 'notFound';
      throw error;
    }
  }
}

const keyOf = ({ id, name }: Selector): string => (id === undefined ? `name:${name}` : `id:${id}`);

function read(group: PlacementGroup): ResolvedPlacementGroup {
  const { GroupId: id = '', GroupName: name = '', Strategy, PartitionCount: partitions, SpreadLevel } = group;
  const strategy = Strategy ?? 'cluster';
  return {
    id,
    name,
    strategy,
    ...(strategy === 'partition' && partitions !== undefined ? { partitions } : {}),
    ...(strategy === 'spread' && SpreadLevel !== undefined ? { spreadLevel: SpreadLevel } : {}),
  };
}
