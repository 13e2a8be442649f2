// deploy/terraform: what `kerf iam -o terraform` prints, as a module for any cluster. The same resources, with Terraform's own
// names for the account, the region and the cluster in the place of values.
import { podIdentityTrust } from '../src/aws/catalogue.ts';
import {
  controllerRole,
  nodeRoleResources,
  podIdentity,
  policyResources,
  queueResource,
} from '../src/cli/iam/infrastructure.ts';
import { terraform } from '../src/cli/iam/terraform.ts';

const of = {
  cluster: '${var.cluster_name}',
  region: '${data.aws_region.current.region}',
  account: '${data.aws_caller_identity.current.account_id}',
  partition: '${data.aws_partition.current.partition}',
  dnsSuffix: '${data.aws_partition.current.dns_suffix}',
};

const head = `data "aws_caller_identity" "current" {}

data "aws_partition" "current" {}

data "aws_region" "current" {}

`;

/** Path (from the root) and content. */
export function terraformModule(): (readonly [string, string])[] {
  const policies = policyResources(of, { queue: of.cluster });
  const resources = [
    ...policies,
    controllerRole(of, podIdentityTrust()),
    podIdentity(of, { namespace: '${var.namespace}', name: '${var.service_account}' }),
    ...nodeRoleResources(of, false),
    queueResource(of, of.cluster),
  ];
  const printed = terraform('Generated from the table that kerf iam prints.', resources);
  // The module makes the policies itself: a reference to each instead of its ARN puts them before their attachment.
  const linked = policies.reduce(
    (text, { name }) => {
      const label = new RegExp(
        `resource "aws_iam_policy" "(\\w+)" \\{\\n  name   = ${literal(JSON.stringify(name))}`,
      ).exec(text)?.[1];
      return text.replace(
        new RegExp(`policy_arn = "[^"\\n]*:policy/${literal(name)}"`),
        `policy_arn = aws_iam_policy.${label}.arn`,
      );
    },
    printed.replace(/^data "aws_caller_identity" "current" \{\}\n\n/m, ''),
  );
  return [
    [
      'deploy/terraform/main.tf',
      linked.replace(/^(# .*\n)/, `$1${head}`).replaceAll(/^(\s*\w+\s+= )"\$\{(var\.\w+)\}"$/gm, '$1$2'),
    ],
    ['deploy/terraform/variables.tf', variables],
    ['deploy/terraform/outputs.tf', outputs],
    ['deploy/terraform/versions.tf', versions],
  ];
}

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

const variables = `variable "cluster_name" {
  description = "Name of the EKS cluster."
  type        = string
}

variable "namespace" {
  description = "Namespace that the chart is installed in."
  type        = string
  default     = "kube-system"
}

variable "service_account" {
  description = "Service account of the controller."
  type        = string
  default     = "karpenter"
}
`;

const outputs = `output "controller_role_arn" {
  description = "Role of the controller."
  value       = aws_iam_role.karpenter_controller_role.arn
}

output "node_role_name" {
  description = "Role of nodes, for spec.role of an EC2NodeClass."
  value       = aws_iam_role.karpenter_node_role.name
}

output "interruption_queue" {
  description = "For settings.interruptionQueue of the chart."
  value       = aws_sqs_queue.karpenter_interruption_queue.name
}
`;

const versions = `terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.0"
    }
  }
}
`;
