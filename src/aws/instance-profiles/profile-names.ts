// Names, paths and tags of the instance profiles we make. The path says whose a profile is: region, cluster, class.
import { awsTag, type EC2NodeClass, label, textHash } from '../../api/index.ts';

export interface ProfileScope {
  region: string;
  clusterName: string;
}

/** What IAM takes as a name. */
const validName = /^[\w+=,.@-]{1,128}$/;

export const isValidProfileName = (name: string): boolean => validName.test(name);

/** `unique` makes every profile a new one: EC2 remembers what a name once stood for. */
export function profileName({ region, clusterName }: ProfileScope, nodeClassName: string, unique: string): string {
  return `${clusterName}_${textHash(`${region}${nodeClassName}${unique}`)}`;
}

/** The one profile a class had before 1.7. */
export const legacyProfileName = (scope: ProfileScope, nodeClassName: string): string =>
  profileName(scope, nodeClassName, '');

export const clusterPath = ({ region, clusterName }: ProfileScope): string => `/karpenter/${region}/${clusterName}/`;

export const classPath = (scope: ProfileScope, nodeClass: Pick<EC2NodeClass, 'metadata'>): string =>
  `${clusterPath(scope)}${nodeClass.metadata.uid ?? ''}/`;

/** Ours win over tags of the class: IAM policies go by them. */
export function profileTags({ region, clusterName }: ProfileScope, nodeClass: EC2NodeClass): Record<string, string> {
  return {
    ...nodeClass.spec.tags,
    [`${awsTag.clusterPrefix}${clusterName}`]: 'owned',
    [awsTag.clusterName]: clusterName,
    [awsTag.nodeClass]: nodeClass.metadata.name ?? '',
    [label.region]: region,
  };
}

/** A role is attached by its name alone, without its path. */
export const bareRoleName = (role: string): string => role.slice(role.lastIndexOf('/') + 1);
