{{- /* Generated from the tables of settings and rights: run `npm run generate`. */ -}}

{{- define "kerf.fallbacks" -}}
service:
  annotations: {}
provider: aws
kwok:
  fakeKubelets: false
adaptReplicas: true
automountServiceAccountToken: false
shadow:
  enabled: false
  leaseName: kerf-shadow
networkPolicy:
  enabled: false
  metricsFrom: []
prometheusRule:
  enabled: false
  additionalLabels: {}
grafanaDashboards:
  enabled: false
  labels:
    grafana_dashboard: "1"
{{- end -}}

{{- define "kerf.settingVariables" -}}
record: RECORD
dashboardPort: DASHBOARD_PORT
kubeClientQps: KUBE_CLIENT_QPS
kubeClientBurst: KUBE_CLIENT_BURST
enableProfiling: ENABLE_PROFILING
disableControllerWarmup: DISABLE_CONTROLLER_WARMUP
disableLeaderElection: DISABLE_LEADER_ELECTION
disableClusterStateObservability: DISABLE_CLUSTER_STATE_OBSERVABILITY
leaderElectionName: LEADER_ELECTION_NAME
leaderElectionNamespace: LEADER_ELECTION_NAMESPACE
batchMaxDuration: BATCH_MAX_DURATION
batchIdleDuration: BATCH_IDLE_DURATION
preferencePolicy: PREFERENCE_POLICY
minValuesPolicy: MIN_VALUES_POLICY
ignoreDRARequests: IGNORE_DRA_REQUESTS
budgetTimeZone: BUDGET_TIME_ZONE
consolidationPayback: CONSOLIDATION_PAYBACK
nodeCostPerHour: NODE_COST_PER_HOUR
expirationGrace: EXPIRATION_GRACE
keepDaemonSetRoom: KEEP_DAEMONSET_ROOM
legacyNodeRepair: LEGACY_NODE_REPAIR
schedulerConfig: SCHEDULER_CONFIG
clusterName: CLUSTER_NAME
clusterEndpoint: CLUSTER_ENDPOINT
clusterCABundle: CLUSTER_CA_BUNDLE
isolatedVPC: ISOLATED_VPC
eksControlPlane: EKS_CONTROL_PLANE
vmMemoryOverheadPercent: VM_MEMORY_OVERHEAD_PERCENT
interruptionQueue: INTERRUPTION_QUEUE
reservedENIs: RESERVED_ENIS
disableDryRun: DISABLE_DRY_RUN
enableZonalShift: ENABLE_ZONAL_SHIFT
amiRefreshInterval: AMI_REFRESH_INTERVAL
subnetRefreshInterval: SUBNET_REFRESH_INTERVAL
securityGroupRefreshInterval: SECURITY_GROUP_REFRESH_INTERVAL
spotRebalancePolicy: SPOT_REBALANCE_POLICY
instanceStatusDryRun: INSTANCE_STATUS_DRY_RUN
{{- end -}}

{{- define "kerf.gateNames" -}}
nodeRepair: NodeRepair
reservedCapacity: ReservedCapacity
spotToSpotConsolidation: SpotToSpotConsolidation
nodeOverlay: NodeOverlay
staticCapacity: StaticCapacity
capacityBuffer: CapacityBuffer
terminateFirstDrift: TerminateFirstDrift
terminateFirstRepair: TerminateFirstRepair
podDeletionCostManagement: PodDeletionCostManagement
{{- end -}}

{{- define "kerf.awsGateNames" -}}
nodeClassCEL: NodeClassCEL
draNVIDIAGPU: DRANVIDIAGPU
draEFA: DRAEFA
rebootForRepair: RebootForRepair
{{- end -}}

{{- define "kerf.coreRights" -}}
# What it looks at.
- apiGroups: [karpenter.sh]
  resources: [nodepools, nodepools/status, nodeclaims, nodeclaims/status]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [pods, nodes, persistentvolumes, persistentvolumeclaims, namespaces]
  verbs: [get, list, watch]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses, csinodes, volumeattachments]
  verbs: [get, list, watch]
- apiGroups: [storage.k8s.io]
  resources: [csidrivers, csistoragecapacities]
  verbs: [get, list, watch]
- apiGroups: [apps]
  resources: [daemonsets]
  verbs: [get, list, watch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch]
{{- if (include "kerf.gate" (list . "nodeOverlay" "NodeOverlay")) }}
- apiGroups: [karpenter.sh]
  resources: [nodeoverlays]
  verbs: [get, list, watch]
{{- end }}
{{- if (include "kerf.gate" (list . "capacityBuffer" "CapacityBuffer")) }}
- apiGroups: [autoscaling.x-k8s.io]
  resources: [capacitybuffers]
  verbs: [get, list, watch]
{{- end }}
{{- if (include "kerf.gate" (list . "capacityBuffer" "CapacityBuffer")) }}
- apiGroups: [""]
  resources: [podtemplates, replicationcontrollers]
  verbs: [get, list, watch]
{{- end }}
{{- if (include "kerf.gate" (list . "capacityBuffer" "CapacityBuffer")) }}
- apiGroups: [apps]
  resources: [deployments, replicasets, statefulsets]
  verbs: [get, list, watch]
{{- end }}
{{- if (include "kerf.hasSchedulerConfig" .) }}
- apiGroups: [""]
  resources: [services, replicationcontrollers]
  verbs: [get, list, watch]
{{- end }}
{{- if (include "kerf.hasSchedulerConfig" .) }}
- apiGroups: [apps]
  resources: [replicasets, statefulsets]
  verbs: [get, list, watch]
{{- end }}
{{- if (include "kerf.plansDevices" .) }}
- apiGroups: [resource.k8s.io]
  resources: [resourceslices, resourceclaims, deviceclasses, devicetaintrules]
  verbs: [get, list, watch]
{{- end }}
{{- if (include "kerf.hasDashboard" .) }}
# What nodes really use, beside what pods request.
- apiGroups: [metrics.k8s.io]
  resources: [nodes]
  verbs: [get, list]
{{- end }}
{{- if (not .Values.shadow.enabled) }}
# What it writes.
- apiGroups: [karpenter.sh]
  resources: [nodeclaims, nodeclaims/status, nodeclaims/finalizers]
  verbs: [create, delete, update, patch]
{{- end }}
{{- if (not .Values.shadow.enabled) }}
- apiGroups: [karpenter.sh]
  resources: [nodepools, nodepools/status, nodepools/finalizers]
  verbs: [update, patch]
{{- end }}
{{- if (not .Values.shadow.enabled) }}
- apiGroups: [""]
  resources: [nodes]
  verbs: [update, patch, delete]
{{- end }}
{{- if (not .Values.shadow.enabled) }}
- apiGroups: [""]
  resources: [pods/eviction]
  verbs: [create]
{{- end }}
{{- if (not .Values.shadow.enabled) }}
# By force, when a termination grace period runs out.
- apiGroups: [""]
  resources: [pods]
  verbs: [delete]
{{- end }}
{{- if and (include "kerf.gate" (list . "podDeletionCostManagement" "PodDeletionCostManagement")) (not .Values.shadow.enabled) }}
# Deletion costs, which ReplicaSets read when they are scaled down.
- apiGroups: [""]
  resources: [pods]
  verbs: [patch]
{{- end }}
{{- if (not .Values.shadow.enabled) }}
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- end }}
{{- if and (include "kerf.gate" (list . "nodeOverlay" "NodeOverlay")) (not .Values.shadow.enabled) }}
- apiGroups: [karpenter.sh]
  resources: [nodeoverlays/status]
  verbs: [update, patch]
{{- end }}
{{- if and (include "kerf.gate" (list . "capacityBuffer" "CapacityBuffer")) (not .Values.shadow.enabled) }}
- apiGroups: [autoscaling.x-k8s.io]
  resources: [capacitybuffers/status]
  verbs: [update, patch]
{{- end }}
{{- if and (eq .Values.provider "kwok") (not .Values.shadow.enabled) }}
# Machines of the simulated cloud are Node objects.
- apiGroups: [""]
  resources: [nodes]
  verbs: [create]
{{- end }}
{{- if and (eq .Values.provider "kwok") (not .Values.shadow.enabled) }}
# A simulated machine that was rebooted has another boot id.
- apiGroups: [""]
  resources: [nodes/status]
  verbs: [patch]
{{- end }}
{{- if and (and (eq .Values.provider "kwok") .Values.kwok.fakeKubelets) (not .Values.shadow.enabled) }}
# What kubelets may do.
- apiGroups: [""]
  resources: [nodes/status, pods/status]
  verbs: [patch]
{{- end }}
{{- if and (and (eq .Values.provider "kwok") .Values.kwok.fakeKubelets) (not .Values.shadow.enabled) }}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [get, list, watch, create, patch]
{{- end }}
{{- end -}}

{{- define "kerf.providerRights" -}}
{{- if (eq .Values.provider "aws") }}
- apiGroups: [karpenter.k8s.aws]
  resources: [ec2nodeclasses]
  verbs: [get, list, watch]
{{- end }}
{{- if (eq .Values.provider "kwok") }}
- apiGroups: [karpenter.kwok.sh]
  resources: [kwoknodeclasses]
  verbs: [get, list, watch]
{{- end }}
{{- if and (eq .Values.provider "aws") (not .Values.shadow.enabled) }}
- apiGroups: [karpenter.k8s.aws]
  resources: [ec2nodeclasses, ec2nodeclasses/status]
  verbs: [update, patch]
{{- end }}
{{- end -}}

{{- define "kerf.leaseRights" -}}
# A Lease is created under its name; rights by name cannot be given for creating.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ include "kerf.leaseName" . | quote }}]
  verbs: [get, update, patch]
{{- end -}}

{{- define "kerf.dnsRights" -}}
- apiGroups: [""]
  resources: [services]
  resourceNames: [kube-dns]
  verbs: [get]
# Whether nodes of a role may join.
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: [aws-auth]
  verbs: [get]
{{- end -}}

{{- define "kerf.adminRights" -}}
- apiGroups: [karpenter.sh]
  resources: [nodepools, nodepools/status, nodeclaims, nodeclaims/status, nodeoverlays]
  verbs: [get, list, watch, create, delete, patch]
{{- if (eq .Values.provider "aws") }}
- apiGroups: [karpenter.k8s.aws]
  resources: [ec2nodeclasses]
  verbs: [get, list, watch, create, delete, patch]
{{- end }}
{{- if (eq .Values.provider "kwok") }}
- apiGroups: [karpenter.kwok.sh]
  resources: [kwoknodeclasses]
  verbs: [get, list, watch, create, delete, patch]
{{- end }}
{{- end -}}

{{- define "kerf.valuesWithoutEffect" -}}
webhook: there is no webhook
logConfig: write logLevel, logOutputPaths and logErrorOutputPaths
logEncoding: logs are JSON
clusterName: write settings.clusterName
clusterEndpoint: write settings.clusterEndpoint
aws: write what it held into the EC2NodeClass
controller.logLevel: write logLevel
controller.logEncoding: logs are JSON
controller.outputPaths: write logOutputPaths
controller.errorOutputPaths: write logErrorOutputPaths
controller.batchMaxDuration: write settings.batchMaxDuration
controller.batchIdleDuration: write settings.batchIdleDuration
settings.aws: write its fields under settings
settings.assumeRoleARN: give the service account a role that it may use
settings.assumeRoleDuration: give the service account a role that it may use
settings.featureGates.drift: drift is always on
settings.featureGates.driftEnabled: drift is always on
{{- end -}}
