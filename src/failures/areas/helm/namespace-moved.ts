// The namespace of the controller stands in three places outside its release: the trust of its role, its Pod Identity
// association and, up to 1.0, the conversion webhook of the definitions. A reinstallation elsewhere leaves them behind.
import { type ControllerIdentity, controllerIdentity, describedRole } from '../../controller-identity.ts';
import type { Evidence } from '../../evidence.ts';
import { clusterName, releaseName } from '../../facts.ts';
import type { EvidenceItem, Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { caught, fieldItem, foundIn } from '../../found.ts';
import { conditionValues, statementsOf } from '../../iam-policy.ts';
import { answer, anyOf, kinds } from '../../needs.ts';
import { refOf } from '../../objects.ts';
import { conversionTargets } from '../crd/conversion.ts';

export const namespaceMoved: Failure = {
  id: 'helm/namespace-moved',
  severity: 'high',
  symptom:
    'After a reinstallation in another namespace the controller has no credentials, or objects cannot be read (up to 1.0).',
  cause:
    'The trust policy, the Pod Identity association and the conversion webhook still name the namespace of the old installation',
  fix: "Change all three to the new namespace; on 1.0.x set the CRD chart's `webhook.serviceNamespace`.",
  needs: [
    kinds('Deployment', 'ServiceAccount'),
    anyOf(answer('iam-get-role'), answer('eks-list-pod-identity-associations'), kinds('CustomResourceDefinition')),
  ],
  signs: [
    {
      words: ['helm uninstall', 'helm delete', 'helm del '],
      pattern:
        /helm (?:uninstall|delete|del) karpenter (?:-n|--namespace)[ =](?<old>[\w-]+).{0,1200}helm (?:upgrade --install|install) karpenter .{0,300}(?:-n|--namespace)[ =](?!\k<old>\b)(?<new>[\w-]+).{0,2000}(?:AssumeRoleWithWebIdentity|conversion webhook|service "karpenter" not found|AccessDenied)/i,
      confidence: 'likely',
      where: ['cli', 'asked'],
    },
  ],
  fromText(sightings, evidence) {
    const before = caught(sightings, 'old') ?? '$OLD';
    const after = caught(sightings, 'new') ?? '$NEW';
    return [
      foundIn(sightings, {
        summary: `The controller moved from namespace ${before} to ${after}; its credentials and webhook still name ${before}.`,
        fix: fixFor(evidence, { before, after, account: 'karpenter', role: '"$CONTROLLER_ROLE"' }, [
          'trust',
          'association',
          'webhook',
        ]),
      }),
    ];
  },
  check(evidence): Found[] {
    const identity = controllerIdentity(evidence);
    if (identity === undefined) return [];
    const places = [...trusted(identity, evidence), ...associated(identity, evidence), ...converted(evidence)];
    if (places.some(({ kind, namespace }) => kind !== 'webhook' && namespace === identity.namespace)) return [];
    const others = new Map<string, Place[]>();
    for (const place of places)
      if (place.namespace !== identity.namespace)
        others.set(place.namespace, [...(others.get(place.namespace) ?? []), place]);
    return [...others].flatMap(([before, left]): Found[] => {
      // One place alone is a mistake of its own; two that agree, or a release that is still recorded there, are a move.
      const isRecorded = hadRelease(before, evidence);
      if (new Set(left.map(({ kind }) => kind)).size < 2 && !isRecorded) return [];
      return [
        {
          confidence: 'certain',
          summary: `The controller runs in namespace ${identity.namespace}, but ${left.map(({ says }) => says).join(' and ')} still ${left.length === 1 ? 'names' : 'name'} ${before}.`,
          objects: [refOf(identity.workload)],
          evidence: [
            fieldItem(identity.workload, 'metadata.namespace', identity.namespace),
            ...left.map(({ item }) => item),
          ],
          fix: fixFor(
            evidence,
            {
              before,
              after: identity.namespace,
              account: identity.account,
              role: identity.roleArn.split('/').at(-1) || '"$CONTROLLER_ROLE"',
            },
            left.map(({ kind }) => kind),
          ),
        },
      ];
    });
  },
  explains: [
    'iam/irsa-trust-subject-mismatch',
    'iam/pod-identity-association-wrong',
    'crd/conversion-webhook-wrong-target',
    'crd/conversion-webhook-blocks-garbage-collection',
    'crd/admission-webhook-unreachable',
    'startup/kubernetes-permission-missing',
  ],
};

interface Place {
  kind: 'trust' | 'association' | 'webhook';
  namespace: string;
  says: string;
  item: EvidenceItem;
}

function trusted(identity: ControllerIdentity, evidence: Evidence): Place[] {
  const role = describedRole(evidence, identity.roleArn);
  const subjects = statementsOf(role?.trust).flatMap((statement) => conditionValues(statement, ':sub'));
  return subjects.flatMap((subject): Place[] => {
    const [, , namespace, account] = subject.split(':');
    if (role === undefined || namespace === undefined || account !== identity.account || namespace.includes('*'))
      return [];
    return [
      {
        kind: 'trust',
        namespace,
        says: `the trust of role ${role.role}`,
        item: { source: role.source, text: `trust policy of ${role.role}: sub = ${subject}` },
      },
    ];
  });
}

function associated({ account }: ControllerIdentity, { aws }: Evidence): Place[] {
  return aws
    .items('eks-list-pod-identity-associations')
    .filter(({ item }) => textAt(item, 'serviceAccount') === account)
    .map(({ item, source }) => ({
      kind: 'association',
      namespace: textAt(item, 'namespace'),
      says: 'the Pod Identity association',
      item: { source, text: `association of ${textAt(item, 'namespace')}/${account}` },
    }));
}

function converted(evidence: Evidence): Place[] {
  return conversionTargets(evidence)
    .slice(0, 1)
    .map(({ crd, namespace, service }) => ({
      kind: 'webhook',
      namespace,
      says: `the conversion webhook of ${crd.name}`,
      item: fieldItem(crd, 'spec.conversion.webhook.clientConfig.service', `${namespace}/${service}`),
    }));
}

/** Helm keeps its releases as Secrets of their namespace. */
function hadRelease(namespace: string, { objects }: Evidence): boolean {
  return objects
    .of('Secret')
    .some((secret) => secret.namespace === namespace && secret.name.startsWith('sh.helm.release.v1.karpenter.'));
}

interface Move {
  before: string;
  after: string;
  account: string;
  role: string;
}

function fixFor(evidence: Evidence, { before, after, account, role }: Move, left: readonly Place['kind'][]): string[] {
  const cluster = clusterName(evidence);
  const all: Record<Place['kind'], string> = {
    trust: `aws iam get-role --role-name ${role} --query Role.AssumeRolePolicyDocument > trust.json; write system:serviceaccount:${after}:${account} instead of system:serviceaccount:${before}:${account}; aws iam update-assume-role-policy --role-name ${role} --policy-document file://trust.json`,
    association: `aws eks create-pod-identity-association --cluster-name ${cluster} --namespace ${after} --service-account ${account} --role-arn <the role of the association in ${before}>`,
    webhook: `helm upgrade --install karpenter-crd oci://public.ecr.aws/karpenter/karpenter-crd --version ${releaseName(evidence)} --namespace ${after} --set webhook.serviceNamespace=${after} (1.0.x; later releases have no webhook)`,
  };
  return [...new Set(left)].map((kind) => all[kind]);
}
