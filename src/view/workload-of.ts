// What made a pod, by the name a person knows: the Deployment rather than its ReplicaSet, the CronJob's Job as it is.
import type { Pod } from '../ports/index.ts';

/** `namespace/name` */
export function workloadOf({ metadata }: Pod): string {
  const { namespace = 'default', name = '', labels, ownerReferences } = metadata;
  const owner = ownerReferences?.find(({ controller }) => controller === true) ?? ownerReferences?.[0];
  const hash = labels?.['pod-template-hash'];
  const maker = owner === undefined ? name : hash === undefined ? owner.name : owner.name.replace(`-${hash}`, '');
  return `${namespace}/${maker}`;
}
