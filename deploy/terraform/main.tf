# Generated from the table that kerf iam prints.
data "aws_caller_identity" "current" {}

data "aws_partition" "current" {}

data "aws_region" "current" {}

resource "aws_iam_policy" "karpenter_controller_node_lifecycle_policy" {
  name   = "KarpenterControllerNodeLifecyclePolicy-${var.cluster_name}"
  policy = <<-JSON
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Sid": "AllowScopedEC2InstanceAccessActions",
          "Effect": "Allow",
          "Action": [
            "ec2:RunInstances",
            "ec2:CreateFleet"
          ],
          "Resource": [
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}::image/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}::snapshot/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:security-group/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:subnet/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:capacity-reservation/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:placement-group/*"
          ]
        },
        {
          "Sid": "AllowScopedEC2LaunchTemplateAccessActions",
          "Effect": "Allow",
          "Action": [
            "ec2:RunInstances",
            "ec2:CreateFleet"
          ],
          "Resource": "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:launch-template/*",
          "Condition": {
            "StringEquals": {
              "aws:ResourceTag/kubernetes.io/cluster/${var.cluster_name}": "owned"
            },
            "StringLike": {
              "aws:ResourceTag/karpenter.sh/nodepool": "*"
            }
          }
        },
        {
          "Sid": "AllowScopedEC2InstanceActionsWithTags",
          "Effect": "Allow",
          "Action": [
            "ec2:RunInstances",
            "ec2:CreateFleet",
            "ec2:CreateLaunchTemplate"
          ],
          "Resource": [
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:fleet/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:instance/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:volume/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:network-interface/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:launch-template/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:spot-instances-request/*"
          ],
          "Condition": {
            "StringEquals": {
              "aws:RequestTag/kubernetes.io/cluster/${var.cluster_name}": "owned",
              "aws:RequestTag/eks:eks-cluster-name": "${var.cluster_name}"
            },
            "StringLike": {
              "aws:RequestTag/karpenter.sh/nodepool": "*"
            }
          }
        },
        {
          "Sid": "AllowScopedResourceCreationTagging",
          "Effect": "Allow",
          "Action": [
            "ec2:CreateTags"
          ],
          "Resource": [
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:fleet/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:instance/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:volume/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:network-interface/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:launch-template/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:spot-instances-request/*"
          ],
          "Condition": {
            "StringEquals": {
              "aws:RequestTag/kubernetes.io/cluster/${var.cluster_name}": "owned",
              "aws:RequestTag/eks:eks-cluster-name": "${var.cluster_name}",
              "ec2:CreateAction": [
                "RunInstances",
                "CreateFleet",
                "CreateLaunchTemplate"
              ]
            },
            "StringLike": {
              "aws:RequestTag/karpenter.sh/nodepool": "*"
            }
          }
        },
        {
          "Sid": "AllowScopedResourceTagging",
          "Effect": "Allow",
          "Action": [
            "ec2:CreateTags"
          ],
          "Resource": "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:instance/*",
          "Condition": {
            "StringEquals": {
              "aws:ResourceTag/kubernetes.io/cluster/${var.cluster_name}": "owned"
            },
            "StringLike": {
              "aws:ResourceTag/karpenter.sh/nodepool": "*"
            },
            "StringEqualsIfExists": {
              "aws:RequestTag/eks:eks-cluster-name": "${var.cluster_name}"
            },
            "ForAllValues:StringEquals": {
              "aws:TagKeys": [
                "eks:eks-cluster-name",
                "karpenter.sh/nodeclaim",
                "Name"
              ]
            }
          }
        },
        {
          "Sid": "AllowScopedDeletion",
          "Effect": "Allow",
          "Action": [
            "ec2:TerminateInstances",
            "ec2:DeleteLaunchTemplate",
            "ec2:RebootInstances"
          ],
          "Resource": [
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:instance/*",
            "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:*:launch-template/*"
          ],
          "Condition": {
            "StringEquals": {
              "aws:ResourceTag/kubernetes.io/cluster/${var.cluster_name}": "owned"
            },
            "StringLike": {
              "aws:ResourceTag/karpenter.sh/nodepool": "*"
            }
          }
        }
      ]
    }
  JSON
}

resource "aws_iam_policy" "karpenter_controller_iam_integration_policy" {
  name   = "KarpenterControllerIAMIntegrationPolicy-${var.cluster_name}"
  policy = <<-JSON
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Sid": "AllowPassingInstanceRole",
          "Effect": "Allow",
          "Action": [
            "iam:PassRole"
          ],
          "Resource": "arn:${data.aws_partition.current.partition}:iam::${data.aws_caller_identity.current.account_id}:role/KarpenterNodeRole-${var.cluster_name}",
          "Condition": {
            "StringEquals": {
              "iam:PassedToService": [
                "ec2.amazonaws.com",
                "ec2.amazonaws.com.cn"
              ]
            }
          }
        },
        {
          "Sid": "AllowScopedInstanceProfileCreationActions",
          "Effect": "Allow",
          "Action": [
            "iam:CreateInstanceProfile"
          ],
          "Resource": "arn:${data.aws_partition.current.partition}:iam::${data.aws_caller_identity.current.account_id}:instance-profile/*",
          "Condition": {
            "StringEquals": {
              "aws:RequestTag/kubernetes.io/cluster/${var.cluster_name}": "owned",
              "aws:RequestTag/topology.kubernetes.io/region": "${data.aws_region.current.region}",
              "aws:RequestTag/eks:eks-cluster-name": "${var.cluster_name}"
            },
            "StringLike": {
              "aws:RequestTag/karpenter.k8s.aws/ec2nodeclass": "*"
            }
          }
        },
        {
          "Sid": "AllowScopedInstanceProfileTagActions",
          "Effect": "Allow",
          "Action": [
            "iam:TagInstanceProfile"
          ],
          "Resource": "arn:${data.aws_partition.current.partition}:iam::${data.aws_caller_identity.current.account_id}:instance-profile/*",
          "Condition": {
            "StringEquals": {
              "aws:ResourceTag/kubernetes.io/cluster/${var.cluster_name}": "owned",
              "aws:ResourceTag/topology.kubernetes.io/region": "${data.aws_region.current.region}",
              "aws:RequestTag/kubernetes.io/cluster/${var.cluster_name}": "owned",
              "aws:RequestTag/topology.kubernetes.io/region": "${data.aws_region.current.region}",
              "aws:RequestTag/eks:eks-cluster-name": "${var.cluster_name}"
            },
            "StringLike": {
              "aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass": "*",
              "aws:RequestTag/karpenter.k8s.aws/ec2nodeclass": "*"
            }
          }
        },
        {
          "Sid": "AllowScopedInstanceProfileActions",
          "Effect": "Allow",
          "Action": [
            "iam:AddRoleToInstanceProfile",
            "iam:RemoveRoleFromInstanceProfile",
            "iam:DeleteInstanceProfile"
          ],
          "Resource": "arn:${data.aws_partition.current.partition}:iam::${data.aws_caller_identity.current.account_id}:instance-profile/*",
          "Condition": {
            "StringEquals": {
              "aws:ResourceTag/kubernetes.io/cluster/${var.cluster_name}": "owned",
              "aws:ResourceTag/topology.kubernetes.io/region": "${data.aws_region.current.region}"
            },
            "StringLike": {
              "aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass": "*"
            }
          }
        }
      ]
    }
  JSON
}

resource "aws_iam_policy" "karpenter_controller_eks_integration_policy" {
  name   = "KarpenterControllerEKSIntegrationPolicy-${var.cluster_name}"
  policy = <<-JSON
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Sid": "AllowAPIServerEndpointDiscovery",
          "Effect": "Allow",
          "Action": [
            "eks:DescribeCluster"
          ],
          "Resource": "arn:${data.aws_partition.current.partition}:eks:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:cluster/${var.cluster_name}"
        }
      ]
    }
  JSON
}

resource "aws_iam_policy" "karpenter_controller_interruption_policy" {
  name   = "KarpenterControllerInterruptionPolicy-${var.cluster_name}"
  policy = <<-JSON
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Sid": "AllowInterruptionQueueActions",
          "Effect": "Allow",
          "Action": [
            "sqs:DeleteMessage",
            "sqs:GetQueueUrl",
            "sqs:ReceiveMessage"
          ],
          "Resource": "arn:${data.aws_partition.current.partition}:sqs:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:${var.cluster_name}"
        }
      ]
    }
  JSON
}

resource "aws_iam_policy" "karpenter_controller_zonal_shift_policy" {
  name   = "KarpenterControllerZonalShiftPolicy-${var.cluster_name}"
  policy = <<-JSON
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Sid": "AllowZonalShiftReadOnly",
          "Effect": "Allow",
          "Action": [
            "arc-zonal-shift:GetManagedResource"
          ],
          "Resource": "*",
          "Condition": {
            "StringEquals": {
              "arc-zonal-shift:ResourceIdentifier": "arn:${data.aws_partition.current.partition}:eks:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:cluster/${var.cluster_name}"
            }
          }
        }
      ]
    }
  JSON
}

resource "aws_iam_policy" "karpenter_controller_resource_discovery_policy" {
  name   = "KarpenterControllerResourceDiscoveryPolicy-${var.cluster_name}"
  policy = <<-JSON
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Sid": "AllowRegionalReadActions",
          "Effect": "Allow",
          "Action": [
            "ec2:DescribeCapacityReservations",
            "ec2:DescribeImages",
            "ec2:DescribeInstances",
            "ec2:DescribeInstanceStatus",
            "ec2:DescribeInstanceTypeOfferings",
            "ec2:DescribeInstanceTypes",
            "ec2:DescribeLaunchTemplates",
            "ec2:DescribePlacementGroups",
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeSpotPriceHistory",
            "ec2:DescribeSubnets"
          ],
          "Resource": "*",
          "Condition": {
            "StringEquals": {
              "aws:RequestedRegion": "${data.aws_region.current.region}"
            }
          }
        },
        {
          "Sid": "AllowSSMReadActions",
          "Effect": "Allow",
          "Action": [
            "ssm:GetParameter"
          ],
          "Resource": "arn:${data.aws_partition.current.partition}:ssm:${data.aws_region.current.region}::parameter/aws/service/*"
        },
        {
          "Sid": "AllowPricingReadActions",
          "Effect": "Allow",
          "Action": [
            "pricing:GetProducts"
          ],
          "Resource": "*"
        },
        {
          "Sid": "AllowUnscopedInstanceProfileListAction",
          "Effect": "Allow",
          "Action": [
            "iam:ListInstanceProfiles"
          ],
          "Resource": "*"
        },
        {
          "Sid": "AllowInstanceProfileReadActions",
          "Effect": "Allow",
          "Action": [
            "iam:GetInstanceProfile"
          ],
          "Resource": "arn:${data.aws_partition.current.partition}:iam::${data.aws_caller_identity.current.account_id}:instance-profile/*"
        }
      ]
    }
  JSON
}

resource "aws_iam_role" "karpenter_controller_role" {
  name               = "KarpenterControllerRole-${var.cluster_name}"
  assume_role_policy = <<-JSON
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Sid": "AllowAssumingRole",
          "Effect": "Allow",
          "Principal": {
            "Service": "pods.eks.amazonaws.com"
          },
          "Action": [
            "sts:AssumeRole",
            "sts:TagSession"
          ]
        }
      ]
    }
  JSON
}

resource "aws_iam_role_policy_attachment" "karpenter_controller_role_1" {
  role       = aws_iam_role.karpenter_controller_role.name
  policy_arn = aws_iam_policy.karpenter_controller_node_lifecycle_policy.arn
}

resource "aws_iam_role_policy_attachment" "karpenter_controller_role_2" {
  role       = aws_iam_role.karpenter_controller_role.name
  policy_arn = aws_iam_policy.karpenter_controller_iam_integration_policy.arn
}

resource "aws_iam_role_policy_attachment" "karpenter_controller_role_3" {
  role       = aws_iam_role.karpenter_controller_role.name
  policy_arn = aws_iam_policy.karpenter_controller_eks_integration_policy.arn
}

resource "aws_iam_role_policy_attachment" "karpenter_controller_role_4" {
  role       = aws_iam_role.karpenter_controller_role.name
  policy_arn = aws_iam_policy.karpenter_controller_interruption_policy.arn
}

resource "aws_iam_role_policy_attachment" "karpenter_controller_role_5" {
  role       = aws_iam_role.karpenter_controller_role.name
  policy_arn = aws_iam_policy.karpenter_controller_zonal_shift_policy.arn
}

resource "aws_iam_role_policy_attachment" "karpenter_controller_role_6" {
  role       = aws_iam_role.karpenter_controller_role.name
  policy_arn = aws_iam_policy.karpenter_controller_resource_discovery_policy.arn
}

resource "aws_eks_pod_identity_association" "karpenter_pod_identity" {
  cluster_name    = var.cluster_name
  namespace       = var.namespace
  service_account = var.service_account
  role_arn        = aws_iam_role.karpenter_controller_role.arn
}

resource "aws_iam_role" "karpenter_node_role" {
  name               = "KarpenterNodeRole-${var.cluster_name}"
  assume_role_policy = <<-JSON
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Sid": "AllowAssumingRole",
          "Effect": "Allow",
          "Principal": {
            "Service": "ec2.${data.aws_partition.current.dns_suffix}"
          },
          "Action": [
            "sts:AssumeRole"
          ]
        }
      ]
    }
  JSON
}

resource "aws_iam_role_policy_attachment" "karpenter_node_role_1" {
  role       = aws_iam_role.karpenter_node_role.name
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy/AmazonEKS_CNI_Policy"
}

resource "aws_iam_role_policy_attachment" "karpenter_node_role_2" {
  role       = aws_iam_role.karpenter_node_role.name
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy/AmazonEKSWorkerNodePolicy"
}

resource "aws_iam_role_policy_attachment" "karpenter_node_role_3" {
  role       = aws_iam_role.karpenter_node_role.name
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly"
}

resource "aws_iam_role_policy_attachment" "karpenter_node_role_4" {
  role       = aws_iam_role.karpenter_node_role.name
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy/AmazonSSMManagedInstanceCore"
}

resource "aws_eks_access_entry" "karpenter_node_access_entry" {
  cluster_name  = var.cluster_name
  principal_arn = aws_iam_role.karpenter_node_role.arn
  type          = "EC2_LINUX"
}

resource "aws_sqs_queue" "karpenter_interruption_queue" {
  name                      = var.cluster_name
  message_retention_seconds = 300
  sqs_managed_sse_enabled   = true
}

resource "aws_sqs_queue_policy" "karpenter_interruption_queue" {
  queue_url = aws_sqs_queue.karpenter_interruption_queue.url
  policy    = <<-JSON
    {
      "Version": "2012-10-17",
      "Statement": [
        {
          "Sid": "AllowEvents",
          "Effect": "Allow",
          "Principal": {
            "Service": [
              "events.amazonaws.com",
              "sqs.amazonaws.com"
            ]
          },
          "Action": "sqs:SendMessage",
          "Resource": "arn:${data.aws_partition.current.partition}:sqs:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:${var.cluster_name}"
        },
        {
          "Sid": "DenyHTTP",
          "Effect": "Deny",
          "Principal": "*",
          "Action": "sqs:*",
          "Resource": "arn:${data.aws_partition.current.partition}:sqs:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:${var.cluster_name}",
          "Condition": {
            "Bool": {
              "aws:SecureTransport": "false"
            }
          }
        }
      ]
    }
  JSON
}

resource "aws_cloudwatch_event_rule" "scheduled_change_rule" {
  name          = "${var.cluster_name}-ScheduledChangeRule"
  description   = "Kerf, cluster ${var.cluster_name}: maintenance and retirement of instances"
  event_pattern = <<-JSON
    {
      "source": [
        "aws.health"
      ],
      "detail-type": [
        "AWS Health Event"
      ]
    }
  JSON
}

resource "aws_cloudwatch_event_target" "scheduled_change_rule" {
  rule = aws_cloudwatch_event_rule.scheduled_change_rule.name
  arn  = aws_sqs_queue.karpenter_interruption_queue.arn
}

resource "aws_cloudwatch_event_rule" "spot_interruption_rule" {
  name          = "${var.cluster_name}-SpotInterruptionRule"
  description   = "Kerf, cluster ${var.cluster_name}: spot capacity taken back"
  event_pattern = <<-JSON
    {
      "source": [
        "aws.ec2"
      ],
      "detail-type": [
        "EC2 Spot Instance Interruption Warning"
      ]
    }
  JSON
}

resource "aws_cloudwatch_event_target" "spot_interruption_rule" {
  rule = aws_cloudwatch_event_rule.spot_interruption_rule.name
  arn  = aws_sqs_queue.karpenter_interruption_queue.arn
}

resource "aws_cloudwatch_event_rule" "rebalance_rule" {
  name          = "${var.cluster_name}-RebalanceRule"
  description   = "Kerf, cluster ${var.cluster_name}: spot capacity at risk"
  event_pattern = <<-JSON
    {
      "source": [
        "aws.ec2"
      ],
      "detail-type": [
        "EC2 Instance Rebalance Recommendation"
      ]
    }
  JSON
}

resource "aws_cloudwatch_event_target" "rebalance_rule" {
  rule = aws_cloudwatch_event_rule.rebalance_rule.name
  arn  = aws_sqs_queue.karpenter_interruption_queue.arn
}

resource "aws_cloudwatch_event_rule" "instance_state_change_rule" {
  name          = "${var.cluster_name}-InstanceStateChangeRule"
  description   = "Kerf, cluster ${var.cluster_name}: instances that stop or end"
  event_pattern = <<-JSON
    {
      "source": [
        "aws.ec2"
      ],
      "detail-type": [
        "EC2 Instance State-change Notification"
      ]
    }
  JSON
}

resource "aws_cloudwatch_event_target" "instance_state_change_rule" {
  rule = aws_cloudwatch_event_rule.instance_state_change_rule.name
  arn  = aws_sqs_queue.karpenter_interruption_queue.arn
}

resource "aws_cloudwatch_event_rule" "capacity_reservation_interruption_rule" {
  name          = "${var.cluster_name}-CapacityReservationInterruptionRule"
  description   = "Kerf, cluster ${var.cluster_name}: reserved capacity taken back"
  event_pattern = <<-JSON
    {
      "source": [
        "aws.ec2"
      ],
      "detail-type": [
        "EC2 Capacity Reservation Instance Interruption Warning"
      ]
    }
  JSON
}

resource "aws_cloudwatch_event_target" "capacity_reservation_interruption_rule" {
  rule = aws_cloudwatch_event_rule.capacity_reservation_interruption_rule.name
  arn  = aws_sqs_queue.karpenter_interruption_queue.arn
}
