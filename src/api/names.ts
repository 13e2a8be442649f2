// Names that are interface: groups, labels, annotations, taints, finalizers. Constants only, no behaviour, so that every
// room may use them. Grouped by what they name; each is written once, here.

export const group = 'karpenter.sh';
export const kwokGroup = 'karpenter.kwok.sh';
export const awsGroup = 'karpenter.k8s.aws';
export const bufferGroup = 'autoscaling.x-k8s.io';

export const label = {
  nodePool: 'karpenter.sh/nodepool',
  capacityType: 'karpenter.sh/capacity-type',
  registered: 'karpenter.sh/registered',
  initialized: 'karpenter.sh/initialized',
  doNotSyncTaints: 'karpenter.sh/do-not-sync-taints',
  zone: 'topology.kubernetes.io/zone',
  region: 'topology.kubernetes.io/region',
  instanceType: 'node.kubernetes.io/instance-type',
  arch: 'kubernetes.io/arch',
  os: 'kubernetes.io/os',
  hostname: 'kubernetes.io/hostname',
  windowsBuild: 'node.kubernetes.io/windows-build',
  excludeFromLoadBalancers: 'node.kubernetes.io/exclude-from-external-load-balancers',
} as const;

export const capacityType = { onDemand: 'on-demand', spot: 'spot', reserved: 'reserved' } as const;

/** Label keys every provider understands; providers add their own. */
export const wellKnownLabels: readonly string[] = [
  label.nodePool,
  label.zone,
  label.region,
  label.instanceType,
  label.arch,
  label.os,
  label.capacityType,
  label.windowsBuild,
];

/** Older spellings of label keys, replaced before anything looks at a requirement. */
export const normalizedLabels: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': label.zone,
  'failure-domain.beta.kubernetes.io/region': label.region,
  'beta.kubernetes.io/arch': label.arch,
  'beta.kubernetes.io/os': label.os,
  'beta.kubernetes.io/instance-type': label.instanceType,
};

export const annotation = {
  doNotDisrupt: 'karpenter.sh/do-not-disrupt',
  doNotRepair: 'karpenter.sh/do-not-repair',
  nodePoolHash: 'karpenter.sh/nodepool-hash',
  nodePoolHashVersion: 'karpenter.sh/nodepool-hash-version',
  terminationTimestamp: 'karpenter.sh/nodeclaim-termination-timestamp',
  minValuesRelaxed: 'karpenter.sh/nodeclaim-min-values-relaxed',
  requestedDraDrivers: 'karpenter.sh/requested-dra-drivers',
  compatibilityProvider: 'compatibility.karpenter.sh/provider',
  priceOverlayApplied: 'karpenter.sh/price-overlay-applied',
  capacityOverlayApplied: 'karpenter.sh/capacity-overlay-applied',
  bufferFakePod: 'karpenter.sh/capacity-buffer-fake-pod',
  bufferName: 'karpenter.sh/capacity-buffer-name',
  bufferNamespace: 'karpenter.sh/capacity-buffer-namespace',
  podDeletionCost: 'controller.kubernetes.io/pod-deletion-cost',
  /** Read before `podDeletionCost`: the pod's own word on what moving it costs. */
  disruptionCost: 'karpenter.sh/disruption-cost',
  rebootPreBootId: 'karpenter.sh/reboot-pre-boot-id',
  rebootTerminationGracePeriod: 'karpenter.sh/reboot-termination-grace-period',
  /** On an EC2NodeClass: how NVIDIA's driver lets claims share GPUs, because its configuration cannot be read. */
  nvidiaConsumableCapacity: 'karpenter.k8s.aws/nvidia-consumable-capacity',
  /** Ours, on a NodeClaim: when it was rebooted within the last day, so that it is not rebooted for ever. */
  reboots: 'kerf.sh/reboots',
  /** Ours, on a Node: cordoned since then, until its DaemonSet pods are bound. */
  daemonSetRoom: 'kerf.sh/daemonset-room',
  /** Ours: the shapes a replacement came instead of, so that none of them comes back within a day. */
  replaces: 'kerf.sh/replaces',
  /** Ours: what a node of the pool costs in USD per hour beside its price (fees per host); for comparing plans. */
  nodeCostPerHour: 'kerf.sh/node-cost-per-hour',
  /** Ours: which machines the simulated provider of this cluster sells. */
  catalogue: 'kerf.sh/catalogue',
  /** Ours, on the Lease of the controller: what it was set to, and what it knows that no object says. */
  controllerSettings: 'kerf.sh/settings',
  controllerState: 'kerf.sh/state',
} as const;

export const taint = {
  disrupted: { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' },
  unregistered: { key: 'karpenter.sh/unregistered', effect: 'NoExecute' },
  rebooting: { key: 'karpenter.sh/rebooting', effect: 'NoSchedule' },
  /** Kubernetes puts it on nodes that are cordoned; pods of DaemonSets tolerate it. */
  unschedulable: { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
} as const;

export const finalizer = { termination: 'karpenter.sh/termination' } as const;

export const kwokFinalizer = { termination: 'karpenter.kwok.sh/termination' } as const;
export const awsFinalizer = { termination: 'karpenter.k8s.aws/termination' } as const;

export const kwokLabel = {
  nodeClass: 'karpenter.kwok.sh/kwoknodeclass',
  instanceSize: 'karpenter.kwok.sh/instance-size',
  instanceFamily: 'karpenter.kwok.sh/instance-family',
  instanceCpu: 'karpenter.kwok.sh/instance-cpu',
  instanceMemory: 'karpenter.kwok.sh/instance-memory',
} as const;

export const awsLabel = {
  nodeClass: 'karpenter.k8s.aws/ec2nodeclass',
  zoneId: 'topology.k8s.aws/zone-id',
  instanceCategory: 'karpenter.k8s.aws/instance-category',
  instanceGeneration: 'karpenter.k8s.aws/instance-generation',
  instanceFamily: 'karpenter.k8s.aws/instance-family',
  instanceSize: 'karpenter.k8s.aws/instance-size',
  instanceCapabilityFlex: 'karpenter.k8s.aws/instance-capability-flex',
  instanceCpu: 'karpenter.k8s.aws/instance-cpu',
  instanceCpuManufacturer: 'karpenter.k8s.aws/instance-cpu-manufacturer',
  instanceCpuSustainedClockSpeedMhz: 'karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz',
  instanceMemory: 'karpenter.k8s.aws/instance-memory',
  instanceEbsBandwidth: 'karpenter.k8s.aws/instance-ebs-bandwidth',
  instanceNetworkBandwidth: 'karpenter.k8s.aws/instance-network-bandwidth',
  instanceHypervisor: 'karpenter.k8s.aws/instance-hypervisor',
  instanceEncryptionInTransitSupported: 'karpenter.k8s.aws/instance-encryption-in-transit-supported',
  instanceLocalNvme: 'karpenter.k8s.aws/instance-local-nvme',
  instanceGpuName: 'karpenter.k8s.aws/instance-gpu-name',
  instanceGpuManufacturer: 'karpenter.k8s.aws/instance-gpu-manufacturer',
  instanceGpuCount: 'karpenter.k8s.aws/instance-gpu-count',
  instanceGpuMemory: 'karpenter.k8s.aws/instance-gpu-memory',
  instanceAcceleratorName: 'karpenter.k8s.aws/instance-accelerator-name',
  instanceAcceleratorManufacturer: 'karpenter.k8s.aws/instance-accelerator-manufacturer',
  instanceAcceleratorCount: 'karpenter.k8s.aws/instance-accelerator-count',
  instanceTenancy: 'karpenter.k8s.aws/instance-tenancy',
  capacityReservationId: 'karpenter.k8s.aws/capacity-reservation-id',
  capacityReservationType: 'karpenter.k8s.aws/capacity-reservation-type',
  capacityReservationInterruptible: 'karpenter.k8s.aws/capacity-reservation-interruptible',
  placementGroupId: 'karpenter.k8s.aws/placement-group-id',
  placementGroupPartition: 'karpenter.k8s.aws/placement-group-partition',
  nitroSandbox: 'karpenter.k8s.aws/nitro-sandbox',
} as const;

/** Label keys the simulated provider adds to the well-known ones. */
export const kwokWellKnownLabels: readonly string[] = [
  kwokLabel.instanceSize,
  kwokLabel.instanceFamily,
  kwokLabel.instanceCpu,
  kwokLabel.instanceMemory,
];

/** Label keys the AWS provider adds to the well-known ones. */
export const awsWellKnownLabels: readonly string[] = Object.values(awsLabel);

/** Older spellings the AWS provider replaces, beside `normalizedLabels`. */
export const awsNormalizedLabels: Readonly<Record<string, string>> = {
  'topology.ebs.csi.aws.com/zone': label.zone,
};

/** Domains whose labels users may not invent; a provider adds its own. */
export const restrictedLabelDomains: readonly string[] = [group];

/** Single label keys users may not set. */
export const restrictedLabels: readonly string[] = [label.hostname];

export const awsAnnotation = {
  nodeClassHash: 'karpenter.k8s.aws/ec2nodeclass-hash',
  nodeClassHashVersion: 'karpenter.k8s.aws/ec2nodeclass-hash-version',
  instanceProfileName: 'karpenter.k8s.aws/instance-profile-name',
  tagged: 'karpenter.k8s.aws/tagged',
  clusterNameTagged: 'compatibility.karpenter.k8s.aws/cluster-name-tagged',
  /** Ours: EC2 recommends to leave this spot instance, and the node is to be replaced. */
  rebalanceRecommended: 'karpenter.k8s.aws/rebalance-recommended',
} as const;

export const awsTag = {
  name: 'Name',
  nodePool: 'karpenter.sh/nodepool',
  nodeClaim: 'karpenter.sh/nodeclaim',
  nodeClass: 'karpenter.k8s.aws/ec2nodeclass',
  clusterName: 'eks:eks-cluster-name',
  clusterPrefix: 'kubernetes.io/cluster/',
} as const;

/** Condition types of every kind; `ready` is the root that sums up the others. */
export const conditionType = {
  ready: 'Ready',
  validationSucceeded: 'ValidationSucceeded',
  nodeClassReady: 'NodeClassReady',
  nodeRegistrationHealthy: 'NodeRegistrationHealthy',
  launchesPaused: 'LaunchesPaused',
  clockTrusted: 'ClockTrusted',
  launched: 'Launched',
  registered: 'Registered',
  initialized: 'Initialized',
  drifted: 'Drifted',
  consolidatable: 'Consolidatable',
  drained: 'Drained',
  volumesDetached: 'VolumesDetached',
  instanceTerminating: 'InstanceTerminating',
  consistentStateFound: 'ConsistentStateFound',
  disruptionReason: 'DisruptionReason',
  /** Ours: why the controller deleted the claim. */
  deletionReason: 'DeletionReason',
  rebooting: 'Rebooting',
  /** Ours: whether the node would be removed or replaced now, and otherwise the first thing that keeps it. */
  verdict: 'DisruptionVerdict',
  readyForProvisioning: 'ReadyForProvisioning',
  provisioning: 'Provisioning',
  limitedByQuotas: 'LimitedByQuotas',
  amisReady: 'AMIsReady',
  subnetsReady: 'SubnetsReady',
  securityGroupsReady: 'SecurityGroupsReady',
  instanceProfileReady: 'InstanceProfileReady',
  placementGroupReady: 'PlacementGroupReady',
  capacityReservationsReady: 'CapacityReservationsReady',
} as const;

/** Reasons that conditions carry. */
export const conditionReason = {
  awaitingReconciliation: 'AwaitingReconciliation',
  unhealthyDependents: 'UnhealthyDependents',
  reconcilingDependents: 'ReconcilingDependents',
  nodePoolValidationFailed: 'NodePoolValidationFailed',
  nodeClassNotFound: 'NodeClassNotFound',
  nodeClassTerminating: 'NodeClassTerminating',
  nodeClassReadinessUnknown: 'NodeClassReadinessUnknown',
  registrationFailed: 'RegistrationFailed',
  nodeClassNotReady: 'NodeClassNotReady',
  launchFailed: 'LaunchFailed',
  nodeNotFound: 'NodeNotFound',
  instanceForeign: 'InstanceForeign',
  registrationHookPending: 'RegistrationHookPending',
  multipleNodesFound: 'MultipleNodesFound',
  nodeNotReady: 'NodeNotReady',
  startupTaintsExist: 'StartupTaintsExist',
  knownEphemeralTaintsExist: 'KnownEphemeralTaintsExist',
  daemonSetsNotBound: 'DaemonSetsNotBound',
  resourceNotRegistered: 'ResourceNotRegistered',
  draDriverPoolsNotPublished: 'DRADriverPoolsNotPublished',
  nodePoolDrifted: 'NodePoolDrifted',
  requirementsDrifted: 'RequirementsDrifted',
  instanceTypeNotFound: 'InstanceTypeNotFound',
  draining: 'Draining',
  awaitingVolumeDetachment: 'AwaitingVolumeDetachment',
  terminationGracePeriodElapsed: 'TerminationGracePeriodElapsed',
  consistencyCheckFailed: 'ConsistencyCheckFailed',
  runtimeValidation: 'RuntimeValidation',
  conflict: 'Conflict',
  resolved: 'Resolved',
  podTemplateNotFound: 'PodTemplateNotFound',
  scalableRefNotFound: 'ScalableRefNotFound',
  resolutionFailed: 'ResolutionFailed',
  amiNotFound: 'AMINotFound',
  unsupportedAlias: 'UnsupportedAlias',
  subnetsNotFound: 'SubnetsNotFound',
  securityGroupsNotFound: 'SecurityGroupsNotFound',
  placementGroupNotFound: 'PlacementGroupNotFound',
  placementGroupResolutionFailed: 'PlacementGroupResolutionFailed',
  dependenciesNotReady: 'DependenciesNotReady',
  clusterCidrResolutionFailed: 'ClusterCIDRResolutionFailed',
  tagValidationFailed: 'TagValidationFailed',
  createLaunchTemplateAuthCheckFailed: 'CreateLaunchTemplateAuthCheckFailed',
  createFleetAuthCheckFailed: 'CreateFleetAuthCheckFailed',
  runInstancesAuthCheckFailed: 'RunInstancesAuthCheckFailed',
  userDataSizeLimitExceeded: 'UserDataSizeLimitExceeded',
  instanceProfileNotFound: 'InstanceProfileNotFound',
  invalidKubeletConfiguration: 'InvalidKubeletConfiguration',
  unsupportedKubeletConfiguration: 'UnsupportedKubeletConfiguration',
  kubeletExpressionsDisabled: 'KubeletExpressionsDisabled',
  kubeletExpressionInvalid: 'KubeletExpressionInvalid',
  kubeletExpressionEvaluationFailed: 'KubeletExpressionEvaluationFailed',
  rebootRequested: 'RebootRequested',
  rebootIssued: 'RebootIssued',
  rebootSucceeded: 'RebootSucceeded',
  rebootFailed: 'RebootFailed',
  /** Of `Initialized`, from the moment a reboot is issued until the node is back. */
  rebooting: 'Rebooting',
} as const;

/** Why a node is disrupted voluntarily; also what a budget's `reasons` may name. */
export const disruptionReason = {
  underutilized: 'Underutilized',
  empty: 'Empty',
  drifted: 'Drifted',
  unhealthy: 'Unhealthy',
} as const;

/** Why the AWS provider says that a node has drifted. */
export const awsDriftReason = {
  nodeClass: 'NodeClassDrift',
  ami: 'AMIDrift',
  securityGroup: 'SecurityGroupDrift',
  subnet: 'SubnetDrift',
  capacityReservation: 'CapacityReservationDrift',
  placementGroup: 'PlacementGroupDrift',
} as const;

/** Marks on the fake nodes of the simulated provider, shared with the KWOK controller. */
export const kwokNode = {
  label: 'kwok.x-k8s.io/node',
  value: 'fake',
  stageLabel: 'kwok.x-k8s.io/stage',
  deleteDelayAnnotation: 'pod-delete.stage.kwok.x-k8s.io/delay',
  partitionLabel: 'kwok-partition',
  priceLabel: 'eks-node-viewer/instance-price',
  providerIdPrefix: 'kwok://',
} as const;
