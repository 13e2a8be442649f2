// What the two ownership errors of Helm share: whose definitions they name, and the release they should belong to.

import type { Evidence } from '../../evidence.ts';
import { controllerNamespace } from '../../facts.ts';
import type { Sighting } from '../../failure.ts';
import { allCaught, aroundOf } from '../../found.ts';

const definitions = [
  'ec2nodeclasses.karpenter.k8s.aws',
  'nodepools.karpenter.sh',
  'nodeclaims.karpenter.sh',
  'nodeoverlays.karpenter.sh',
];

/** Errors about other objects (a ServiceAccount that eksctl made, definitions of another product) are cured differently. */
export const otherOwner =
  /CustomResourceDefinition "(?![\w-]+\.(?:karpenter\.sh|karpenter\.k8s\.aws|kerf\.\w+|autoscaling\.x-k8s\.io)")[^"]+"|(?:ServiceAccount|Deployment|ConfigMap|Secret|Role|RoleBinding|ClusterRole|ClusterRoleBinding|Service|Namespace|PodDisruptionBudget|ValidatingWebhookConfiguration) "[^"]+" (?:in namespace|exists)/;

/** The definitions that the lines name, else all of them. */
export function definitionsIn(sightings: readonly Sighting[], evidence: Evidence): string[] {
  const named = allCaught(sightings, 'crd');
  if (named.length > 0) return named;
  const stored = evidence.objects.of('CustomResourceDefinition').map(({ name }) => name);
  const own = stored.filter((name) => /\.karpenter\.(?:sh|k8s\.aws)$/.test(name));
  return own.length > 0 ? own : definitions;
}

/** Release and namespace that the error asks for. */
export function releaseIn(sightings: readonly Sighting[], evidence: Evidence): { name: string; namespace: string } {
  return {
    name: aroundOf(sightings, /release-name"?: must be set to "([\w.-]+)"/) ?? 'karpenter-crd',
    namespace:
      aroundOf(sightings, /release-namespace"?: must (?:be set to|equal) "([\w.-]+)"/) ??
      aroundOf(sightings, /release-namespace" must equal "([\w.-]+)"/) ??
      controllerNamespace(evidence) ??
      'kube-system',
  };
}

export function labelFix(crds: readonly string[]): string {
  return `kubectl label crd ${crds.join(' ')} app.kubernetes.io/managed-by=Helm --overwrite`;
}

export function annotationFix(crds: readonly string[], release: { name: string; namespace: string }): string {
  return `kubectl annotate crd ${crds.join(' ')} meta.helm.sh/release-name=${release.name} meta.helm.sh/release-namespace=${release.namespace} --overwrite`;
}
