// Cases of helm/.
import { type FailureCase, now, object } from '../../case.testing.ts';

const ownership = (what: string): string =>
  `Error: UPGRADE FAILED: Unable to continue with update: ${what} exists and cannot be imported into the current release: invalid ownership metadata; `;

const roleArn = 'arn:aws:iam::111122223333:role/KarpenterController';
const installed = (namespace: string): object[] => [
  object(
    'Deployment',
    'karpenter',
    {
      metadata: { labels: { 'app.kubernetes.io/name': 'karpenter' } },
      spec: { template: { spec: { serviceAccountName: 'karpenter', containers: [{ name: 'controller' }] } } },
    },
    namespace,
  ),
  object(
    'ServiceAccount',
    'karpenter',
    { metadata: { annotations: { 'eks.amazonaws.com/role-arn': roleArn } } },
    namespace,
  ),
];
const trusting = (namespace: string): object => ({
  Role: {
    RoleName: 'KarpenterController',
    Arn: roleArn,
    AssumeRolePolicyDocument: {
      Statement: [
        {
          Effect: 'Allow',
          Action: 'sts:AssumeRoleWithWebIdentity',
          Principal: { Federated: 'arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/A1' },
          Condition: {
            StringEquals: {
              'oidc.eks.us-east-1.amazonaws.com/id/A1:sub': `system:serviceaccount:${namespace}:karpenter`,
            },
          },
        },
      ],
    },
  },
});
const webhookIn = (namespace: string): object =>
  object('CustomResourceDefinition', 'nodepools.karpenter.sh', {
    spec: {
      versions: [{ name: 'v1', served: true }],
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { service: { name: 'karpenter', namespace, port: 8443 } } },
      },
    },
  });

export const helmCases: readonly FailureCase[] = [
  {
    id: 'helm/namespace-moved',
    name: 'a trust and a webhook that name the old namespace',
    objects: [...installed('kube-system'), webhookIn('karpenter')],
    aws: { 'iam-get-role-KarpenterController': trusting('karpenter') },
    now,
    confidence: 'certain',
    fix: ['system:serviceaccount:kube-system:karpenter', 'webhook.serviceNamespace=kube-system'],
  },
  {
    id: 'helm/namespace-moved',
    name: 'a trust, and a release that is still recorded there',
    objects: [...installed('kube-system'), object('Secret', 'sh.helm.release.v1.karpenter.v3', {}, 'karpenter')],
    aws: { 'iam-get-role-KarpenterController': trusting('karpenter') },
    now,
  },
  {
    id: 'helm/namespace-moved',
    name: 'a trust policy that is simply wrong',
    nearMiss: true,
    instead: 'iam/irsa-trust-subject-mismatch',
    objects: installed('kube-system'),
    aws: { 'iam-get-role-KarpenterController': trusting('karpenter') },
    now,
  },
  {
    id: 'helm/oci-needs-newer-client',
    name: 'a Helm that calls it experimental',
    text: 'Error: this feature has been marked as experimental and is not enabled by default. Please set HELM_EXPERIMENTAL_OCI=1 in your environment to use this feature',
  },
  {
    id: 'helm/oci-needs-newer-client',
    name: 'a registry added as a repository',
    texts: {
      'cli/helm.txt':
        '$ helm repo add karpenter oci://public.ecr.aws/karpenter/karpenter\nError: looks like "oci://public.ecr.aws/karpenter/karpenter" is not a valid chart repository or cannot be reached: object required',
    },
    fix: ['no helm repo add'],
  },
  {
    id: 'helm/oci-needs-newer-client',
    name: 'a chart that a new Helm does not find',
    nearMiss: true,
    instead: 'helm/chart-not-found-or-generic-error',
    text: 'version.BuildInfo{Version:"v3.16.1"}\nError: public.ecr.aws/karpenter/karpenter:1.99.0: not found',
  },
  {
    id: 'helm/version-prefix',
    name: 'a download of a release with a v that it does not have',
    text: 'Error: INSTALLATION FAILED: failed to download "oci://public.ecr.aws/karpenter/karpenter" at version "v1.0.6"',
    fix: ['--version 1.0.6'],
  },
  {
    id: 'helm/version-prefix',
    name: 'an old release without v',
    text: 'Error: public.ecr.aws/karpenter/karpenter:0.34.0: not found',
    confidence: 'certain',
    fix: ['--version v0.34.0'],
  },
  {
    id: 'helm/version-prefix',
    name: 'a new release with v',
    texts: {
      'cli/helm.txt':
        '$ helm upgrade --install karpenter oci://public.ecr.aws/karpenter/karpenter --version v1.3.0 -n kube-system\nError: failed to resolve reference "public.ecr.aws/karpenter/karpenter:v1.3.0": public.ecr.aws/karpenter/karpenter:v1.3.0: not found',
    },
    fix: ['--version 1.3.0'],
  },
  {
    id: 'helm/version-prefix',
    name: 'a release that was never made',
    nearMiss: true,
    instead: 'helm/chart-not-found-or-generic-error',
    text: 'Error: public.ecr.aws/karpenter/karpenter:1.99.0: not found',
  },
  {
    id: 'helm/chart-not-found-or-generic-error',
    name: 'the old repository',
    text: 'Error: INSTALLATION FAILED: chart "karpenter" matching 0.37.0 not found in karpenter index. (try \'helm repo update\'): no chart version found for karpenter-0.37.0',
  },
  {
    id: 'helm/chart-not-found-or-generic-error',
    name: 'a tag that does not exist',
    texts: { 'cli/helm.txt': 'Error: public.ecr.aws/karpenter/karpenter-crd:1.99.0: not found' },
    fix: ['--debug'],
  },
  {
    id: 'helm/chart-not-found-or-generic-error',
    name: 'a refused login',
    nearMiss: true,
    instead: 'helm/registry-403',
    text: 'Error: pulling from host public.ecr.aws failed with status code [manifests 1.3.0]: 403 Forbidden',
  },
  {
    id: 'helm/registry-403',
    name: 'an expired token',
    text: 'Error: failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://public.ecr.aws/token/?scope=repository%3Akarpenter%2Fkarpenter%3Apull&service=public.ecr.aws: 403 Forbidden',
    fix: ['helm registry logout public.ecr.aws'],
  },
  {
    id: 'helm/registry-403',
    name: "Docker's words",
    texts: {
      'cli/docker.txt':
        'Error response from daemon: pull access denied for public.ecr.aws/karpenter/controller, denied: Your authorization token has expired. Reauthenticate and try again.',
    },
    fix: ['docker logout public.ecr.aws'],
  },
  {
    id: 'helm/registry-403',
    name: 'a private registry',
    nearMiss: true,
    text: 'Error: failed to authorize: 111122223333.dkr.ecr.us-east-1.amazonaws.com/karpenter: 403 Forbidden',
  },
  {
    id: 'helm/crd-ownership-label',
    name: 'definitions that kubectl made',
    text: `${ownership('CustomResourceDefinition "ec2nodeclasses.karpenter.k8s.aws" in namespace ""')}label validation error: missing key "app.kubernetes.io/managed-by": must be set to "Helm"; annotation validation error: missing key "meta.helm.sh/release-name": must be set to "karpenter-crd"; annotation validation error: missing key "meta.helm.sh/release-namespace": must be set to "kube-system"`,
    fix: [
      'kubectl label crd ec2nodeclasses.karpenter.k8s.aws',
      'release-name=karpenter-crd',
      'release-namespace=kube-system',
    ],
  },
  {
    id: 'helm/crd-ownership-label',
    name: 'the sentence alone',
    text: 'invalid ownership metadata; label validation error: missing key "app.kubernetes.io/managed-by": must be set to "Helm"',
    fix: ['nodepools.karpenter.sh'],
  },
  {
    id: 'helm/crd-ownership-label',
    name: 'a ServiceAccount that eksctl made',
    nearMiss: true,
    text: `${ownership('ServiceAccount "karpenter" in namespace "karpenter"')}label validation error: missing key "app.kubernetes.io/managed-by": must be set to "Helm"`,
  },
  {
    id: 'helm/crd-ownership-annotation',
    name: 'the sentence alone',
    text: 'annotation validation error: missing key "meta.helm.sh/release-namespace": must be set to "karpenter"',
    fix: ['meta.helm.sh/release-namespace=karpenter'],
  },
  {
    id: 'helm/crd-ownership-annotation',
    name: 'another release',
    texts: {
      'cli/helm.txt': `${ownership('CustomResourceDefinition "nodepools.karpenter.sh" in namespace ""')}annotation validation error: key "meta.helm.sh/release-name" must equal "karpenter-crd": current value is "karpenter"`,
    },
    fix: ['kubectl annotate crd nodepools.karpenter.sh'],
  },
  {
    id: 'helm/crd-ownership-annotation',
    name: 'only the label',
    nearMiss: true,
    instead: 'helm/crd-ownership-label',
    text: `${ownership('CustomResourceDefinition "nodepools.karpenter.sh" in namespace ""')}label validation error: missing key "app.kubernetes.io/managed-by": must be set to "Helm"`,
  },
];
