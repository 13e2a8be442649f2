{{- /* Names and labels, those of Karpenter's chart whatever this one is called: selectors, dashboards, monitors and trust
policies keep matching, and a release can be upgraded from one chart to the other. */ -}}

{{- define "kerf.name" -}}
{{- default "karpenter" .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "kerf.fullname" -}}
{{- $name := default "karpenter" .Values.nameOverride }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end -}}

{{- define "kerf.selectorLabels" -}}
app.kubernetes.io/name: {{ include "kerf.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "kerf.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "kerf.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.additionalLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* metadata of an object: (list context name namespace labels annotations), the last two beyond those of every object. */ -}}
{{- define "kerf.metadata" -}}
{{- $root := index . 0 }}
metadata:
  name: {{ index . 1 }}
  {{- with index . 2 }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "kerf.labels" $root | nindent 4 }}
    {{- with index . 3 }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- $annotations := merge (dict) (index . 4 | default dict) ($root.Values.additionalAnnotations | default dict) }}
  {{- with $annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "kerf.serviceAccountName" -}}
{{- if eq (toString .Values.serviceAccount.create) "true" }}
{{- default (include "kerf.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end -}}

{{- define "kerf.leaseName" -}}
{{- if .Values.shadow.enabled }}
{{- .Values.shadow.leaseName }}
{{- else }}
{{- include "kerf.given" (list . "LEADER_ELECTION_NAME") | default .Values.settings.leaderElectionName | default "karpenter-leader-election" }}
{{- end }}
{{- end -}}

{{- define "kerf.leaseNamespace" -}}
{{- include "kerf.given" (list . "LEADER_ELECTION_NAMESPACE") | default .Values.settings.leaderElectionNamespace | default .Release.Namespace }}
{{- end -}}

{{- /* "true" where a values file written for Karpenter's chart names its image, or a mirror of it, which says nothing about
ours. Whoever keeps ours under such a name says so by the tag of this version. */ -}}
{{- define "kerf.isKarpenterImage" -}}
{{- $image := .Values.controller.image }}
{{- if and (contains "karpenter" $image.repository) (not (contains "kerf" $image.repository)) (ne (toString $image.tag) .Chart.AppVersion) }}true{{ end }}
{{- end -}}

{{- define "kerf.image" -}}
{{- $image := .Values.controller.image }}
{{- if include "kerf.isKarpenterImage" . }}
{{- printf "kerf:%s" .Chart.AppVersion }}
{{- else }}
{{- printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag) }}
{{- with $image.digest }}@{{ . }}{{ end }}
{{- end }}
{{- end -}}
