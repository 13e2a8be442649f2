// Cases of crd/.
import { condition, type FailureCase, now, object } from '../../case.testing.ts';

const nodePool = (rest: object = {}, apiVersion = 'karpenter.sh/v1'): object => ({
  ...object('NodePool', 'default', {
    spec: {
      template: { spec: { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' } } },
    },
    ...rest,
  }),
  apiVersion,
});
const nodeClass = (
  spec: object = { amiSelectorTerms: [{ alias: 'al2023@latest' }] },
  conditions: object[] = [],
): object => object('EC2NodeClass', 'default', { spec, status: { conditions } });
const webhookCrd = (namespace: string, port = 8443, stored = ['v1']): object =>
  object('CustomResourceDefinition', 'nodeclaims.karpenter.sh', {
    spec: {
      versions: [{ name: 'v1', served: true }],
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { service: { name: 'karpenter', namespace, port } } },
      },
    },
    status: { storedVersions: stored },
  });
const service = object('Service', 'karpenter', { spec: { ports: [{ port: 8443 }] } }, 'kube-system');

const admission = (group: string, failurePolicy: string, name = 'karpenter'): object =>
  object('ValidatingWebhookConfiguration', `validation.webhook.${group}`, {
    webhooks: [
      {
        name: `validation.webhook.${group}`,
        failurePolicy,
        clientConfig: { service: { name, namespace: 'kube-system', port: 8443 } },
      },
    ],
  });

export const crdCases: readonly FailureCase[] = [
  {
    id: 'crd/removed-api-version',
    name: 'an old manifest',
    text: 'error: unable to recognize "np.yaml": no matches for kind "NodePool" in version "karpenter.sh/v1beta1"',
    confidence: 'certain',
    fix: ['kerf convert'],
  },
  {
    id: 'crd/removed-api-version',
    name: 'Terraform with a Provisioner',
    texts: {
      'cli/terraform.txt':
        '│ Error: resource [karpenter.sh/v1alpha5/Provisioner] isn\'t valid for cluster\n│ API did not recognize GroupVersionKind from manifest (CRD may not be installed): no matches for kind "Provisioner" in version\n│ "karpenter.sh/v1alpha5"',
    },
  },
  {
    id: 'crd/removed-api-version',
    name: 'a Provisioner left beside v1',
    objects: [
      nodePool(),
      nodeClass(),
      { ...object('Provisioner', 'old', {}), apiVersion: 'karpenter.sh/v1alpha5' },
      object(
        'Deployment',
        'karpenter',
        { metadata: { labels: { 'app.kubernetes.io/name': 'karpenter' } } },
        'kube-system',
      ),
    ],
    fix: ['provisioner old'],
  },
  {
    id: 'crd/removed-api-version',
    name: 'a v1 manifest of a cluster without definitions',
    nearMiss: true,
    text: 'error: resource mapping not found for name: "default" namespace: "" from "np.yaml": no matches for kind "NodePool" in version "karpenter.sh/v1"\nensure CRDs are installed first',
  },
  {
    id: 'crd/nodeclassref-incomplete',
    name: 'an error of kubectl',
    text: 'The NodePool "default" is invalid: \n* spec.template.spec.nodeClassRef.group: Required value\n* spec.template.spec.nodeClassRef.kind: Required value',
    confidence: 'certain',
  },
  {
    id: 'crd/nodeclassref-incomplete',
    name: 'an apiVersion that strict decoding names',
    text: 'Error from server (BadRequest): NodePool in version "v1" cannot be handled as a NodePool: strict decoding error: unknown field "spec.template.spec.nodeClassRef.apiVersion"',
  },
  {
    id: 'crd/nodeclassref-incomplete',
    name: 'only a name',
    objects: [nodePool({ spec: { template: { spec: { nodeClassRef: { name: 'blue' } } } } })],
    fix: ['"name":"blue"'],
  },
  {
    id: 'crd/nodeclassref-incomplete',
    name: 'a complete reference',
    nearMiss: true,
    objects: [nodePool(), nodeClass()],
  },
  {
    id: 'crd/consolidation-policy-renamed',
    name: 'an error of kubectl',
    text: 'The NodePool "default" is invalid: spec.disruption.consolidationPolicy: Unsupported value: "WhenUnderutilized": supported values: "WhenEmpty", "WhenEmptyOrUnderutilized"',
    confidence: 'certain',
  },
  {
    id: 'crd/consolidation-policy-renamed',
    name: 'a v1 pool with the old name',
    objects: [nodePool({ spec: { disruption: { consolidationPolicy: 'WhenUnderutilized' } } })],
    fix: ['kubectl patch nodepool default', 'WhenEmptyOrUnderutilized'],
  },
  {
    id: 'crd/consolidation-policy-renamed',
    name: 'the combination that v1beta1 refuses',
    nearMiss: true,
    instead: 'crd/consolidate-after-not-allowed-v1beta1',
    text: 'NodePool.karpenter.sh "default" is invalid: spec.disruption: Invalid value: "object": consolidateAfter cannot be combined with consolidationPolicy=WhenUnderutilized',
  },
  {
    id: 'crd/consolidate-after-not-allowed-v1beta1',
    name: 'an error of the API server',
    text: 'spec.disruption: Invalid value: "object": consolidateAfter cannot be combined with consolidationPolicy=WhenUnderutilized',
    confidence: 'certain',
  },
  {
    id: 'crd/consolidate-after-not-allowed-v1beta1',
    name: 'a v1beta1 pool',
    objects: [nodePool({ spec: { disruption: { consolidateAfter: '30s' } } }, 'karpenter.sh/v1beta1')],
  },
  {
    id: 'crd/consolidate-after-not-allowed-v1beta1',
    name: 'the same in v1',
    nearMiss: true,
    objects: [
      nodePool({ spec: { disruption: { consolidateAfter: '30s', consolidationPolicy: 'WhenEmptyOrUnderutilized' } } }),
    ],
  },
  {
    id: 'crd/unknown-field',
    name: 'strict decoding',
    text: 'Error from server (BadRequest): error when creating "STDIN": NodePool in version "v1" cannot be handled as a NodePool: strict decoding error: unknown field "spec.template.spec.nodeClassRef.foo"',
    confidence: 'certain',
  },
  {
    id: 'crd/unknown-field',
    name: 'validation by an older kubectl',
    text: 'error: error validating "nc.yaml": error validating data: ValidationError(EC2NodeClass.spec): unknown field "subnetSelector" in aws.k8s.karpenter.v1.EC2NodeClass.spec',
    fix: ['subnetSelectorTerms'],
  },
  {
    id: 'crd/unknown-field',
    name: 'a field of a Deployment',
    nearMiss: true,
    text: 'Error from server (BadRequest): error when creating "d.yaml": Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.template.spec.containers[0].foo"',
  },
  {
    id: 'crd/conversion-webhook-wrong-target',
    name: 'a service that is not found',
    text: 'Error: conversion webhook for karpenter.sh/v1beta1, Kind=NodeClaim failed:\nPost "https://karpenter.kube-system.svc:8443/?timeout=30s": service "karpenter" not found',
    confidence: 'certain',
    fix: ['Do not delete the definitions'],
  },
  {
    id: 'crd/conversion-webhook-wrong-target',
    name: 'a definition that points to another namespace',
    objects: [webhookCrd('karpenter'), service],
    fix: ['kubectl patch crd nodeclaims.karpenter.sh'],
  },
  {
    id: 'crd/conversion-webhook-wrong-target',
    name: 'a port that the service does not have',
    objects: [webhookCrd('kube-system', 8000, ['v1beta1', 'v1']), service],
    fix: ['storedVersions'],
  },
  {
    id: 'crd/conversion-webhook-wrong-target',
    name: 'a webhook that answers',
    nearMiss: true,
    objects: [
      webhookCrd('kube-system'),
      service,
      object('Endpoints', 'karpenter', { subsets: [{ addresses: [{ ip: '10.0.0.1' }] }] }, 'kube-system'),
    ],
  },
  {
    id: 'crd/conversion-webhook-blocks-garbage-collection',
    name: 'a line of the controller manager',
    texts: {
      'logs/kube-controller-manager.log':
        'E1101 10:00:00.000000 1 reflector.go:150] conversion webhook for karpenter.k8s.aws/v1beta1, Kind=EC2NodeClass failed: Post "https://karpenter.kube-system.svc:8443/conversion/karpenter.k8s.aws?timeout=30s": no endpoints available for service "karpenter"',
    },
    confidence: 'certain',
  },
  {
    id: 'crd/conversion-webhook-blocks-garbage-collection',
    name: 'a service without endpoints',
    objects: [webhookCrd('kube-system'), service, object('Endpoints', 'karpenter', {}, 'kube-system')],
  },
  {
    id: 'crd/conversion-webhook-blocks-garbage-collection',
    name: 'a webhook of another product',
    nearMiss: true,
    text: 'E1101 garbagecollector.go:255] conversion webhook for cert-manager.io/v1alpha2, Kind=Certificate failed: Post "https://cert-manager-webhook.cert-manager.svc:443/convert?timeout=30s": no endpoints available for service "cert-manager-webhook"',
  },
  {
    id: 'crd/nodepool-not-ready-because-nodeclass',
    name: 'a class that does not exist',
    now,
    objects: [
      nodePool({
        status: {
          conditions: [condition('NodeClassReady', 'False', 'NodeClassNotFound', 'NodeClass not found on cluster')],
        },
      }),
    ],
    none: ['EC2NodeClass'],
    confidence: 'certain',
  },
  {
    id: 'crd/nodepool-not-ready-because-nodeclass',
    name: 'a line of the log',
    text: '{"level":"ERROR","message":"ignoring nodepool, not ready","controller":"provisioner","NodePool":{"name":"default"}}',
  },
  {
    id: 'crd/nodepool-not-ready-because-nodeclass',
    name: 'a class whose image is missing',
    nearMiss: true,
    instead: 'ami/none-for-cluster-version',
    now,
    objects: [
      nodePool({
        status: { conditions: [condition('NodeClassReady', 'False', 'NodeClassNotReady', 'AMIsReady=False')] },
      }),
      nodeClass({ amiSelectorTerms: [{ alias: 'al2@latest' }] }, [
        condition('AMIsReady', 'False', 'AMINotFound', 'AMISelector did not match any AMIs'),
      ]),
    ],
  },
  {
    id: 'crd/ami-selector-required',
    name: 'an error of kubectl',
    text: 'The EC2NodeClass "default" is invalid: spec.amiSelectorTerms: Required value',
    confidence: 'certain',
  },
  {
    id: 'crd/ami-selector-required',
    name: 'a v1 class without terms',
    objects: [nodeClass({ amiFamily: 'Bottlerocket' })],
    fix: ['bottlerocket@latest'],
  },
  { id: 'crd/ami-selector-required', name: 'a class with an alias', nearMiss: true, objects: [nodeClass()] },
  {
    id: 'crd/admission-webhook-unreachable',
    name: 'a NodeClaim that is not made after webhooks were switched off',
    text: '{"level":"ERROR","time":"2024-01-22T12:51:50.645Z","logger":"controller.provisioner","message":"creating node claim, Internal error occurred: failed calling webhook \\"validation.webhook.karpenter.sh\\": failed to call webhook: Post \\"https://karpenter-controller.kube-system.svc:8443/validate/karpenter.sh?timeout=10s\\": no service port 8443 found for service \\"karpenter-controller\\"","commit":"a70b39e"}',
    confidence: 'certain',
    fix: ['kubectl delete validatingwebhookconfiguration validation.webhook.karpenter.sh'],
  },
  {
    id: 'crd/admission-webhook-unreachable',
    name: 'an old node template that cannot be applied',
    text: 'Error from server (InternalError): error when creating "node.yaml": Internal error occurred: failed calling webhook "defaulting.webhook.karpenter.k8s.aws": failed to call webhook: Post "https://karpenter.karpenter.svc:443/default/karpenter.k8s.aws?timeout=10s": service "karpenter" not found',
    fix: ['kubectl delete mutatingwebhookconfiguration defaulting.webhook.karpenter.k8s.aws'],
  },
  {
    id: 'crd/admission-webhook-unreachable',
    name: 'a registration whose Service has another port now',
    objects: [
      admission('karpenter.sh', 'Fail'),
      object('Service', 'karpenter', { spec: { ports: [{ port: 8080 }] } }, 'kube-system'),
    ],
    confidence: 'certain',
    fix: ['kubectl delete validatingwebhookconfiguration validation.webhook.karpenter.sh'],
  },
  {
    id: 'crd/admission-webhook-unreachable',
    name: 'a registration that may fail, and one whose pods are there',
    nearMiss: true,
    objects: [
      admission('karpenter.k8s.aws', 'Ignore', 'gone'),
      admission('karpenter.sh', 'Fail'),
      service,
      object('Endpoints', 'karpenter', { subsets: [{ addresses: [{ ip: '10.0.0.1' }] }] }, 'kube-system'),
    ],
  },
  {
    id: 'crd/admission-webhook-unreachable',
    name: 'a webhook that answered, and refused',
    nearMiss: true,
    text: 'Error from server (BadRequest): error when creating "pool.yaml": admission webhook "validation.webhook.karpenter.sh" denied the request: validation failed: invalid value: spec.requirements',
  },
  {
    id: 'crd/admission-webhook-unreachable',
    name: 'the webhook of someone else',
    nearMiss: true,
    text: 'Internal error occurred: failed calling webhook "mpod.elbv2.k8s.aws": failed to call webhook: Post "https://aws-load-balancer-webhook-service.kube-system.svc:443/mutate-v1-pod?timeout=10s": no endpoints available for service "aws-load-balancer-webhook-service"',
  },
];
