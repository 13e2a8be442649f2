// Prints resources as Terraform configuration for the aws provider. Policies are JSON in here-documents, so that they can
// be compared with what IAM shows.
import type { InfrastructureResource } from './infrastructure.ts';

/** The account, where no one named it: whoever applies it. `what` is printed keeps its data source apart from others'. */
export const callerAccount = (what: string): string => `\${data.aws_caller_identity.karpenter_${what}.account_id}`;

export function terraform(comment: string, resources: readonly InfrastructureResource[]): string {
  const body = resources.flatMap(blocksOf).join('\n');
  const source = /data\.aws_caller_identity\.(\w+)/.exec(body)?.[1];
  const data = source === undefined ? '' : `data "aws_caller_identity" "${source}" {}\n\n`;
  return `# ${comment}\n${data}${body}`;
}

function blocksOf(resource: InfrastructureResource): string[] {
  const label = snake(resource.id);
  switch (resource.kind) {
    case 'policy':
      return [
        block('aws_iam_policy', label, [`name   = ${quoted(resource.name)}`, `policy = ${json(resource.document)}`]),
      ];
    case 'role':
      return [
        block('aws_iam_role', label, [
          `name               = ${quoted(resource.name)}`,
          `assume_role_policy = ${json(resource.trust)}`,
        ]),
        ...resource.policyArns.map((arn, index) =>
          block('aws_iam_role_policy_attachment', `${label}_${index + 1}`, [
            `role       = aws_iam_role.${label}.name`,
            `policy_arn = ${quoted(arn)}`,
          ]),
        ),
      ];
    case 'accessEntry':
      return [
        block('aws_eks_access_entry', label, [
          `cluster_name  = ${quoted(resource.cluster)}`,
          `principal_arn = aws_iam_role.${snake(resource.roleId)}.arn`,
          `type          = ${quoted(resource.type)}`,
        ]),
      ];
    case 'podIdentity':
      return [
        block('aws_eks_pod_identity_association', label, [
          `cluster_name    = ${quoted(resource.cluster)}`,
          `namespace       = ${quoted(resource.account.namespace)}`,
          `service_account = ${quoted(resource.account.name)}`,
          `role_arn        = aws_iam_role.${snake(resource.roleId)}.arn`,
        ]),
      ];
    case 'queue':
      return [
        block('aws_sqs_queue', label, [
          `name                      = ${quoted(resource.name)}`,
          `message_retention_seconds = ${resource.retentionSeconds}`,
          'sqs_managed_sse_enabled   = true',
        ]),
        block('aws_sqs_queue_policy', label, [
          `queue_url = aws_sqs_queue.${label}.url`,
          `policy    = ${json(resource.policy)}`,
        ]),
        ...resource.rules.flatMap(({ id, name, description, pattern }) => [
          block('aws_cloudwatch_event_rule', snake(id), [
            `name          = ${quoted(name)}`,
            `description   = ${quoted(description)}`,
            `event_pattern = ${json(pattern)}`,
          ]),
          block('aws_cloudwatch_event_target', snake(id), [
            `rule = aws_cloudwatch_event_rule.${snake(id)}.name`,
            `arn  = aws_sqs_queue.${label}.arn`,
          ]),
        ]),
      ];
  }
}

function block(type: string, label: string, lines: string[]): string {
  return `resource "${type}" "${label}" {\n${lines.map((line) => `  ${line}`).join('\n')}\n}\n`;
}

const quoted = (text: string): string => JSON.stringify(text);

const json = (value: object): string =>
  `<<-JSON\n${JSON.stringify(value, undefined, 2)
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')}\n  JSON`;

/** `KarpenterNodeRole` as `karpenter_node_role`. */
function snake(id: string): string {
  return id.replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3_$2$4').toLowerCase();
}
