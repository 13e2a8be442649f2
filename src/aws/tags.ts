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
