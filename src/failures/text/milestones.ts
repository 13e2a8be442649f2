// What a text says when things have come right: errors before it were the usual noise of a start, or are over.
import type { Milestone } from '../failure.ts';

export const milestones: Readonly<Record<Milestone, { words: readonly string[]; pattern: RegExp }>> = {
  registered: {
    words: ['successfully registered node', 'registered nodeclaim', 'registered node', 'node has joined'],
    pattern:
      /successfully registered node|"registered nodeclaim"|\bregistered nodeclaim\b|node has joined the cluster/i,
  },
  nodeReady: {
    words: ['nodeready', 'initialized nodeclaim', 'initialized node', 'node became ready', 'status is now: nodeready'],
    pattern: /event="NodeReady"|status is now: NodeReady|initialized node(?:claim)?\b|node became ready/i,
  },
  launched: {
    words: ['launched nodeclaim', 'launched instance', 'launched new instance', 'launched node', 'launched machine'],
    pattern: /\blaunched (?:nodeclaim|new instance|instance|machine|node\b)/i,
  },
  controllerStarted: {
    words: [
      'starting workers',
      'starting controller',
      'successfully acquired lease',
      'starting eventsource',
      'started the controllers',
    ],
    pattern:
      /starting workers|starting controller\b|successfully acquired lease|starting eventsource|started the controllers/i,
  },
  /** Not an event but a mark: only the autoscaler's own log speaks of these. */
  autoscaler: {
    words: [
      'karpenter',
      'kerf',
      'nodeclaim',
      'nodepool',
      'controller.provisioning',
      'ec2nodeclass',
      'checking ec2 api',
      'ec2 api connectivity',
      'instanceprofile.garbagecollection',
      '"logger":"controller',
      '"commit":"',
      'controller.aws',
    ],
    pattern:
      /karpenter|\bkerf\b|nodeclaim|nodepool|controller\.provisioning|ec2nodeclass|ec2 api connectivity|instanceprofile\.garbagecollection|"logger": ?"controller["./]|"commit": ?"[0-9a-f]{7}(?:-dirty)?"|\bcontroller\.aws\b/i,
  },
  sandboxPulled: {
    words: ['pull sandbox image', 'sandbox-image.service'],
    pattern:
      /(?:Started|Finished) (?:sandbox-image\.service|pull sandbox image)|sandbox-image\.service: (?:Succeeded|Deactivated successfully)/i,
  },
  /** The head of what `kubectl describe` prints about a pod of the controller. */
  controllerDescribed: {
    words: ['name: '],
    pattern: /^Name: (?:karpenter|kerf)-[a-z0-9]{6,10}-[a-z0-9]{5}\b/,
  },
  /** Logs of neighbours with credentials of their own, which have the same troubles for reasons of their own. */
  otherComponent: {
    words: [
      'aws-load-balancer-controller',
      'external-dns',
      'external-secrets',
      'ebs-csi',
      'efs-csi',
      'ebs.csi.aws.com',
      'cluster-autoscaler',
      'cluster autoscaler',
      'cert-manager',
      'fluent-bit',
      'fluentd',
      'cloudwatch-agent',
      'velero',
      'ipamd',
      'elbv2.k8s.aws',
      'targetgroupbinding',
      'could not create volume',
    ],
    pattern:
      /aws-load-balancer-controller|external-(?:dns|secrets)|e[bf]s[.-]csi|cluster.autoscaler|cert-manager|fluent-?(?:bit|d)|cloudwatch-agent|velero|\bipamd\b|elbv2\.k8s\.aws|targetgroupbinding|could not create volume/i,
  },
  podStarted: { words: ['started container'], pattern: /started container/i },
  /** A mark: the controller was taken away by hand. */
  controllerUninstalled: {
    words: ['helm uninstall', 'helm delete', 'helm del ', 'uninstalled'],
    pattern: /helm (?:uninstall|delete|del)\b.{0,60}\b(?:karpenter|kerf)\b|release "(?:karpenter|kerf)" uninstalled/i,
  },
  queueRead: {
    words: ['from interruption message', 'handled interruption message'],
    pattern:
      /\b(?:initiating delete|deleted \d* ?\w+|disrupting) from interruption message|handled interruption message/i,
  },
  nodeDeleted: {
    words: ['deleted node', 'deleted nodeclaim', 'terminated instance'],
    pattern: /\bdeleted node(?:claim)?\b|\bterminated instance\b/i,
  },
};

/** Those that say whose text it is, whenever they stand in it. */
export const marks: ReadonlySet<Milestone> = new Set<Milestone>([
  'autoscaler',
  'otherComponent',
  'controllerDescribed',
  'controllerUninstalled',
]);
