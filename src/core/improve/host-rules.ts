// Which pods may share a new host, as numbers: spreads and anti-affinities over host names, and host ports. A rule binds
// a host as soon as one of its owners is there; pods it selects count whether they own it or not.

import type { HostPort } from '../pods/host-ports.ts';
import type { TopologyGroup } from '../topology/topology-groups.ts';
import type { Constraint } from '../workload.ts';
import type { HostRules } from './pile.ts';

export class HostRuleBook {
  private readonly numbers = new Map<TopologyGroup | string, number>();
  private readonly known = new Map<Constraint, { readonly rules: HostRules | undefined; readonly identity: string }>();

  /** The rules of pods under this constraint, and a text that is equal for equal rules. */
  of(constraint: Constraint): { readonly rules: HostRules | undefined; readonly identity: string } {
    let own = this.known.get(constraint);
    if (own === undefined) {
      own = this.compile(constraint);
      this.known.set(constraint, own);
    }
    return own;
  }

  private compile({ rules, ports }: Constraint): { rules: HostRules | undefined; identity: string } {
    const owns = new Map<number, number>();
    const countedIn = new Set<number>();
    for (const group of [...rules.counted, ...rules.ownedInverse]) {
      if (group.isHostname) countedIn.add(this.numberOf(group));
    }
    for (const { group, most } of rules.hostBounds) {
      const rule = this.numberOf(group);
      // Before it came there may be `most`; if it counts itself, one more is there afterwards.
      const after = most + (countedIn.has(rule) ? 1 : 0);
      owns.set(rule, Math.min(owns.get(rule) ?? Number.POSITIVE_INFINITY, after));
    }
    // Addresses are not distinguished: two pods that could share a port on two of them get hosts of their own.
    for (const { port, protocol } of ports) {
      const rule = this.numberOf(portName({ port, protocol }));
      countedIn.add(rule);
      owns.set(rule, 1);
    }
    if (owns.size === 0 && countedIn.size === 0) return { rules: undefined, identity: '' };
    const list = [...owns].map(([rule, most]) => ({ rule, most })).sort((left, right) => left.rule - right.rule);
    const counted = [...countedIn].sort((left, right) => left - right);
    const identity = `${list.map(({ rule, most }) => `${rule}:${most}`).join()}|${counted.join()}`;
    return { rules: { owns: list, countedIn: counted }, identity };
  }

  private numberOf(rule: TopologyGroup | string): number {
    let number = this.numbers.get(rule);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(rule, number);
    }
    return number;
  }
}

function portName({ port, protocol }: Pick<HostPort, 'port' | 'protocol'>): string {
  return `${protocol}/${port}`;
}
