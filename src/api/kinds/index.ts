// All kinds, in the order in which they are printed and documented.
import { capacityBuffer } from './capacity-buffer.ts';
import type { KindDefinition } from './definition.ts';
import { ec2NodeClass } from './ec2-node-class.ts';
import { kwokNodeClass } from './kwok-node-class.ts';
import { nodeClaim } from './node-claim.ts';
import { nodeOverlay } from './node-overlay.ts';
import { nodePool } from './node-pool.ts';

export const kinds: readonly KindDefinition[] = [
  nodePool,
  nodeClaim,
  nodeOverlay,
  capacityBuffer,
  ec2NodeClass,
  kwokNodeClass,
];
