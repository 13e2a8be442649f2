// The API server refuses the controller's own service account: the ClusterRole of another release, or a binding that names
// another namespace or account. Not to be taken for a refusal of AWS.
import { controllerIdentity } from '../../controller-identity.ts';
import type { Evidence } from '../../evidence.ts';
import { releaseName, releaseNamespace } from '../../facts.ts';
import type { Failure, Found, Sighting } from '../../failure.ts';
import { listAt, textAt } from '../../fields.ts';
import { caught, fieldItem, foundIn } from '../../found.ts';
import { anyOf, kinds, texts } from '../../needs.ts';
import { refOf, type Stored } from '../../objects.ts';

/** A whole cluster has at least this many bindings of its own: fewer are a few that someone picked. */
const leastBindings = 20;

/** A reconciler that is refused tries again within minutes; what is not repeated for so long was an upgrade in between. */
const longestPauseMs = 30 * 60_000;

/** Kinds without which nodes are launched all the same. */
const optional = /^(?:nodeoverlays|capacitybuffers|events)\b/;

export const kubernetesPermissionMissing: Failure = {
  id: 'startup/kubernetes-permission-missing',
  severity: 'critical',
  symptom:
    '`nodeclaims.karpenter.sh is forbidden: User "system:serviceaccount:kube-system:karpenter" cannot list resource "nodeclaims" in API group "karpenter.sh" at the cluster scope`; caches never fill and the controller does not start, or one of its steps always fails.',
  cause:
    "The controller's service account lacks a right in Kubernetes: the ClusterRole is of another release than the image, or the ClusterRoleBinding names another namespace or service account",
  fix: 'Install the chart of the running release whole (`helm upgrade --install`), so that its ClusterRoles and bindings come with it.',
  needs: [anyOf(texts('log'), kinds('ClusterRoleBinding', 'Deployment'))],
  signs: [
    {
      words: ['is forbidden: user'],
      pattern:
        /is forbidden: User "system:serviceaccount:(?<namespace>[\w-]+):(?<account>[\w-]*(?:karpenter|kerf)[\w-]*)" cannot (?<verb>\w+) resource "(?<resource>[\w./-]+)" in API group "(?<group>[\w.-]*)"/i,
      repeatsWithinMs: longestPauseMs,
    },
    {
      words: ['cannot set blockownerdeletion'],
      pattern:
        /(?<resource>nodeclaims|nodepools|nodes|machines)(?:\.karpenter\.sh)? "[^"]*" is forbidden: cannot set blockOwnerDeletion/i,
      repeatsWithinMs: longestPauseMs,
    },
  ],
  fromText(sightings, evidence) {
    const account = `${caught(sightings, 'namespace') ?? releaseNamespace(evidence)}:${caught(sightings, 'account') ?? 'karpenter'}`;
    const lacking = rightsOf(sightings);
    return [
      {
        ...foundIn(sightings, {
          summary: `The service account ${account.replace(':', '/')} of the controller may not ${lacking.map(({ verb, resource }) => `${verb} ${resource}`).join(', ')} in Kubernetes.`,
          fix: [
            ...lacking
              .slice(0, 3)
              .map(
                ({ verb, resource, group }) =>
                  `kubectl auth can-i ${verb} ${group === '' ? resource : resource.replace(/^([\w-]+)/, `$1.${group}`)} --as system:serviceaccount:${account} -A`,
              ),
            ...fixFor(evidence, caught(sightings, 'namespace')),
          ],
        }),
        ...(lacking.every(({ resource }) => optional.test(resource)) ? { confidence: 'possible' as const } : {}),
      },
    ];
  },
  check(evidence): Found[] {
    const identity = controllerIdentity(evidence);
    const bindings = evidence.objects.of('ClusterRoleBinding');
    if (identity === undefined || bindings.length === 0) return [];
    const { account, namespace } = identity;
    // A Deployment that was shortened by hand does not say whose rights it has.
    if (account === 'default') return [];
    if (bindings.some((one) => names(one, account, namespace))) return [];
    const own = bindings.filter(
      ({ object, name }) => /karpenter|kerf/.test(name) || /karpenter|kerf/.test(textAt(object, 'roleRef', 'name')),
    );
    if (own.length === 0 && bindings.length < leastBindings) return [];
    const subjects = own.flatMap(({ object }) =>
      listAt(object, 'subjects').map((one) => `${textAt(one, 'namespace')}/${textAt(one, 'name')}`),
    );
    return [
      {
        confidence: 'certain',
        summary: `No ClusterRoleBinding names the controller's service account ${namespace}/${account}${subjects.length === 0 ? '' : `; those of the chart name ${[...new Set(subjects)].join(', ')}`}: it may do nothing in the cluster.`,
        objects: [refOf(identity.workload), ...own.map(refOf)],
        evidence: [
          fieldItem(identity.workload, 'spec.template.spec.serviceAccountName', `${account} in ${namespace}`),
          ...own.map((one) => fieldItem(one, 'subjects', subjects.join(', '))),
        ],
        fix: fixFor(evidence, namespace),
      },
    ];
  },
  explains: ['scheduling/no-usable-nodepool', 'termination/drain-never-completes'],
};

function rightsOf(sightings: readonly Sighting[]): { verb: string; resource: string; group: string }[] {
  const rights = sightings.map(({ groups }) => ({
    verb: groups['verb'] ?? 'update',
    resource: groups['verb'] === undefined ? `${groups['resource']}/finalizers` : (groups['resource'] ?? ''),
    group: groups['group'] ?? 'karpenter.sh',
  }));
  return [...new Map(rights.map((one) => [`${one.verb} ${one.resource}`, one])).values()];
}

function names({ object }: Stored, account: string, namespace: string): boolean {
  return listAt(object, 'subjects').some((one) => {
    const [kind, name] = [textAt(one, 'kind'), textAt(one, 'name')];
    if (kind === 'ServiceAccount') return name === account && textAt(one, 'namespace') === namespace;
    if (kind === 'User') return name === `system:serviceaccount:${namespace}:${account}`;
    // Discovery and the like are for everyone, and say nothing about nodes.
    if (kind !== 'Group') return false;
    const isForAll = /^system:(?:serviceaccounts|authenticated)$/.test(name);
    return (
      name === `system:serviceaccounts:${namespace}` ||
      (isForAll && textAt(object, 'roleRef', 'name') === 'cluster-admin')
    );
  });
}

const fixFor = (evidence: Evidence, namespace: string | undefined): string[] => [
  `helm upgrade --install karpenter oci://public.ecr.aws/karpenter/karpenter --version ${releaseName(evidence)} --namespace ${namespace ?? releaseNamespace(evidence)} --reuse-values  # the version of the running image: brings its ClusterRoles and bindings`,
  'kubectl get clusterrolebindings -o wide | grep -E "karpenter|kerf"  # the last column must be the service account that the Deployment uses',
];
