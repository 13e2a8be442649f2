// The loop's own metrics under the names that dashboards for controllers know: controller_runtime_*, workqueue_*,
// leader_election_*, client_go_*.
import type { Labels, Metrics } from '../ports/index.ts';
import type { Reconciled, Reconciler, ReconcilerObserver } from './reconciler.ts';

/** Also the `observer` of every reconciler. */
export interface LoopMetrics extends ReconcilerObserver {
  /** A controller is there: what has not happened to it yet reads zero. */
  starts(controller: string, workers: number): void;
  /** One round of a controller that takes no keys from a queue. */
  ran(controller: string, facts: { tookMs: number; failed: boolean }): void;
  leads(lease: string, isLeader: boolean): void;
  requested(facts: { method: string; path: string; code: string; tookMs: number }): void;
}

const exponential = (first: number, factor: number, count: number): number[] => {
  const bounds = [first];
  while (bounds.length < count) bounds.push((bounds.at(-1) ?? first) * factor);
  return bounds;
};

/** The bounds that dashboards for controllers were built on. */
const buckets = {
  reconcile: [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75,
    2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
  ],
  queue: exponential(1e-8, 10, 12),
  request: exponential(0.001, 1.5, 20),
};

export function loopMetrics(metrics: Metrics): LoopMetrics {
  const counter = (name: string, help: string, ...labels: string[]) => metrics.counter({ name, help, labels });
  const gauge = (name: string, help: string, ...labels: string[]) => metrics.gauge({ name, help, labels });
  const seconds = (of: keyof typeof buckets, name: string, help: string, ...labels: string[]) =>
    metrics.histogram({ name, help, labels, buckets: buckets[of] });

  const results = counter('controller_runtime_reconcile_total', 'Reconciliations by result.', 'controller', 'result');
  const errors = counter('controller_runtime_reconcile_errors_total', 'Reconciliations that failed.', 'controller');
  const terminal = counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Reconciliations that failed for good.',
    'controller',
  );
  const times = seconds(
    'reconcile',
    'controller_runtime_reconcile_time_seconds',
    'Time per reconciliation.',
    'controller',
  );
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
  const depth = gauge('workqueue_depth', 'Keys waiting for a worker.', 'name', 'controller', 'priority');
  const retries = counter('workqueue_retries_total', 'Keys put back after a failure.', 'name', 'controller');
  const waits = seconds('queue', 'workqueue_queue_duration_seconds', 'How long a key waited.', 'name', 'controller');
  const works = seconds(
    'queue',
    'workqueue_work_duration_seconds',
    'How long a key was worked on.',
    'name',
    'controller',
  );
  const leaders = gauge('leader_election_master_status', '1 while this process leads.', 'name');
  const requests = counter('client_go_request_total', 'Requests to the API server.', 'code', 'method');
  const requestTimes = seconds(
    'request',
    'client_go_request_duration_seconds',
    'Time until the answer began.',
    'verb',
    'group',
    'version',
    'kind',
    'subresource',
  );

  const addsCounted = new WeakMap<Reconciler, number>();
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
    adds.add(named, work.adds - (addsCounted.get(by) ?? 0));
    addsCounted.set(by, work.adds);
    const underWayMs = by.underWayMs();
    unfinished.set(underWayMs.reduce((sum, ms) => sum + ms, 0) / 1000, named);
    longest.set(Math.max(0, ...underWayMs) / 1000, named);
    // Our queues know one priority.
    depth.set(work.depth, { ...named, priority: '0' });
  };

  const starts = (controller: string, workers: number): void => {
    const of = { controller };
    const named = { name: controller, controller };
    for (const result of ['success', 'requeue_after', 'requeue', 'error']) results.add({ ...of, result }, 0);
    for (const counted of [errors, terminal]) counted.add(of, 0);
    for (const counted of [adds, retries]) counted.add(named, 0);
    active.set(0, of);
    most.set(workers, of);
  };

  const ran: LoopMetrics['ran'] = (controller, { tookMs, failed }) => {
    results.add({ controller, result: failed ? 'error' : 'requeue_after' });
    if (failed) errors.add({ controller });
    times.observe(tookMs / 1000, { controller });
  };

  return {
    onReconciled,
    starts,
    ran,
    leads: (lease, isLeader) => leaders.set(isLeader ? 1 : 0, { name: lease }),
    requested: ({ method, path, code, tookMs }) => {
      requests.add({ code, method });
      const target = targetOf(method, path);
      if (target !== undefined) requestTimes.observe(tookMs / 1000, target);
    },
  };
}

const verbs: Record<string, string> = { POST: 'CREATE', PUT: 'UPDATE' };

/** What a request is about, from its path; nothing for a watch, which is not a question, and for paths outside the API. */
function targetOf(method: string, path: string): Labels | undefined {
  const [plain = '', query = ''] = path.split('?');
  const match = /^\/(?:api|apis\/([^/]+))\/([^/]+)\/(?:namespaces\/[^/]+\/)?([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/.exec(
    plain,
  );
  if (match === null || /(^|&)watch=/.test(query)) return undefined;
  const [, group = '', version = '', kind = '', name, subresource = ''] = match;
  const verb = method === 'GET' && name === undefined ? 'LIST' : (verbs[method] ?? method);
  return { verb, group, version, kind, subresource };
}
