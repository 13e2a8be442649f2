// What `kubectl get` shows of each built-in kind: the real server's columns, in its order.
import type { TableLayout } from '../definition.ts';
import { layouts as bystanderLayouts } from './bystanders.ts';
import { layouts as nodeLayouts } from './nodes.ts';
import { layouts as otherLayouts } from './others.ts';
import { podLayout } from './pods.ts';
import { layouts as storageLayouts } from './storage.ts';
import { layouts as workloadLayouts } from './workloads.ts';

const layouts: Record<string, TableLayout> = {
  Pod: podLayout,
  ...nodeLayouts,
  ...workloadLayouts,
  ...storageLayouts,
  ...otherLayouts,
  ...bystanderLayouts,
};

export const layoutOf = (kind: string): TableLayout | undefined => layouts[kind];

export { plainLayout } from './others.ts';
