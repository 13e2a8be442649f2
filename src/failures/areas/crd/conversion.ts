// The conversion stanza of our definitions: where it points, and whether something answers there.
import type { Evidence } from '../../evidence.ts';
import { controllerNamespace, releaseName } from '../../facts.ts';
import { listAt, mapAt, type Plain, textAt } from '../../fields.ts';
import { labelsOf, type Stored } from '../../objects.ts';

export interface ConversionTarget {
  crd: Stored;
  service: string;
  namespace: string;
  port: number;
}

export function conversionTargets({ objects }: Evidence): ConversionTarget[] {
  return objects.of('CustomResourceDefinition').flatMap((crd): ConversionTarget[] => {
    if (!/\.karpenter\.(sh|k8s\.aws)$/.test(crd.name)) return [];
    const conversion = mapAt(crd.object, 'spec', 'conversion');
    if (textAt(conversion, 'strategy') !== 'Webhook') return [];
    const service = mapAt(conversion, 'webhook', 'clientConfig', 'service');
    return [
      {
        crd,
        service: textAt(service, 'name'),
        namespace: textAt(service, 'namespace'),
        port: Number(textAt(service, 'port') || 443),
      },
    ];
  });
}

export type TargetState = 'unknown' | 'ok' | 'no service' | 'no port' | 'no endpoints';

export function stateOf(
  { service, namespace, port }: Omit<ConversionTarget, 'crd'>,
  { objects }: Evidence,
): TargetState {
  if (!objects.isCollected('Service')) return 'unknown';
  const found = objects.find('Service', service, namespace);
  if (found === undefined) return 'no service';
  const ports = listAt(found.object, 'spec', 'ports').map((one) => Number(textAt(one, 'port')));
  if (!ports.includes(port)) return 'no port';
  if (objects.isCollected('Endpoints')) {
    const endpoints = objects.find('Endpoints', service, namespace);
    return endpoints !== undefined && hasAddress(endpoints.object) ? 'ok' : 'no endpoints';
  }
  if (objects.isCollected('EndpointSlice')) {
    const slices = objects
      .of('EndpointSlice')
      .filter(
        (slice) =>
          slice.namespace === namespace && textAt(labelsOf(slice.object), 'kubernetes.io/service-name') === service,
      );
    return slices.some(({ object }) => listAt(object, 'endpoints').length > 0) ? 'ok' : 'no endpoints';
  }
  return 'ok';
}

const hasAddress = (endpoints: Plain): boolean =>
  listAt(endpoints, 'subsets').some((subset) => listAt(subset, 'addresses').length > 0);

/** Whether the definition still stores objects of an older version: then conversion may not simply be taken away. */
const storesOld = ({ object }: Stored): boolean =>
  listAt(object, 'status', 'storedVersions').some((version) => version !== 'v1');

/** What to do about a conversion stanza that points nowhere, the safe way first. */
export function conversionFix(evidence: Evidence, crds: readonly Stored[]): string[] {
  const storesOlder = crds.some(storesOld);
  const names =
    crds.length > 0
      ? crds.map(({ name }) => name)
      : ['nodepools.karpenter.sh', 'nodeclaims.karpenter.sh', 'ec2nodeclasses.karpenter.k8s.aws'];
  const patch = names.map(
    (name) =>
      `kubectl patch crd ${name} --type=json -p '[{"op":"replace","path":"/spec/conversion","value":{"strategy":"None"}}]'`,
  );
  return [
    `helm upgrade --install karpenter-crd oci://public.ecr.aws/karpenter/karpenter-crd --version ${releaseName(evidence)} --namespace ${controllerNamespace(evidence) ?? 'kube-system'}  # the running release; from 1.1 on its definitions have no conversion`,
    ...(storesOlder
      ? [
          'Objects are still stored as v1beta1 (status.storedVersions): run 1.0.x, write every object once, set storedVersions to ["v1"], and only then remove the conversion.',
        ]
      : ['Only when every stored object is v1 (status.storedVersions is ["v1"]):', ...patch]),
    'Do not delete the definitions: that deletes every NodePool, NodeClaim and node class and drains every node.',
  ];
}
