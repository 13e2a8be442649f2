// Metrics of interruption messages, under the names dashboards know.
import type { Metrics } from '../../ports/index.ts';

export function interruptionMetrics(metrics: Metrics) {
  return {
    received: metrics.counter({
      name: 'karpenter_interruption_received_messages_total',
      help: 'Messages read from the interruption queue, by what they say.',
      labels: ['message_type'],
    }),
    deleted: metrics.counter({
      name: 'karpenter_interruption_deleted_messages_total',
      help: 'Messages deleted from the interruption queue.',
    }),
    onQueue: metrics.histogram({
      name: 'karpenter_interruption_message_queue_duration_seconds',
      help: 'How long messages were on the interruption queue before they were dealt with.',
    }),
  };
}
