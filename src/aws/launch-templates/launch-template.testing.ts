// An ordinary launch template for tests, and an EC2 in which templates exist until they are deleted.
import { awsRefusal } from '../fake-client.testing.ts';
import type { LaunchTemplateSpec } from './launch-template.ts';

const plain: LaunchTemplateSpec = {
  clusterName: 'demo',
  nodeClassName: 'default',
  region: 'us-east-1',
  imageId: 'ami-1',
  instanceProfile: 'profile-1',
  securityGroupIds: ['sg-1', 'sg-2'],
  userDataInputs: { labels: { a: 'b' }, taints: [{ key: 'x' }, { key: 'y' }] },
  blockDevices: [{ DeviceName: '/dev/xvda', Ebs: { VolumeSize: 20 } }],
  isIpv6: false,
  metadataOptions: {
    httpEndpoint: 'enabled',
    httpProtocolIPv6: 'disabled',
    httpPutResponseHopLimit: 1,
    httpTokens: 'required',
  },
  detailedMonitoring: false,
  networkInterfaces: [],
  efaCount: 0,
  connectionTracking: undefined,
  cpuOptions: undefined,
  enclave: false,
  tenancy: 'default',
  capacityType: 'on-demand',
  reservedCapacity: true,
  tags: { 'karpenter.sh/nodepool': 'default' },
};

export const templateSpec = (change: Partial<LaunchTemplateSpec> = {}): LaunchTemplateSpec => ({ ...plain, ...change });

/** Answers of EC2 about templates; `existing` is what there is. */
export function templateAnswers(existing: Set<string>): Record<string, (input: never) => unknown> {
  return {
    DescribeLaunchTemplates: ({ LaunchTemplateNames: names = [] }: { LaunchTemplateNames?: string[] }) => {
      if (names.some((name) => !existing.has(name))) throw awsRefusal('InvalidLaunchTemplateName.NotFoundException');
      return { LaunchTemplates: [...existing].map((LaunchTemplateName) => ({ LaunchTemplateName })) };
    },
    CreateLaunchTemplate: ({ LaunchTemplateName }: { LaunchTemplateName: string }) => {
      existing.add(LaunchTemplateName);
      return {};
    },
    DeleteLaunchTemplate: ({ LaunchTemplateName }: { LaunchTemplateName: string }) => {
      existing.delete(LaunchTemplateName);
      return {};
    },
  };
}
