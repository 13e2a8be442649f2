// What the AWS provider tells the planner about itself.
import { awsGroup, awsLabel, awsNormalizedLabels, awsWellKnownLabels } from '../../api/names.ts';
import type { ProviderFacts } from '../../core/index.ts';

export const awsProviderFacts: ProviderFacts = {
  nodeClasses: [`EC2NodeClass.${awsGroup}`],
  wellKnownLabels: [...awsWellKnownLabels].sort(),
  restrictedLabelDomains: [awsGroup],
  normalizedLabels: { ...awsNormalizedLabels },
  reservationIDLabel: awsLabel.capacityReservationId,
  reservedCapacityLabels: [awsLabel.capacityReservationType, awsLabel.capacityReservationInterruptible],
};
