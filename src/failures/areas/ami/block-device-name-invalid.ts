// A volume mapping written for an image of another family.
import type { Failure, Found } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { caught, fieldItem, foundIn } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';
import { refOf, type Stored } from '../../objects.ts';

export const blockDeviceNameInvalid: Failure = {
  id: 'ami/block-device-name-invalid',
  severity: 'high',
  symptom: 'Launches fail with `InvalidBlockDeviceMapping: Invalid device name /dev/xvda`.',
  cause:
    'The block device mapping was written for another family: the root is /dev/xvda for Amazon Linux, /dev/sda1 for Windows and Ubuntu; Bottlerocket has its data on /dev/xvdb',
  fix: "Use the image's own root device name.",
  needs: [anyOf(texts('log', 'object'), kinds('EC2NodeClass'))],
  signs: [
    {
      words: ['invalidblockdevicemapping', 'invalid device name'],
      pattern:
        /InvalidBlockDeviceMapping(?!: (?:Volume of size|Iops|The (?:iops|encrypted|throughput)))(?:: (?:Invalid device name (?<device>\/dev\/\w+)|.{0,120}))?|Invalid device name (?<device2>\/dev\/\w+)/i,
      until: ['launched'],
    },
  ],
  fromText(sightings) {
    const device = caught(sightings, 'device') ?? caught(sightings, 'device2');
    return [
      foundIn(sightings, {
        summary: `EC2 refuses the block device mapping${device === undefined ? '' : `: ${device} is not a device of the image`}.`,
        fix: [
          "aws ec2 describe-images --image-ids $(kubectl get ec2nodeclass -o jsonpath='{.items[*].status.amis[*].id}') --query 'Images[].[Name,RootDeviceName]' --output table",
          `spec.blockDeviceMappings[].deviceName of the EC2NodeClass: that RootDeviceName${device === undefined ? '' : ` instead of ${device}`}`,
        ],
      }),
    ];
  },
  check({ objects, aws }): Found[] {
    const images = aws.items('ec2-describe-images').map(({ item, source }) => ({ item, source }));
    return objects.of('EC2NodeClass').flatMap((nodeClass): Found[] => {
      const devices = listAt(nodeClass.object, 'spec', 'blockDeviceMappings').map((one) => textAt(one, 'deviceName'));
      const own = listAt(nodeClass.object, 'status', 'amis').map((one) => textAt(one, 'id'));
      const root = images.find(({ item }) => own.includes(textAt(item, 'ImageId')));
      const name = textAt(root?.item, 'RootDeviceName');
      if (devices.length === 0 || name === '' || devices.includes(name) || isBottlerocket(nodeClass)) return [];
      return [
        {
          confidence: 'likely',
          summary: `EC2NodeClass ${nodeClass.name} maps ${devices.join(', ')}, but the root device of its image is ${name}.`,
          objects: [refOf(nodeClass)],
          evidence: [
            fieldItem(nodeClass, 'spec.blockDeviceMappings', devices.join(', ')),
            { source: root?.source ?? '', text: `RootDeviceName: ${name}` },
          ],
          fix: [`spec.blockDeviceMappings[0].deviceName of EC2NodeClass ${nodeClass.name}: ${name}`],
          key: nodeClass.name,
        },
      ];
    });
  },
  explains: ['scheduling/launch-rejected-by-provider'],
};

const isBottlerocket = ({ object }: Stored): boolean =>
  textAt(object, 'spec', 'amiFamily') === 'Bottlerocket' ||
  listAt(object, 'spec', 'amiSelectorTerms').some((term) => textAt(term, 'alias').startsWith('bottlerocket'));
