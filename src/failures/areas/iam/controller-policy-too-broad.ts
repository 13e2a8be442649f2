// Convenience policies: too much for a controller, and often not even enough.
import { controllerIdentity } from '../../controller-identity.ts';
import type { Evidence } from '../../evidence.ts';
import { clusterName, nodeRoles } from '../../facts.ts';
import type { EvidenceItem, Failure, Found } from '../../failure.ts';
import { at, textAt, textsAt } from '../../fields.ts';
import { caught, foundIn } from '../../found.ts';
import { isAllow, policyOf, statementsOf } from '../../iam-policy.ts';
import { answer } from '../../needs.ts';
import { attachedTo } from './node-role-policies-missing.ts';

const broad = /^(PowerUserAccess|AdministratorAccess|AmazonEC2FullAccess|IAMFullAccess)$/;
const dangerous = /^(\*|ec2:\*|ec2:(RunInstances|TerminateInstances|CreateTags)|iam:\*)$/i;

export const controllerPolicyTooBroad: Failure = {
  id: 'iam/controller-policy-too-broad',
  severity: 'high',
  symptom: 'None, until it is abused.',
  cause:
    'A convenience policy is attached to the role of the controller, or its statements lack resource and tag conditions',
  fix: 'The policy scoped by tags that `kerf iam policy` prints: `aws:RequestTag/kubernetes.io/cluster/<name>=owned`, `aws:ResourceTag/karpenter.sh/nodepool`, region pinned.',
  needs: [answer('iam-list-attached-role-policies')],
  signs: [
    {
      words: ['poweruseraccess', 'administratoraccess', 'amazonec2fullaccess'],
      pattern:
        /(?:karpenter|kerf|iamserviceaccount|create-role|attach-role-policy).{0,400}policy\/(?<policy>PowerUserAccess|AdministratorAccess|AmazonEC2FullAccess)\b/i,
      where: ['cli', 'asked'],
    },
  ],
  fromText(sightings, evidence) {
    const policy = caught(sightings, 'policy') ?? 'a broad policy';
    return [
      foundIn(sightings, {
        summary: `${policy} is attached to the role of the controller: far more than it needs${policy === 'PowerUserAccess' ? ', and without IAM not even enough' : ''}.`,
        fix: fixFor(evidence, '"$CONTROLLER_ROLE"', [policy]),
      }),
    ];
  },
  check(evidence): Found[] {
    const { aws } = evidence;
    const role = controllerIdentity(evidence)?.roleArn.split('/').at(-1) ?? '';
    const isOwn = (suffix: string): boolean =>
      (role !== '' && suffix.endsWith(role)) || /karpenter-?controller|controller|irsa/i.test(suffix);
    const nodes = nodeRoles(evidence);
    // The answer does not say whose policies it lists; a file that does not either is the controller's, unless it is a node's.
    const isUnnamed = ({ suffix, source }: { suffix: string; source: string }): boolean =>
      /^(?:|ctl|ctrl|\d+|karpenter.*)$/i.test(suffix) &&
      !nodes.some(({ role: node }) => attachedTo(evidence, node)?.source === source);
    const attached = aws
      .items('iam-list-attached-role-policies')
      .filter((one) => (isOwn(one.suffix) || isUnnamed(one)) && broad.test(textAt(one.item, 'PolicyName')));
    const isSure = attached.every(({ suffix }) => isOwn(suffix));
    const items: EvidenceItem[] = attached.map(({ item, source, suffix }) => ({
      source,
      text: `attached${suffix === '' ? '' : ` to ${suffix}`}: ${textAt(item, 'PolicyName')}`,
    }));
    for (const { body, suffix, source } of [...aws.of('iam-get-role-policy'), ...aws.of('iam-get-policy-version')]) {
      if (!isOwn(suffix) && !/karpenter/i.test(`${textAt(body, 'PolicyName')} ${textAt(body, 'RoleName')}`)) continue;
      const policy = policyOf(body['PolicyDocument'] ?? at(body, 'PolicyVersion', 'Document'));
      for (const statement of statementsOf(policy)) {
        const actions = textsAt(statement, 'Action').filter((action) => dangerous.test(action));
        const isEverywhere = textsAt(statement, 'Resource').includes('*');
        if (isAllow(statement) && actions.length > 0 && isEverywhere && at(statement, 'Condition') === undefined)
          items.push({ source, text: `Allow ${actions.join(', ')} on * without a condition` });
      }
    }
    if (items.length === 0) return [];
    return [
      {
        confidence: isSure ? 'certain' : 'likely',
        summary: `The role of the controller may do far more than it needs: ${items.map(({ text }) => text).join('; ')}.`,
        evidence: items,
        fix: fixFor(
          evidence,
          role || '"$CONTROLLER_ROLE"',
          attached.map(({ item }) => textAt(item, 'PolicyName')),
        ),
      },
    ];
  },
};

const fixFor = (evidence: Evidence, role: string, policies: readonly string[]): string[] => [
  `kerf iam policy --cluster ${clusterName(evidence)}  # prints the policy scoped by tags; attach it first`,
  ...policies
    .filter((policy) => broad.test(policy))
    .map((policy) => `aws iam detach-role-policy --role-name ${role} --policy-arn arn:aws:iam::aws:policy/${policy}`),
];
