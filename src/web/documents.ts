// The documents of the API as the page reads them. What the server's rooms define is taken from there, as types only.
import type { NodeVerdict, Reason } from '../core/index.ts';
import type { Decision, ShadowReport } from '../ports/index.ts';
import type { CostView, PodStory, PoolView, SeriesView, WaitingGroup, WaitingView } from '../view/index.ts';

export type {
  CostView,
  Decision,
  NodeVerdict,
  PodStory,
  PoolView,
  Reason,
  SeriesView,
  ShadowReport,
  WaitingGroup,
  WaitingView,
};

export interface Info {
  mode: 'up' | 'controller' | 'shadow' | 'outside' | 'recording';
  cluster: string;
  build: string;
  time: string;
  speed: number;
  paused: boolean;
  faults?: string[];
  recorded?: { fromMs: number; toMs: number };
  isPast?: boolean;
  story?: { name: string; caption: string; step: number; steps: number };
  capabilities: {
    player: boolean;
    decisions: boolean;
    whatIf: boolean;
    apply: boolean;
    doctor: boolean;
    snapshots: boolean;
    usage: boolean;
  };
  provider: string;
  synced: boolean;
  notVisible: string[];
  decisionsKeptSince?: string;
}

export interface DecisionList {
  items: Decision[];
  continue?: string;
  keptSince?: string;
}

export type PodDocument = PodStory & { nodeVerdict?: NodeVerdict; keepsNode?: NodeVerdict['blockers'] };

interface Side {
  pricePerHour: number;
  newNodes: number;
  unschedulable: number;
  going: number;
  goingPerHour: number;
}

interface DaySide {
  dollars: number;
  evictions: number;
  launched: number;
  removed: number;
  mostNodes: number;
  podHoursWithoutPlace: number;
}

export interface UsageView {
  served: boolean;
  message?: string;
  nodes: Record<string, [cpu: number, memory: number]>;
}

export interface WhatIfResult {
  id: string;
  state: 'running' | 'done' | 'failed' | 'cancelled';
  message?: string;
  findings: { severity: string; message: string; line?: number }[];
  before?: Side;
  after?: Side;
  losePlace?: string[];
  gainPlace?: string[];
  moved?: number;
  newNodes?: { instanceType: string; zone: string; capacityType: string; pricePerHour: number; pods: number }[];
  drift?: { nodePool: string; reason: string; nodes: string[] }[];
  day?: { from: string; to: string; before: DaySide; after: DaySide };
  tookMs?: number;
}
