// Disks of an EC2NodeClass's instances.
import { flag, int32, int64, listOf, object, oneOf, optional, rule, rules, text } from '../schema/build.ts';

/** 1 to 59000 Gi, 1 to 64000 G, up to 58 Ti, up to 64 T. Tera sizes without a number pass, as they always have. */
const volumeSize =
  '^(([1-9][0-9]{0,3}|[1-4][0-9]{4}|5[0-8][0-9]{3}|59000)Gi|' +
  '([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-3][0-9]{3}|64000)G|' +
  '([1-9]|[1-5][0-7]|58)?Ti|([1-9]|[1-5][0-9]|6[0-4])?T)$';

const ebs = object(
  'A volume.',
  {
    deleteOnTermination: optional(flag('It goes with the instance.')),
    encrypted: optional(flag('It is encrypted.')),
    iops: optional(int64('Operations per second.')),
    kmsKeyID: optional(text('Key it is encrypted with.')),
    snapshotID: optional(text('Snapshot it is made from.')),
    throughput: optional(int64('MiB per second.')),
    volumeInitializationRate: optional(
      int32('MiB per second at which it is filled from the snapshot.', { minimum: 100, maximum: 300 }),
    ),
    volumeSize: optional(text('Its size in Gi, G, Ti or T.', { pattern: volumeSize })),
    volumeType: optional(oneOf('Its type.', ['standard', 'io1', 'io2', 'gp2', 'sc1', 'st1', 'gp3'])),
  },
  rules(
    rule('has(self.snapshotID) || has(self.volumeSize)', 'snapshotID or volumeSize must be defined'),
    rule(
      "!has(self.volumeInitializationRate) || (has(self.snapshotID) && self.snapshotID != '')",
      'snapshotID must be set when volumeInitializationRate is set',
    ),
  ),
);

export const blockDeviceMappings = () =>
  listOf(
    "Disks of the instances, instead of the image family's own.",
    object('A disk.', {
      deviceName: optional(text('Name of the device.')),
      ebs: optional(ebs),
      rootVolume: optional(flag('Pods and images are stored on this one.')),
    }),
    {
      maxItems: 50,
      ...rules(
        rule(
          'self.filter(m, has(m.rootVolume) && m.rootVolume).size() <= 1',
          'must have only one blockDeviceMappings with rootVolume',
        ),
      ),
    },
  );
