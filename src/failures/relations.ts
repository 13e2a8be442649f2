// What hangs on what: a node class carries its pools, a pool its claims, a claim its node. A cause found at one of them
// explains what is wrong below it, and nothing beside it.
import type { Evidence } from './evidence.ts';
import type { ObjectRef } from './failure.ts';
import { textAt } from './fields.ts';
import { labelsOf, refOf, type Stored } from './objects.ts';

const keyOf = ({ kind, name }: ObjectRef): string => `${kind}/${name}`;

export const poolLabel = 'karpenter.sh/nodepool';

export function nodeClassNameOf({ object, kind }: Stored): string {
  return kind === 'NodePool'
    ? textAt(object, 'spec', 'template', 'spec', 'nodeClassRef', 'name')
    : textAt(object, 'spec', 'nodeClassRef', 'name');
}

export const poolNameOf = ({ object }: Stored): string => textAt(labelsOf(object), poolLabel);

/** The objects and everything that hangs on them, as keys. */
export function below(refs: readonly ObjectRef[], { objects }: Evidence): ReadonlySet<string> {
  const reached = new Set(refs.map(keyOf));
  const classes = new Set(refs.filter(({ kind }) => kind === 'EC2NodeClass').map(({ name }) => name));
  for (const pool of objects.of('NodePool')) if (classes.has(nodeClassNameOf(pool))) reached.add(keyOf(refOf(pool)));
  for (const claim of objects.of('NodeClaim'))
    if (classes.has(nodeClassNameOf(claim)) || reached.has(`NodePool/${poolNameOf(claim)}`))
      reached.add(keyOf(refOf(claim)));
  // A node and its claim are one machine.
  for (const claim of objects.of('NodeClaim')) {
    if (reached.has(`Node/${textAt(claim.object, 'status', 'nodeName')}`)) reached.add(keyOf(refOf(claim)));
    const node = textAt(claim.object, 'status', 'nodeName');
    if (node !== '' && reached.has(keyOf(refOf(claim)))) reached.add(`Node/${node}`);
  }
  for (const node of objects.of('Node'))
    if (reached.has(`NodePool/${poolNameOf(node)}`)) reached.add(keyOf(refOf(node)));
  return reached;
}

export const isBelow = (ref: ObjectRef, reached: ReadonlySet<string>): boolean => reached.has(keyOf(ref));
