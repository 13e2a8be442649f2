// With the policy Replace, a node that EC2 recommends to leave counts as drifted: a replacement is launched first, budgets
// hold, and pods move in order. Its own pool of machines is avoided for as long as the drift is looked at.
import { awsAnnotation, capacityType, label } from '../../api/index.ts';
import { type Cloud, cloudWith } from '../../ports/index.ts';
import type { LostCapacity } from './reaction.ts';

export const rebalanceDrift = 'SpotRebalanceRecommended';

export function replacingRebalanced(cloud: Cloud, lost: LostCapacity): Cloud {
  return cloudWith(cloud, {
    async driftReason(claim, options) {
      const { annotations = {}, labels = {} } = claim.metadata;
      if (annotations[awsAnnotation.rebalanceRecommended] === undefined) return cloud.driftReason(claim, options);
      lost.offering(labels[label.instanceType] ?? '', labels[label.zone] ?? '', capacityType.spot);
      return rebalanceDrift;
    },
  });
}
