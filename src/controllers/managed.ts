// Whose objects are ours: those whose node class is of a kind the provider serves.
import type { Cloud, KubeObject } from '../ports/index.ts';

export interface NodeClassRef {
  group: string;
  kind: string;
  name: string;
}

export function isServedBy(cloud: Pick<Cloud, 'nodeClasses'>, ref: NodeClassRef | undefined): boolean {
  return cloud.nodeClasses.some((each) => each.group === ref?.group && each.kind === ref.kind);
}

/** The label that names a node class on claims and nodes: `<group>/<kind in lower case>`. */
export function nodeClassLabel(ref: Pick<NodeClassRef, 'group' | 'kind'>): string {
  return `${ref.group}/${ref.kind.toLowerCase()}`;
}

/** Nodes carry no reference, only that label. */
export function isManagedNode(cloud: Pick<Cloud, 'nodeClasses'>, node: KubeObject): boolean {
  return cloud.nodeClasses.some((each) => node.metadata.labels?.[nodeClassLabel(each)] !== undefined);
}
