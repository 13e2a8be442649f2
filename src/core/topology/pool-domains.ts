// The domains new nodes could open: for each topology key, the concrete values the pools' requirements, labels and
// instance types allow, with the taints a pod would have to tolerate to get there.

import type { NodePool, Taint, Toleration } from '../kube/objects.ts';
import { toleratesAll } from '../kube/taints.ts';
import type { InstanceType } from '../pools/instance-types.ts';
import { type LabelRules, normalizedRequirement } from '../requirements/label-rules.ts';
import { intersection, type Requirement } from '../requirements/requirement.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';

interface PoolTypes {
  readonly set: RequirementSet;
  readonly taints: readonly Taint[];
  readonly types: readonly InstanceType[];
}

export class PoolDomains {
  private readonly pools: readonly PoolTypes[];
  private readonly byKey = new Map<string, ReadonlyMap<string, readonly (readonly Taint[])[]>>();

  constructor(
    table: RequirementTable,
    rules: LabelRules,
    pools: readonly { readonly pool: NodePool; readonly types: readonly InstanceType[] }[],
  ) {
    this.pools = pools
      .filter(({ types }) => types.length > 0)
      .map(({ pool, types }) => {
        const template = pool.spec?.template;
        const labels = Object.entries(template?.metadata?.labels ?? {});
        return {
          set: table.setOf([
            ...(template?.spec?.requirements ?? []).map((spec) => normalizedRequirement(rules, spec)),
            ...labels.map(([key, value]) => normalizedRequirement(rules, { key, operator: 'In', values: [value] })),
          ]),
          taints: template?.spec?.taints ?? [],
          types,
        };
      });
  }

  /** Sorted. With tolerations, only domains of which some pool lets the pod in. */
  domainsOf(key: string, tolerations: readonly Toleration[] | undefined): string[] {
    const domains: string[] = [];
    for (const [domain, taintSets] of this.taintSetsOf(key)) {
      if (tolerations === undefined || taintSets.some((taints) => toleratesAll(taints, tolerations))) {
        domains.push(domain);
      }
    }
    return domains.sort();
  }

  private taintSetsOf(key: string): ReadonlyMap<string, readonly (readonly Taint[])[]> {
    let result = this.byKey.get(key);
    if (result === undefined) {
      const domains = new Map<string, (readonly Taint[])[]>();
      for (const pool of this.pools) {
        for (const value of valuesIn(pool, key)) {
          const known = domains.get(value);
          if (known) known.push(pool.taints);
          else domains.set(value, [pool.taints]);
        }
      }
      result = domains;
      this.byKey.set(key, result);
    }
    return result;
  }
}

function valuesIn(pool: PoolTypes, key: string): Set<string> {
  const values = new Set<string>();
  const add = (requirement: Requirement | undefined): void => {
    if (requirement !== undefined && !requirement.complement) for (const value of requirement.values) values.add(value);
  };
  const own = pool.set.byKey.get(key);
  add(own);
  // Types mostly share a handful of distinct requirements per key.
  const seen = new Set<Requirement>();
  for (const type of pool.types) {
    const offered = type.set.byKey.get(key);
    if (offered === undefined || seen.has(offered)) continue;
    seen.add(offered);
    add(own === undefined ? offered : intersection(offered, own));
  }
  return values;
}
