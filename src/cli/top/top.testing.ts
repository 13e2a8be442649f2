// A few nodes and a terminal without colours, for tests of `kerf top`.
import type { Seen } from './picture.ts';

const plain = (text: string): string => text;
export const paint = { bold: plain, dim: plain, red: plain, yellow: plain, green: plain, blue: plain, cyan: plain };
export const node = (name: string, more: Partial<Seen['nodes'][number]> = {}): Seen['nodes'][number] => ({
  name,
  pool: 'default',
  type: 'c6a.2xlarge',
  zone: 'us-east-1a',
  capacityType: 'spot',
  state: 'ready',
  verdict: 'keep',
  code: 'NotCheaper',
  pricePerHour: 0.2,
  savingsPerHour: 0,
  createdMs: 0,
  cpu: 4000,
  memory: 8192,
  cpuUsed: 3000,
  memoryUsed: 4096,
  cpuDaemons: 0,
  memoryDaemons: 0,
  pods: 3,
  ...more,
});
export const seen = (nodes: Seen['nodes']): Seen => ({
  cluster: 'prod',
  time: '2026-11-16T12:41:07Z',
  nowMs: 0,
  totals: {
    nodes: nodes.length,
    ready: 1,
    pods: 3,
    waiting: 1,
    pricePerHour: 3.57,
    goingPerHour: 0,
    blockedPerHour: 0.61,
    cpu: 0,
    cpuUsed: 0,
    memory: 0,
    memoryUsed: 0,
  },
  nodes,
});
