// A node must join with the taint karpenter.sh/unregistered, which keeps pods off it until it is known. Images whose user data
// is not generated have to ask for it themselves; Karpenter takes a node without it for one that never registered.
import type { Evidence } from '../../evidence.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { conditionItem, foundIn, refsOf } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { conditionOf, type Stored } from '../../objects.ts';
import { nodeClassNameOf } from '../../relations.ts';

const taint = 'karpenter.sh/unregistered';
const reason = 'UnregisteredTaintNotFound';

export const unregisteredTaintMissing: Failure = {
  id: 'registration/unregistered-taint-missing',
  severity: 'high',
  symptom:
    'The node is Ready, yet its NodeClaim stays `Registered=False` with reason `UnregisteredTaintNotFound`: `Invariant violated, karpenter.sh/unregistered taint must be present on Karpenter-managed nodes`; after 15 minutes it is replaced.',
  cause:
    'The kubelet joined without the taint karpenter.sh/unregistered: user data of a custom image, or a NodeConfig that replaces the generated one, does not ask for it, or something removed it before the controller saw the node',
  fix: 'Start the kubelet with `--register-with-taints=karpenter.sh/unregistered:NoExecute` in the user data of the node class.',
  needs: [kinds('NodeClaim')],
  signs: [
    {
      words: ['unregisteredtaintnotfound', 'unregistered taint must be present', 'missing required startup taint'],
      pattern:
        /\bUnregisteredTaintNotFound\b|karpenter\.sh\/unregistered taint must be present|missing required startup taint, karpenter\.sh\/unregistered/i,
      until: ['registered', 'nodeReady'],
    },
    // Since 1.1 the node is taken all the same: pods may have landed on it too early.
    {
      words: ['unregisteredtaintmissing', 'unregistered taint which prevents'],
      pattern: /\bUnregisteredTaintMissing\b|Missing karpenter\.sh\/unregistered taint which prevents registration/i,
      confidence: 'possible',
      evenWhenWell: true,
    },
  ],
  fromText: (sightings, evidence) => [
    foundIn(sightings, {
      summary: `A node joined without the taint ${taint}, so its NodeClaim does not count as registered.`,
      fix: fixFor(
        evidence,
        sightings.flatMap(({ about }) => evidence.objects.find('NodeClaim', about?.name ?? '') ?? []),
      ),
    }),
  ],
  check(evidence): Found[] {
    const claims = evidence.objects.of('NodeClaim').flatMap((claim) => {
      const registered = conditionOf(claim.object, 'Registered');
      return registered?.reason === reason && registered.status !== 'True' ? [{ claim, registered }] : [];
    });
    if (claims.length === 0) return [];
    const stored = claims.map(({ claim }) => claim);
    return [
      {
        confidence: 'certain',
        summary: `${stored.map(({ name }) => name).join(', ')}: the node joined without the taint ${taint}, so it does not count as registered.`,
        objects: refsOf(stored),
        evidence: claims.map(({ claim, registered }) => conditionItem(claim, registered)),
        fix: fixFor(evidence, stored),
      },
    ];
  },
  explains: ['registration/undiagnosed-timeout', 'init/'],
};

function fixFor(evidence: Evidence, claims: readonly Stored[]): string[] {
  const name = claims.map(nodeClassNameOf).find((one) => one !== '') ?? '';
  const nodeClass = evidence.objects.find('EC2NodeClass', name);
  const family = textAt(nodeClass?.object, 'spec', 'amiFamily');
  const where = `spec.userData of EC2NodeClass ${name || '"$NODE_CLASS"'}`;
  const byFamily: Readonly<Record<string, string>> = {
    Bottlerocket: `In ${where}: [settings.kubernetes.node-taints] with "${taint}" = ["true:NoExecute"]`,
    AL2023: `In the NodeConfig of ${where}: spec: {kubelet: {flags: ["--register-with-taints=${taint}:NoExecute"]}}; one that sets registerWithTaints itself replaces the generated list, so name it there too`,
  };
  return [
    byFamily[family] ??
      `In ${where}: /etc/eks/bootstrap.sh … --kubelet-extra-args '--register-with-taints=${taint}:NoExecute' (for nodeadm: kubelet.flags of the NodeConfig)`,
    `If the user data has it: find what takes it away before the controller sees the node, such as a tool that manages taints: kubectl get node "$NODE" -o yaml --show-managed-fields`,
  ];
}
