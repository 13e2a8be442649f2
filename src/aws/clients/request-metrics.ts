// Requests to AWS under the names that dashboards know from the Go SDK: per call and per attempt.
import type { Metrics } from '../../ports/index.ts';

const labels = ['service', 'action', 'code'];

export interface RequestFacts {
  service: string;
  action: string;
  /** HTTP status of the answer; 0 when none came. */
  status: number;
  durationMs: number;
}

export function requestMetrics(metrics: Metrics) {
  const requests = metrics.counter({ name: 'aws_sdk_go_request_total', help: 'Calls to AWS.', labels });
  const durations = metrics.histogram({
    name: 'aws_sdk_go_request_duration_seconds',
    help: 'How long calls to AWS took, retries included.',
    labels,
  });
  const retries = metrics.histogram({
    name: 'aws_sdk_go_request_retry_count',
    help: 'How often a call to AWS was tried again.',
    labels,
    buckets: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  });
  const attempts = metrics.counter({
    name: 'aws_sdk_go_request_attempt_total',
    help: 'Attempts of calls to AWS.',
    labels,
  });
  const attemptDurations = metrics.histogram({
    name: 'aws_sdk_go_request_attempt_duration_seconds',
    help: 'How long attempts of calls to AWS took.',
    labels,
  });
  const of = ({ service, action, status }: RequestFacts) => ({ service, action, code: String(status) });
  return {
    called(facts: RequestFacts, retried: number): void {
      requests.add(of(facts));
      durations.observe(facts.durationMs / 1000, of(facts));
      retries.observe(retried, of(facts));
    },
    attempted(facts: RequestFacts): void {
      attempts.add(of(facts));
      attemptDurations.observe(facts.durationMs / 1000, of(facts));
    },
  };
}

export type RequestMetrics = ReturnType<typeof requestMetrics>;
