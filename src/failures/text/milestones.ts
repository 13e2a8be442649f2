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
    ],
    pattern:
      /karpenter|\bkerf\b|nodeclaim|nodepool|controller\.provisioning|ec2nodeclass|checking ec2 api connectivity/i,
  },
  podStarted: { words: ['started container'], pattern: /started container/i },
  nodeDeleted: {
    words: ['deleted node', 'deleted nodeclaim', 'terminated instance'],
    pattern: /\bdeleted node(?:claim)?\b|\bterminated instance\b/i,
  },
};
