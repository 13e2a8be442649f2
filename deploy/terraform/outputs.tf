output "controller_role_arn" {
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
