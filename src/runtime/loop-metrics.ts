// The loop's own metrics under the names that dashboards for controllers know: controller_runtime_*, workqueue_*,
// leader_election_*, client_go_*.
import type { Metrics } from '../ports/index.ts';
import type { Reconciled, Reconciler, ReconcilerObserver } from './reconciler.ts';

/** Also the `observer` of every reconciler. */
export interface LoopMetrics extends ReconcilerObserver {
  leads(lease: string, isLeader: boolean): void;
  requested(facts: { method: string; host: string; code: string; tookMs: number }): void;
}

export function loopMetrics(metrics: Metrics): LoopMetrics {
  const counter = (name: string, help: string, ...labels: string[]) => metrics.counter({ name, help, labels });
  const gauge = (name: string, help: string, ...labels: string[]) => metrics.gauge({ name, help, labels });
  const seconds = (name: string, help: string, ...labels: string[]) => metrics.histogram({ name, help, labels });

  const results = counter('controller_runtime_reconcile_total', 'Reconciliations by result.', 'controller', 'result');
  const errors = counter('controller_runtime_reconcile_errors_total', 'Reconciliations that failed.', 'controller');
  const terminal = counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Reconciliations that failed for good.',
    'controller',
  );
  const times = seconds('controller_runtime_reconcile_time_seconds', 'Time per reconciliation.', 'controller');
  const active = gauge('controller_runtime_active_workers', 'Workers in use.', 'controller');
  const most = gauge('controller_runtime_max_concurrent_reconciles', 'Workers there are.', 'controller');
  const adds = counter('workqueue_adds_total', 'Keys put into the queue.', 'name', 'controller');
  const unfinished = gauge(
    'workqueue_unfinished_work_seconds',
    'How long all keys under way have been worked on together.',
    'name',
    'controller',
  );
  const longest = gauge(
    'workqueue_longest_running_processor_seconds',
    'How long the oldest key under way has been worked on.',
    'name',
    'controller',
  );
  const depth = gauge('workqueue_depth', 'Keys waiting for a worker.', 'name', 'controller');
  const retries = counter('workqueue_retries_total', 'Keys put back after a failure.', 'name', 'controller');
  const waits = seconds('workqueue_queue_duration_seconds', 'How long a key waited.', 'name', 'controller');
  const works = seconds('workqueue_work_duration_seconds', 'How long a key was worked on.', 'name', 'controller');
  const leaders = gauge('leader_election_master_status', '1 while this process leads.', 'name');
  const requests = counter('client_go_request_total', 'Requests to the API server.', 'code', 'host', 'method');
  const requestTimes = seconds('client_go_request_duration_seconds', 'Time until the answer began.', 'host', 'method');

  const addsTold = new WeakMap<Reconciler, number>();
  const onReconciled = (facts: Reconciled, by: Reconciler): void => {
    const { name, queue: work, activeWorkers } = by;
    const of = { controller: name };
    const named = { name, controller: name };
    // A failure for good is a failure too; dashboards add up the results.
    results.add({ ...of, result: facts.result === 'terminal_error' ? 'error' : facts.result });
    if (facts.error !== undefined) errors.add(of);
    if (facts.result === 'terminal_error') terminal.add(of);
    if (facts.result === 'error' || facts.result === 'requeue') retries.add(named);
    times.observe(facts.tookMs / 1000, of);
    waits.observe(facts.waitedMs / 1000, named);
    works.observe(facts.tookMs / 1000, named);
    active.set(activeWorkers, of);
    most.set(by.workers, of);
    adds.add(named, work.adds - (addsTold.get(by) ?? 0));
    addsTold.set(by, work.adds);
    const underWayMs = by.underWayMs();
    unfinished.set(underWayMs.reduce((sum, ms) => sum + ms, 0) / 1000, named);
    longest.set(Math.max(0, ...underWayMs) / 1000, named);
    depth.set(work.depth, named);
  };

  return {
    onReconciled,
    leads: (lease, isLeader) => leaders.set(isLeader ? 1 : 0, { name: lease }),
    requested: ({ method, host, code, tookMs }) => {
      requests.add({ code, host, method });
      requestTimes.observe(tookMs / 1000, { host, method });
    },
  };
}
