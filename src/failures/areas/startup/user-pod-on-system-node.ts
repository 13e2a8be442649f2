// Application pods that tolerate everything end up beside the controller.
import { isController } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { fieldItem, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import type { Stored } from '../../objects.ts';

const systemNamespaces =
  /^(kube-.*|karpenter|kerf|amazon-.*|cert-manager|istio-system|monitoring|calico-.*|tigera-.*|flux-system|argocd|gatekeeper-system|kyverno|external-.*|ingress-.*|aws-.*)$/;

export const userPodOnSystemNode: Failure = {
  id: 'startup/user-pod-on-system-node',
  severity: 'low',
  symptom: "An application pod that tolerates CriticalAddonsOnly shares the controller's node and starves it.",
  cause:
    'A taint repels only pods without the toleration; this one tolerates the taint of the system nodes, or everything',
  fix: 'Required node affinity `karpenter.sh/nodepool Exists` on the application; a priority class and requests for the controller.',
  needs: [kinds('Pod', 'Node')],
  signs: [
    {
      words: ['criticaladdonsonly'],
      pattern:
        /\bsystem node.{0,200}tolerat\w*.{0,60}CriticalAddonsOnly|tolerat\w*.{0,60}CriticalAddonsOnly.{0,200}\b(?:next to|beside|same node as|starves?)\b.{0,40}(?:karpenter|kerf|the controller)/i,
      unless: /untolerated taint|nodes? available/i,
      where: ['asked'],
      confidence: 'likely',
    },
  ],
  check({ objects }): Found[] {
    const tainted = new Set(
      objects
        .of('Node')
        .filter(isSystemNode)
        .map(({ name }) => name),
    );
    const pods = objects
      .of('Pod')
      .filter(
        (pod) =>
          tainted.has(textAt(pod.object, 'spec', 'nodeName')) &&
          !systemNamespaces.test(pod.namespace) &&
          !isController(pod) &&
          !isDaemon(pod) &&
          tolerates(pod),
      );
    if (pods.length === 0) return [];
    const first = pods[0] as Stored;
    return [
      {
        confidence: 'certain',
        summary: `${pods.length === 1 ? `Pod ${first.name} runs` : `${pods.length} application pods run`} on system nodes, because they tolerate CriticalAddonsOnly.`,
        objects: refsOf(pods.slice(0, 10)),
        evidence: pods
          .slice(0, 5)
          .map((pod) => fieldItem(pod, 'spec.nodeName', textAt(pod.object, 'spec', 'nodeName'))),
        fix: [
          `Remove the toleration of CriticalAddonsOnly from the workload of ${first.namespace}/${first.name}, or add to its pod template: affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: karpenter.sh/nodepool, operator: Exists}]}]}}}`,
        ],
      },
    ];
  },
};

const isSystemNode = ({ object }: Stored): boolean =>
  listAt(object, 'spec', 'taints').some((taint) => textAt(taint, 'key') === 'CriticalAddonsOnly');

const isDaemon = ({ object }: Stored): boolean =>
  listAt(object, 'metadata', 'ownerReferences').some((owner) => ['DaemonSet', 'Node'].includes(textAt(owner, 'kind')));

function tolerates({ object }: Stored): boolean {
  return listAt(object, 'spec', 'tolerations').some((one) => {
    const key = textAt(one, 'key');
    return key === 'CriticalAddonsOnly' || (key === '' && textAt(one, 'operator') === 'Exists');
  });
}
