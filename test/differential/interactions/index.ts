// The table of API interactions that the embedded API and the real one must answer alike.
import type { Interaction } from '../exchange.ts';
import { custom } from './custom.ts';
import { deletion } from './deletion.ts';
import { lists } from './lists.ts';
import { objects } from './objects.ts';
import { patches } from './patches.ts';
import { pods } from './pods.ts';
import { protocol } from './protocol.ts';
import { workloads } from './workloads.ts';

export const interactions: Interaction[] = [
  ...objects,
  ...patches,
  ...lists,
  ...pods,
  ...workloads,
  ...deletion,
  ...custom,
  ...protocol,
];
