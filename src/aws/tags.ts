// Tags of everything the provider makes: the node class's own, under those by which the provider finds its things again.
import type { Tag } from '@aws-sdk/client-ec2';
import { awsTag, type EC2NodeClass } from '../api/index.ts';

export function resourceTags(
  nodeClass: EC2NodeClass,
  { clusterName, nodePool }: { clusterName: string; nodePool: string },
): Record<string, string> {
  return {
    ...nodeClass.spec.tags,
    [`${awsTag.clusterPrefix}${clusterName}`]: 'owned',
    [awsTag.nodePool]: nodePool,
    [awsTag.clusterName]: clusterName,
    [awsTag.nodeClass]: nodeClass.metadata.name ?? '',
  };
}

export function tagList(tags: Readonly<Record<string, string>>): Tag[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}

export function tagMap(tags: readonly Tag[] | undefined): Record<string, string> {
  return Object.fromEntries((tags ?? []).map(({ Key = '', Value = '' }) => [Key, Value]));
}

const restrictedKeys: readonly string[] = [awsTag.clusterName, awsTag.nodePool, awsTag.nodeClaim, awsTag.nodeClass];
const clusterKey = /^kubernetes\.io\/cluster\/[0-9A-Za-z][A-Za-z0-9\-_]*$/;

/** The first tag of a class that only the provider may set; undefined when all are its own. */
export function restrictedTag(tags: Readonly<Record<string, string>> | undefined): string | undefined {
  return Object.keys(tags ?? {}).find((key) => restrictedKeys.includes(key) || clusterKey.test(key));
}

/**
 * Why an instance is not one of the cluster's, in a clause; undefined when it is. A claim's status names its instance, and
 * whoever may write it could name any: it is ours only if what launched it says so, the cluster's tag and the NodePool's.
 */
export function whyForeign(tags: Readonly<Record<string, string>>, clusterName: string): string | undefined {
  const ownership = `${awsTag.clusterPrefix}${clusterName}`;
  if (tags[awsTag.clusterName] !== clusterName && tags[ownership] !== 'owned')
    return `has neither tag ${awsTag.clusterName}=${clusterName} nor ${ownership}=owned`;
  return tags[awsTag.nodePool] === undefined ? `has no tag ${awsTag.nodePool}` : undefined;
}

/** The most EC2 and IAM take on one thing. */
const mostTags = 50;
const longestKey = 128;
const longestValue = 256;
/** Those of `resourceTags`, and the two that an instance gets once its node is known. */
const ownTags = 6;
const iamText = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

/** Why AWS would refuse the tags of a class, as a sentence; undefined when it would not. With a role they go to IAM, too. */
export function tagProblem({
  tags = {},
  role,
}: Partial<Pick<EC2NodeClass['spec'], 'tags' | 'role'>>): string | undefined {
  const entries = Object.entries(tags);
  if (entries.length > mostTags - ownTags)
    return `${entries.length} tags are more than the ${mostTags - ownTags} that AWS takes beside ours`;
  for (const [key, value] of entries) {
    const why = whyRefused(key, value, role !== undefined);
    if (why !== undefined) return why;
  }
  return undefined;
}

function whyRefused(key: string, value: string, isForIam: boolean): string | undefined {
  if (/^aws:/i.test(key)) return `tag "${key}" begins with aws:, which AWS keeps for itself`;
  if ([...key].length > longestKey) return `tag "${key.slice(0, 20)}…" is longer than ${longestKey} characters`;
  if ([...value].length > longestValue) return `the value of "${key}" is longer than ${longestValue} characters`;
  if (isForIam && !(iamText.test(key) && iamText.test(value)))
    return `tag "${key}" has characters that IAM refuses on the instance profile of spec.role: use letters, digits, spaces and _.:/=+-@`;
  return undefined;
}
