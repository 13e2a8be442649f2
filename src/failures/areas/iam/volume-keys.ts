// The KMS keys with which a launch encrypts volumes: those that node classes name, else the account's default key where EBS
// encrypts by default; and what KMS itself says of them: that they are off, not there, or not for who launches.
import type { Operation } from '../../aws-answers.ts';
import { controllerIdentity } from '../../controller-identity.ts';
import type { Evidence } from '../../evidence.ts';
import { accountOf, regionOf } from '../../facts.ts';
import type { Found, Need } from '../../failure.ts';
import { at, isPlain, listAt, type Plain, textAt } from '../../fields.ts';
import { refsOf } from '../../found.ts';
import { policyOf, statementsOf } from '../../iam-policy.ts';
import { keyUseOf, roleNameOf } from '../../key-policy.ts';
import { answer } from '../../needs.ts';
import type { Stored } from '../../objects.ts';

export interface VolumeKey {
  /** As it is named: an id, an ARN, or an alias. */
  name: string;
  classes: Stored[];
  isDefault: boolean;
}

export function volumeKeys(evidence: Evidence): VolumeKey[] {
  const keys = new Map<string, VolumeKey>();
  const fallback = defaultKey(evidence);
  for (const nodeClass of evidence.objects.of('EC2NodeClass'))
    for (const name of keysOfClass(nodeClass, evidence)) {
      const known = keys.get(name) ?? { name, classes: [], isDefault: name === fallback };
      keys.set(name, known);
      if (!known.classes.includes(nodeClass)) known.classes.push(nodeClass);
    }
  return [...keys.values()];
}

export const classKeys = ({ object }: Stored): string[] =>
  listAt(object, 'spec', 'blockDeviceMappings')
    .map((one) => textAt(one, 'ebs', 'kmsKeyID'))
    .filter((key) => key !== '');

function keysOfClass(nodeClass: Stored, evidence: Evidence): string[] {
  const fallback = defaultKey(evidence);
  const mappings = listAt(nodeClass.object, 'spec', 'blockDeviceMappings');
  const isOpen = (one: unknown): boolean => textAt(one, 'ebs', 'kmsKeyID') === '';
  const usesDefault =
    fallback !== undefined &&
    (isEncryptedByDefault(evidence)
      ? mappings.length === 0 || mappings.some(isOpen)
      : mappings.some((one) => isOpen(one) && textAt(one, 'ebs', 'encrypted') === 'true'));
  return [...classKeys(nodeClass), ...(usesDefault ? [fallback] : [])];
}

export const isEncryptedByDefault = ({ aws }: Evidence): boolean =>
  aws.of('ec2-get-ebs-encryption-by-default').some(({ body }) => body['EbsEncryptionByDefault'] === true);

/** The account's own key for EBS; not AWS's, which everyone in the account may use. */
export function defaultKey({ aws }: Evidence): string | undefined {
  const name = aws.of('ec2-get-ebs-default-kms-key-id').map(({ body }) => textAt(body, 'KmsKeyId'))[0];
  return name === undefined || name === '' || name.endsWith('alias/aws/ebs') ? undefined : name;
}

const shortName = (name: string): string => name.split('/').at(-1) ?? name;

const unusableStates: ReadonlySet<string> = new Set(['Disabled', 'PendingDeletion', 'PendingReplicaDeletion']);

const classNames = ({ classes }: VolumeKey): string => classes.map(({ name }) => name).join(', ');
const insteadOf = ({ isDefault }: VolumeKey): string =>
  isDefault
    ? 'Or name another key in spec.blockDeviceMappings[].ebs.kmsKeyID of the EC2NodeClass, or change the default key: aws ec2 modify-ebs-default-kms-key-id --kms-key-id "$KEY"'
    : 'Or name another key in spec.blockDeviceMappings[].ebs.kmsKeyID of the EC2NodeClass.';

/** Keys that are switched off or do not exist. */
export function unusableKeys(evidence: Evidence): Found[] {
  return volumeKeys(evidence).flatMap((key): Found[] => {
    const described = describedKey(key, evidence);
    const state = textAt(described?.item, 'KeyState');
    if (described !== undefined && unusableStates.has(state)) {
      const [id, arn] = [textAt(described.item, 'KeyId'), textAt(described.item, 'Arn')];
      return [
        {
          confidence: 'certain',
          summary: `The key ${id} of the volumes of EC2NodeClass ${classNames(key)} is ${state}: instances end at their launch.`,
          objects: refsOf(key.classes),
          evidence: [{ source: described.source, text: `${arn || id}: KeyState ${state}` }],
          fix: [
            ...(state === 'Disabled' ? [] : [`aws kms cancel-key-deletion --key-id ${id}`]),
            `aws kms enable-key --key-id ${id}`,
            insteadOf(key),
          ],
          key: id,
        },
      ];
    }
    const missing = evidence.aws
      .absent('kms-describe-key')
      .find(({ suffix, text }) => suffix === shortName(key.name) || text.includes(shortName(key.name)));
    if (missing === undefined || described !== undefined) return [];
    return [
      {
        confidence: 'certain',
        summary: `The key ${key.name} of the volumes of EC2NodeClass ${classNames(key)} does not exist in this region: instances end at their launch.`,
        objects: refsOf(key.classes),
        evidence: [{ source: missing.source, text: missing.text }],
        fix: ['aws kms list-keys --query Keys[].KeyArn  # those that exist', insteadOf(key)],
        key: key.name,
      },
    ];
  });
}

function describedKey({ name }: VolumeKey, { aws }: Evidence): { item: Plain; source: string } | undefined {
  return aws
    .bodies('kms-describe-key')
    .find(
      ({ item, suffix }) =>
        [textAt(item, 'KeyId'), textAt(item, 'Arn')].includes(name) ||
        textAt(item, 'KeyId') === shortName(name) ||
        (suffix !== '' && suffix === shortName(name)),
    );
}

/** Keys whose policy does not let the controller's role use them through EC2. */
export function refusedKeys(evidence: Evidence): Found[] {
  const account = accountOf(evidence);
  if (account === undefined) return [];
  const region = regionOf(evidence);
  const roleArn = launchingRole(evidence);
  return volumeKeys(evidence).flatMap((key): Found[] => {
    const described = describedKey(key, evidence);
    const id = textAt(described?.item, 'KeyId') || shortName(key.name);
    const answer = policyAnswer(key, id, evidence);
    if (answer === undefined) return [];
    const use = keyUseOf(answer.policy, { roleArn, account, region });
    if (use.kind !== 'refused' || grantsOf(id, evidence).some(({ to }) => isSameRole(to, roleArn))) return [];
    const who = roleArn === '' ? 'the role that launches' : roleNameOf(roleArn);
    const sid = use.sid === undefined ? '' : ` (statement "${use.sid}")`;
    const isDenied = use.why === 'a statement denies it';
    return [
      {
        // A grant may allow what the policy does not.
        confidence: isDenied || evidence.aws.isAnswered('kms-list-grants') ? 'certain' : 'likely',
        summary: `The policy of the key ${id}, which encrypts the volumes of EC2NodeClass ${classNames(key)}, does not let ${who} use it: ${use.why}${sid}. Instances end at their launch.`,
        objects: refsOf(key.classes),
        evidence: [
          { source: answer.source, text: `${use.action} is not allowed to ${roleArn || who}: ${use.why}${sid}` },
        ],
        fix: isDenied
          ? [
              `aws kms get-key-policy --key-id ${id} --policy-name default --output text  # take the Deny${sid} away, or except ${roleArn || who} from it, and put the rest back`,
              insteadOf(key),
            ]
          : [...putPolicy(id, answer.policy, { account, region }), insteadOf(key)],
        key: id,
      },
    ];
  });
}

function policyAnswer(
  { name }: VolumeKey,
  id: string,
  evidence: Evidence,
): { policy: Plain; source: string } | undefined {
  const answers = evidence.aws.of('kms-get-key-policy').flatMap(({ body, source, suffix }) => {
    // `--output text` prints the policy itself.
    const policy = policyOf(body['Policy']) ?? (at(body, 'Statement') === undefined ? undefined : body);
    return isPlain(policy) && statementsOf(policy).length > 0 ? [{ policy, source, suffix }] : [];
  });
  const own = answers.find(({ suffix }) => suffix !== '' && [id, shortName(name)].includes(suffix));
  if (own !== undefined) return own;
  const [only] = answers;
  const isOnly = answers.length === 1 && volumeKeys(evidence).length === 1;
  return isOnly && only !== undefined && !/^[0-9a-f]{8}-/.test(only.suffix) ? only : undefined;
}

/** The policy of every key that is the customer's own. */
export const keyPolicies: Need = {
  what: answer('kms-get-key-policy').what,
  isMet: (evidence) =>
    evidence.objects.isCollected('EC2NodeClass')
      ? volumeKeys(evidence).every((key) => {
          const described = describedKey(key, evidence);
          if (textAt(described?.item, 'KeyManager') === 'AWS') return true;
          return policyAnswer(key, textAt(described?.item, 'KeyId') || shortName(key.name), evidence) !== undefined;
        })
      : evidence.aws.isAnswered('kms-get-key-policy'),
};

/** What was not answered about the keys that launches of these classes use. */
export function notAskedOfKeys(evidence: Evidence): Operation[] {
  const { aws, objects } = evidence;
  const isDefaultUsed =
    isEncryptedByDefault(evidence) ||
    objects
      .of('EC2NodeClass')
      .some(({ object }) =>
        listAt(object, 'spec', 'blockDeviceMappings').some(
          (one) => textAt(one, 'ebs', 'encrypted') === 'true' && textAt(one, 'ebs', 'kmsKeyID') === '',
        ),
      );
  const keys = volumeKeys(evidence);
  if (isDefaultUsed && !aws.isAnswered('ec2-get-ebs-default-kms-key-id')) return ['ec2-get-ebs-default-kms-key-id'];
  if (keys.length > 0 && !aws.isAnswered('kms-describe-key')) return ['kms-describe-key'];
  return keyPolicies.isMet(evidence) ? [] : ['kms-get-key-policy'];
}

function grantsOf(id: string, { aws }: Evidence): { to: string }[] {
  return aws
    .items('kms-list-grants')
    .filter(({ item, suffix }) => suffix === id || textAt(item, 'KeyId').endsWith(id))
    .map(({ item }) => ({ to: textAt(item, 'GranteePrincipal') }));
}

const isSameRole = (arn: string, roleArn: string): boolean =>
  roleArn === '' ? /:role\/(?!aws-service-role\/)/.test(arn) : roleNameOf(arn) === roleNameOf(roleArn);

/** By its service account, or by the association of Pod Identity; empty when neither says. */
function launchingRole(evidence: Evidence): string {
  const identity = controllerIdentity(evidence);
  if (identity === undefined || identity.roleArn !== '') return identity?.roleArn ?? '';
  const association = evidence.aws
    .bodies('eks-describe-pod-identity-association')
    .find(
      ({ item }) =>
        textAt(item, 'namespace') === identity.namespace && textAt(item, 'serviceAccount') === identity.account,
    );
  return textAt(association?.item, 'roleArn');
}

/** What to add to a key's policy. */
function keyStatement(region: string, account: string): Plain {
  return {
    Sid: 'EBS for principals of the account',
    Effect: 'Allow',
    Principal: { AWS: '*' },
    Action: [
      'kms:Encrypt',
      'kms:Decrypt',
      'kms:ReEncrypt*',
      'kms:GenerateDataKey*',
      'kms:CreateGrant',
      'kms:DescribeKey',
    ],
    Resource: '*',
    Condition: { StringEquals: { 'kms:ViaService': `ec2.${region}.amazonaws.com`, 'kms:CallerAccount': account } },
  };
}

/** A condition holds 32 KiB, which a policy may have alone. */
const longestPolicy = 4_000;

/** The whole policy with the statement added, as far as it can be pasted: what it said before stays. */
function putPolicy(id: string, policy: Plain, { account, region }: { account: string; region: string }): string[] {
  const Statement = [...statementsOf(policy), keyStatement(region, account)];
  const text = JSON.stringify({ ...policy, Statement }).replaceAll("'", String.raw`'\''`);
  if (text.length > longestPolicy) return addStatement(id, { account, region });
  return [`aws kms put-key-policy --key-id ${id} --policy-name default --policy '${text}'`];
}

/** By hand: where the policy is not known, or too long to be printed. */
export const addStatement = (id: string, { account, region }: { account: string; region: string }): string[] => [
  `aws kms get-key-policy --key-id ${id} --policy-name default --output text  # add the statement below, keep the rest`,
  JSON.stringify(keyStatement(region, account)),
];
