// EC2NodeClass as a resource of the Kube port.
import { awsGroup, type EC2NodeClass } from '../api/index.ts';
import type { Resource } from '../ports/index.ts';

export const ec2NodeClasses: Resource<EC2NodeClass> = {
  group: awsGroup,
  version: 'v1',
  plural: 'ec2nodeclasses',
  kind: 'EC2NodeClass',
  namespaced: false,
};
