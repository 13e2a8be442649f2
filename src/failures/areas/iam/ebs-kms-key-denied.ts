// An encrypted root volume whose key the launch may not use: the instance ends before any kubelet.

import type { Evidence } from '../../evidence.ts';
import { accountOf, regionOf } from '../../facts.ts';
import type { EvidenceItem, Failure, Found } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { aroundOf, foundIn, refsOf } from '../../found.ts';
import { answer, anyOf } from '../../needs.ts';
import {
  addStatement,
  classKeys,
  defaultKey,
  keyPolicies,
  refusedKeys,
  unusableKeys,
  volumeKeys,
} from './volume-keys.ts';

export const ebsKmsKeyDenied: Failure = {
  id: 'iam/ebs-kms-key-denied',
  severity: 'high',
  symptom:
    'The instance terminates moments after launch, before any kubelet: `Client.InternalError: Client error on launch`.',
  cause:
    'The launching principal may not use the KMS key of an encrypted volume: the one in the block device mapping, or the default key of the account',
  fix: 'A key policy that allows `kms:Encrypt, Decrypt, ReEncrypt*, GenerateDataKey*, CreateGrant, DescribeKey` to principals of the account with `kms:ViaService = ec2.<region>.amazonaws.com` and `kms:CallerAccount = <account>`.',
  needs: [anyOf(answer('ec2-describe-instances'), answer('kms-describe-key')), keyPolicies],
  signs: [
    {
      words: ['client error on launch', 'client.internalerror', 'invalidkmskey', 'volumekeydenied'],
      pattern: /Client error on launch|Client\.InternalError|(?:Client\.)?InvalidKMSKey\.\w+|VolumeKeyDenied/i,
      confidence: 'likely',
    },
    {
      words: ['kms:', 'generatedatakeywithoutplaintext', 'kmsaccessdenied'],
      pattern:
        /not authorized to perform:? (?<action>kms:(?:CreateGrant|GenerateDataKey\w*|Decrypt|Encrypt|DescribeKey|ReEncrypt\w*))(?: on (?:resource|this resource)[^.]{0,40}: ?(?<key>arn:[^\s",]+))?|"eventName": ?"GenerateDataKeyWithoutPlaintext".{0,400}AccessDenied/i,
      unless: /An error occurred \(|secrets ?manager|s3\.amazonaws/i,
    },
  ],
  fromText(sightings, evidence) {
    const key = aroundOf(sightings, /(arn:aws[\w-]*:kms:[\w-]*:\d+:key\/[\w-]+)/) ?? keyOf(evidence);
    return [
      foundIn(sightings, {
        summary: `Instances end at their launch: the launching principal may not use the key of an encrypted volume${key === undefined ? " (that of the node class, or the account's default key for EBS)" : ` (${key})`}.`,
        fix: fixFor(evidence, key),
      }),
    ];
  },
  check(evidence): Found[] {
    const { aws } = evidence;
    const proven = [...unusableKeys(evidence), ...refusedKeys(evidence)];
    const ended = aws.items('ec2-describe-instances').flatMap(({ item, source }) =>
      listAt(item, 'Instances').flatMap((instance): EvidenceItem[] => {
        const code = textAt(instance, 'StateReason', 'Code');
        if (!/^Client\.(InternalError|InvalidKMSKey)/.test(code)) return [];
        return [
          {
            source,
            text: `${textAt(instance, 'InstanceId')} ${textAt(instance, 'State', 'Name')}: ${textAt(instance, 'StateReason', 'Message') || code}`,
          },
        ];
      }),
    );
    // What became of the instances says it once more.
    if (proven.length > 0)
      return proven.map((one) => ({
        ...one,
        ...(ended.length === 0 ? {} : { confidence: 'certain' as const }),
        evidence: [...one.evidence, ...ended],
      }));
    if (ended.length === 0) return [];
    const byDefault = aws
      .of('ec2-get-ebs-encryption-by-default')
      .find(({ body }) => body['EbsEncryptionByDefault'] === true);
    const classes = evidence.objects.of('EC2NodeClass').filter((one) => classKeys(one).length > 0);
    const key = keyOf(evidence);
    return [
      {
        confidence: byDefault !== undefined || classes.length > 0 ? 'certain' : 'likely',
        summary: `${ended.length === 1 ? 'An instance' : `${ended.length} instances`} ended at launch: the launching principal may not use the key of the encrypted root volume${key === undefined ? '' : ` (${key})`}.`,
        objects: refsOf(classes),
        evidence: [
          ...ended,
          ...(byDefault === undefined ? [] : [{ source: byDefault.source, text: 'EBS encryption by default is on' }]),
        ],
        fix: fixFor(evidence, key),
      },
    ];
  },
  explains: ['registration/undiagnosed-timeout', 'scheduling/launch-rejected-by-provider'],
};

/** The key that encrypts, where there is one; AWS's own key is not one that could be refused. */
const keyOf = (evidence: Evidence): string | undefined => volumeKeys(evidence)[0]?.name ?? defaultKey(evidence);

function fixFor(evidence: Evidence, key: string | undefined): string[] {
  const account =
    accountOf(evidence) ??
    /^arn:aws[\w-]*:kms:[\w-]*:(\d{12}):/.exec(key ?? '')?.[1] ??
    '$(aws sts get-caller-identity --query Account --output text)';
  const id = key ?? '$(aws ec2 get-ebs-default-kms-key-id --query KmsKeyId --output text)';
  return addStatement(id, { account, region: regionOf(evidence) });
}
