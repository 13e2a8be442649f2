// Static drift as annotations tell it: the hash of what a node was made from against the hash of what is wanted now.
import { annotation, awsAnnotation } from '../names.ts';

type Annotations = Readonly<Record<string, string>> | undefined;

const nodePoolKeys = { hash: annotation.nodePoolHash, version: annotation.nodePoolHashVersion };
const nodeClassKeys = { hash: awsAnnotation.nodeClassHash, version: awsAnnotation.nodeClassHashVersion };

/** Hashes of different versions, or one that is missing, say nothing: only a fair comparison counts as drift. */
function differ(keys: typeof nodePoolKeys | typeof nodeClassKeys, wanted: Annotations, had: Annotations): boolean {
  const [version, hash] = [wanted?.[keys.version], wanted?.[keys.hash]];
  if (version === undefined || hash === undefined || had?.[keys.hash] === undefined) return false;
  return version === had[keys.version] && hash !== had[keys.hash];
}

export const nodePoolDrifted = (nodePool: Annotations, nodeClaim: Annotations): boolean =>
  differ(nodePoolKeys, nodePool, nodeClaim);

export const ec2NodeClassDrifted = (nodeClass: Annotations, nodeClaim: Annotations): boolean =>
  differ(nodeClassKeys, nodeClass, nodeClaim);
