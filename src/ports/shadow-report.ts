// What a shadow says it would have done, as plain data: the process serves it, commands and the dashboard show it.

export interface ShadowLaunch {
  at: string;
  nodePool: string;
  instanceType: string;
  capacityType: string;
  zone: string;
  pricePerHour: number;
  pods: string[];
}

export interface ShadowMove {
  at: string;
  reason: string;
  decision: 'delete' | 'replace';
  nodes: string[];
  replacements: string[];
  savingsPerHour: number;
}

/** A NodeClaim that someone else made or removed. */
export interface SeenClaim {
  at: string;
  name: string;
  nodePool: string;
  instanceType: string;
  pricePerHour: number;
}

export interface ShadowVerdicts {
  remove: number;
  replace: number;
  keep: number;
  /** What keeps nodes, by code of the first blocker. */
  blockers: Record<string, number>;
}

export interface ShadowReport {
  apiVersion: 'kerf/v1';
  kind: 'ShadowReport';
  since: string;
  now: string;
  nodes: number;
  costPerHour: number;
  /** What the command that would start now saves, and the node that waiting pods would get costs. */
  savingsPerHour: number;
  unschedulable: number;
  verdicts: ShadowVerdicts;
  totals: {
    wouldLaunch: number;
    wouldLaunchPerHour: number;
    launched: number;
    launchedPerHour: number;
    wouldRemove: number;
    wouldReplace: number;
    wouldSavePerHour: number;
    removed: number;
    rounds: number;
    failures: number;
  };
  /** The newest; older ones only count in the totals. */
  launches: ShadowLaunch[];
  moves: ShadowMove[];
  claimsMade: SeenClaim[];
  claimsRemoved: SeenClaim[];
}
