{{- /* What is asked of the values: which gates are on, which variables the container gets, how many replicas there are. */ -}}

{{- /* First in every template: values that the chart knows and the release does not. Whoever upgrades a release of Karpenter's
chart with --reuse-values brings that chart's defaults instead of ours. */ -}}
{{- define "kerf.complete" -}}
{{- range $name, $fallback := include "kerf.fallbacks" . | fromYaml }}
{{- $given := index $.Values $name }}
{{- if kindIs "invalid" $given }}
{{- $_ := set $.Values $name $fallback }}
{{- else if kindIs "map" $fallback }}
{{- range $key, $value := $fallback }}{{ if not (hasKey $given $key) }}{{ $_ := set $given $key $value }}{{ end }}{{ end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* (list context name): the last value of a variable in controller.env; it wins over what the values say. */ -}}
{{- define "kerf.given" -}}
{{- $name := index . 1 }}
{{- $value := "" }}
{{- range (index . 0).Values.controller.env }}{{ if eq .name $name }}{{ $value = toString (.value | default "") }}{{ end }}{{ end }}
{{- $value }}
{{- end -}}

{{- /* (list context key gate): "true" or nothing. */ -}}
{{- define "kerf.gate" -}}
{{- $root := index . 0 }}
{{- $given := include "kerf.given" (list $root "FEATURE_GATES") }}
{{- if $given }}
{{- if contains (printf "%s=true" (index . 2)) $given }}true{{ end }}
{{- else if eq (include "kerf.text" (list $root (index $root.Values.settings.featureGates (index . 1)))) "true" }}true{{ end }}
{{- end -}}

{{- /* "true" where devices are planned: asked for as such, or by a gate that would have no effect otherwise. */ -}}
{{- define "kerf.plansDevices" -}}
{{- $given := include "kerf.given" (list . "IGNORE_DRA_REQUESTS") }}
{{- $gates := .Values.settings.awsFeatureGates | default dict }}
{{- $asked := list (toString .Values.settings.enableDRA) (toString (get $gates "draNVIDIAGPU")) (toString (get $gates "draEFA")) }}
{{- if $given }}
{{- if eq $given "false" }}true{{ end }}
{{- else if or (has "true" $asked) (eq (include "kerf.text" (list . .Values.settings.ignoreDRARequests)) "false") }}true{{ end }}
{{- end -}}

{{- /* Something where the spread of kube-scheduler counts. */ -}}
{{- define "kerf.hasSchedulerConfig" -}}
{{- include "kerf.given" (list . "SCHEDULER_CONFIG") | default (toString (.Values.settings.schedulerConfig | default "")) }}
{{- end -}}

{{- /* Not empty where the dashboard is served. */ -}}
{{- define "kerf.hasDashboard" -}}
{{- $port := include "kerf.given" (list . "DASHBOARD_PORT") | default (include "kerf.text" (list . .Values.settings.dashboardPort)) }}
{{- if gt (int $port) 0 }}true{{ end }}
{{- end -}}

{{- /* (list context value): text as the process reads it. Values may hold templates; whole numbers stay whole. */ -}}
{{- define "kerf.text" -}}
{{- $root := index . 0 }}
{{- $value := index . 1 }}
{{- if kindIs "string" $value }}{{ tpl $value $root }}{{ else if or (kindIs "float64" $value) (kindIs "map" $value) }}{{ toJson $value }}{{ else }}{{ toString $value }}{{ end }}
{{- end -}}

{{- /* (list context names values): Name=true,Name=false of the gates that have a value. */ -}}
{{- define "kerf.gates" -}}
{{- $root := index . 0 }}
{{- $values := index . 2 | default dict }}
{{- $gates := list }}
{{- range $key, $gate := include (index . 1) $root | fromYaml }}
{{- $value := get $values $key }}
{{- if not (kindIs "invalid" $value) }}
{{- with include "kerf.text" (list $root $value) }}{{ $gates = append $gates (printf "%s=%s" $gate .) }}{{ end }}
{{- end }}
{{- end }}
{{- join "," $gates }}
{{- end -}}

{{- define "kerf.awsGateValues" -}}
{{- $values := deepCopy (.Values.settings.awsFeatureGates | default dict) }}
{{- if .Values.settings.enableDRA }}{{ $values = merge (dict "draNVIDIAGPU" true "draEFA" true) $values }}{{ end }}
{{- toYaml $values }}
{{- end -}}

{{- /* Variables by name. null leaves one out; false, 0 and "" are passed on. */ -}}
{{- define "kerf.variables" -}}
{{- $name := .Values.settings.clusterName | default "" | toString }}
{{- if and (eq .Values.provider "aws") (eq (tpl $name .) "") }}
{{- fail "settings.clusterName is missing: set it to the name of the EKS cluster, for example --set settings.clusterName=my-cluster" }}
{{- end }}
{{- /* The first one is there because Karpenter's chart sets it: whoever compares pods finds it. */ -}}
{{- $variables := dict "KUBERNETES_MIN_VERSION" "1.19.0-0" "KARPENTER_SERVICE" (include "kerf.fullname" .) "METRICS_PORT" (toString .Values.controller.metrics.port) "HEALTH_PROBE_PORT" (toString .Values.controller.healthProbe.port) }}
{{- if not (kindIs "invalid" .Values.logLevel) }}
{{- $_ := set $variables "LOG_LEVEL" .Values.logLevel }}
{{- end }}
{{- with .Values.logOutputPaths }}{{ $_ := set $variables "LOG_OUTPUT_PATHS" (join "," .) }}{{ end }}
{{- with .Values.logErrorOutputPaths }}{{ $_ := set $variables "LOG_ERROR_OUTPUT_PATHS" (join "," .) }}{{ end }}
{{- with include "kerf.gates" (list . "kerf.gateNames" .Values.settings.featureGates) }}{{ $_ := set $variables "FEATURE_GATES" . }}{{ end }}
{{- with include "kerf.gates" (list . "kerf.awsGateNames" (include "kerf.awsGateValues" . | fromYaml)) }}{{ $_ := set $variables "AWS_FEATURE_GATES" . }}{{ end }}
{{- range $key, $env := include "kerf.settingVariables" . | fromYaml }}
{{- $value := index $.Values.settings $key }}
{{- if not (kindIs "invalid" $value) }}
{{- $_ := set $variables $env (include "kerf.text" (list $ $value)) }}
{{- end }}
{{- end }}
{{- if include "kerf.plansDevices" . }}{{ $_ := set $variables "IGNORE_DRA_REQUESTS" "false" }}{{ end }}
{{- if ne .Values.provider "aws" }}{{ $_ := set $variables "KERF_PROVIDER" .Values.provider }}{{ end }}
{{- if .Values.shadow.enabled }}{{ $_ := set $variables "LEADER_ELECTION_NAME" .Values.shadow.leaseName }}{{ end }}
{{- toYaml $variables }}
{{- end -}}

{{- /* A map without what is null: values files take amounts of another file away by it, and server-side apply reads it as 0. */ -}}
{{- define "kerf.withoutNulls" -}}
{{- $kept := dict }}
{{- range $key, $value := . }}
{{- if kindIs "map" $value }}{{ $_ := set $kept $key (include "kerf.withoutNulls" $value | fromYaml) }}
{{- else if not (kindIs "invalid" $value) }}{{ $_ := set $kept $key $value }}{{ end }}
{{- end }}
{{- toYaml $kept }}
{{- end -}}

{{- define "kerf.args" -}}
- controller
{{- if .Values.shadow.enabled }}
- --shadow
{{- end }}
{{- if and (eq .Values.provider "kwok") .Values.kwok.fakeKubelets }}
- --fake-kubelets
{{- end }}
{{- end -}}

{{- /* (list labels requirements): "true" if labels meet all of them. */ -}}
{{- define "kerf.meets" -}}
{{- $labels := index . 0 }}
{{- $meets := true }}
{{- range index . 1 }}
{{- $has := hasKey $labels .key }}
{{- $value := get $labels .key }}
{{- $in := and $has (has $value (.values | default list)) }}
{{- $first := first (.values | default (list "0")) }}
{{- $is := dict "In" $in "NotIn" (not $in) "Exists" $has "DoesNotExist" (not $has) "Gt" (and $has (gt (atoi $value) (atoi $first))) "Lt" (and $has (lt (atoi $value) (atoi $first))) }}
{{- if not (get $is .operator) }}{{ $meets = false }}{{ end }}
{{- end }}
{{- if $meets }}true{{ end }}
{{- end -}}

{{- /* How many nodes the pods could run on by selector, affinity and taints; 0 where Helm has no cluster to ask. */ -}}
{{- define "kerf.eligibleNodes" -}}
{{- $count := 0 }}
{{- $required := dig "nodeAffinity" "requiredDuringSchedulingIgnoredDuringExecution" "nodeSelectorTerms" list (.Values.affinity | default dict) }}
{{- range (lookup "v1" "Node" "" "").items }}
{{- $labels := .metadata.labels | default dict }}
{{- $fields := dict "metadata.name" .metadata.name }}
{{- $fits := not .spec.unschedulable }}
{{- range $key, $value := $.Values.nodeSelector }}
{{- if ne (get $labels $key) (toString $value) }}{{ $fits = false }}{{ end }}
{{- end }}
{{- $isAllowed := empty $required }}
{{- range $required }}
{{- if and (include "kerf.meets" (list $labels (.matchExpressions | default list))) (include "kerf.meets" (list $fields (.matchFields | default list))) }}{{ $isAllowed = true }}{{ end }}
{{- end }}
{{- if not $isAllowed }}{{ $fits = false }}{{ end }}
{{- range $taint := .spec.taints }}
{{- $tolerated := eq $taint.effect "PreferNoSchedule" }}
{{- range $.Values.tolerations }}
{{- $sameKey := or (not .key) (eq .key $taint.key) }}
{{- $sameEffect := or (not .effect) (eq .effect $taint.effect) }}
{{- $sameValue := or (eq (default "Equal" .operator) "Exists") (eq (default "" .value) (default "" $taint.value)) }}
{{- if and $sameKey $sameEffect $sameValue }}{{ $tolerated = true }}{{ end }}
{{- end }}
{{- if not $tolerated }}{{ $fits = false }}{{ end }}
{{- end }}
{{- if $fits }}{{ $count = add1 $count }}{{ end }}
{{- end }}
{{- $count }}
{{- end -}}

{{- /* The pods may not share a node (affinity), so a second one would wait for ever where there is only one. */ -}}
{{- define "kerf.replicas" -}}
{{- $apart := dig "podAntiAffinity" "requiredDuringSchedulingIgnoredDuringExecution" list (.Values.affinity | default dict) }}
{{- if and .Values.adaptReplicas $apart (gt (int .Values.replicas) 1) (eq (include "kerf.eligibleNodes" .) "1") }}1{{ else }}{{ .Values.replicas }}{{ end }}
{{- end -}}

{{- /* (list context terms): the same terms, those without a labelSelector with that of the pods. */ -}}
{{- define "kerf.withSelector" -}}
{{- $selector := dict "matchLabels" (include "kerf.selectorLabels" (index . 0) | fromYaml) }}
{{- $terms := list }}
{{- range index . 1 }}
{{- if and (hasKey . "podAffinityTerm") (not (hasKey .podAffinityTerm "labelSelector")) }}
{{- $terms = append $terms (merge (dict "podAffinityTerm" (merge (dict "labelSelector" $selector) .podAffinityTerm)) .) }}
{{- else if or (hasKey . "labelSelector") (hasKey . "podAffinityTerm") }}
{{- $terms = append $terms . }}
{{- else }}
{{- $terms = append $terms (merge (dict "labelSelector" $selector) .) }}
{{- end }}
{{- end }}
{{- toYaml $terms }}
{{- end -}}

{{- define "kerf.affinity" -}}
{{- $affinity := deepCopy .Values.affinity }}
{{- range $kind := list "podAffinity" "podAntiAffinity" }}
{{- $ofKind := get $affinity $kind | default dict }}
{{- range $when, $terms := $ofKind }}
{{- $_ := set $ofKind $when (include "kerf.withSelector" (list $ $terms) | fromYamlArray) }}
{{- end }}
{{- end }}
{{- toYaml $affinity }}
{{- end -}}
