variable "cluster_name" {
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
