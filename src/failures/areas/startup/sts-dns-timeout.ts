// The controller asks the cluster's DNS for names of AWS, and the cluster's DNS waits for a node that only the controller
// can launch. A name that does not resolve is not a denial: nothing is wrong with permissions.
import { controllerDeployments, podSpecOf } from '../../facts.ts';
import type { Failure, Found } from '../../failure.ts';
import { textAt } from '../../fields.ts';
import { caught, fieldItem, foundIn, refsOf } from '../../found.ts';
import { kinds, texts } from '../../needs.ts';
import { labelsOf, refOf, type Stored } from '../../objects.ts';

export const stsDnsTimeout: Failure = {
  id: 'startup/sts-dns-timeout',
  severity: 'critical',
  symptom:
    'The controller does not start: `dial tcp: lookup sts.us-east-1.amazonaws.com: i/o timeout`, or `lookup … on 172.20.0.10:53: read: connection refused`.',
  cause:
    'The controller resolves names through the DNS of the cluster, which has nowhere to run until the controller launches a node',
  fix: '`--set dnsPolicy=Default`, so that the resolver of the VPC is used; or give the DNS pods room outside the autoscaler (size of the node group, toleration of `CriticalAddonsOnly`, a Fargate profile that selects `k8s-app: kube-dns`).',
  needs: [texts('log')],
  signs: [
    {
      words: ['lookup '],
      pattern:
        /lookup (?<host>[\w.-]*amazonaws\.com(?:\.cn)?\.?)(?: on (?<server>[\w.:[\]]+):53)?: (?:(?:read|write|dial) \w+ .{0,80}: )?(?:read: )?(?:i\/o timeout|connection refused|server misbehaving|Temporary failure in name resolution|no route to host|operation was canceled)/i,
      // Names that nodes and the price list ask for are other entries' business.
      unless:
        /api\.pricing|pricing\.[a-z-]+\.?\d?\.amazonaws|\.eks\.amazonaws\.com|kubelet\b|nodeadm|pull-sandbox|FailedPull|ErrImagePull|aws-node|ipamd|dkr\.ecr/i,
      where: ['log', 'object', 'asked'],
      until: ['controllerStarted', 'launched'],
    },
    // The DNS of a cluster has the tenth address of its services.
    {
      words: ['no such host'],
      pattern:
        /(?:operation error|WebIdentityErr|connectivity check|credentials|resolve cluster endpoint).{0,500}lookup (?<host>(?:sts|ec2|ssm|eks|sqs|iam)\.[\w.-]*amazonaws\.com(?:\.cn)?\.?) on (?<server>(?:\d+\.\d+\.0\.10|[\da-f:[\]]+::a\]?)):53: no such host/i,
      unless: /kubelet\b|nodeadm|aws-node|ipamd/i,
      confidence: 'likely',
      where: ['log', 'object', 'asked'],
      until: ['controllerStarted', 'launched'],
      ownLog: true,
    },
    // Without an address behind "dial tcp", the time ran out while the name was being resolved.
    {
      words: ['dial tcp: i/o timeout'],
      pattern:
        /(?:WebIdentityErr|failed to retrieve credentials|get credentials).{0,260}https:\/\/(?<host>sts\.[\w.-]*amazonaws\.com(?:\.cn)?)\/?"?: dial tcp: i\/o timeout/i,
      unless: /kubelet\b|nodeadm|aws-node|ipamd/i,
      confidence: 'likely',
      where: ['log', 'object', 'asked'],
      until: ['controllerStarted', 'launched'],
      ownLog: true,
    },
  ],
  fromText(sightings, evidence) {
    const host = caught(sightings, 'host') ?? 'sts';
    const deployment = controllerDeployments(evidence)[0];
    return [
      foundIn(sightings, {
        summary: `The controller cannot resolve ${host.replace(/\.$/, '')}: it asks the cluster's DNS, which is not answering. This is not a missing permission.`,
        fix: fixFor(deployment?.namespace),
      }),
    ];
  },
  check(evidence): Found[] {
    const { objects } = evidence;
    const deployment = controllerDeployments(evidence)[0];
    if (deployment === undefined || !kinds('Pod').isMet(evidence)) return [];
    const policy = textAt(podSpecOf(deployment), 'dnsPolicy');
    const dns = objects.of('Pod').filter(isDnsPod);
    const isDown = dns.length > 0 && dns.every((pod) => textAt(pod.object, 'status', 'phase') === 'Pending');
    const isCrashing = textAt(deployment.object, 'status', 'availableReplicas') === '';
    const unavailable = textAt(deployment.object, 'status', 'unavailableReplicas');
    if (policy !== 'ClusterFirst' || !isDown || !isCrashing || unavailable === '') return [];
    return [
      {
        confidence: 'likely',
        summary: `No DNS pod runs and the controller (dnsPolicy: ClusterFirst) is not available: each waits for the other.`,
        objects: [refOf(deployment), ...refsOf(dns)],
        evidence: [
          fieldItem(deployment, 'spec.template.spec.dnsPolicy', policy),
          ...dns.map((pod) => fieldItem(pod, 'status.phase', 'Pending')),
        ],
        fix: fixFor(deployment.namespace),
      },
    ];
  },
};

const isDnsPod = ({ object, namespace }: Stored): boolean =>
  namespace === 'kube-system' && textAt(labelsOf(object), 'k8s-app') === 'kube-dns';

const fixFor = (namespace = 'kube-system'): string[] => [
  `helm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter --namespace ${namespace} --reuse-values --set dnsPolicy=Default`,
  'Or give CoreDNS room outside the autoscaler: a larger node group, a toleration of CriticalAddonsOnly, or a Fargate profile that selects k8s-app: kube-dns.',
];
